// Rows of market events: fills and funding rates (docs/internals/history-semantics.md, "Trades").

import { BASE_PRECISION, fillPrice, fillPriceSql } from '../../../schemas/index.ts';
import {
  amount,
  derived,
  eventFields,
  integer,
  optionalAmount,
  optionalInteger,
  optionalKey,
  optionalText,
  type Row,
  type RowField,
  symbol,
  text,
} from '../fields.ts';
import type { RowSource } from '../lists.ts';
import type { Parameters } from '../store.ts';

/** Every list query has the parameter `baseScales`; 0 for an unknown spot market. */
const BASE_SCALE =
  `if(market_type = 'perp', ${BASE_PRECISION}, ` +
  `toUInt64OrZero({baseScales:Map(String, String)}[concat(market_type, '-', toString(market_index))]))`;

const FILLED_PRICE = fillPriceSql(
  'assumeNotNull(quote_asset_amount_filled)',
  'assumeNotNull(base_asset_amount_filled)',
  BASE_SCALE,
);
/** Null without a base amount or its scale. */
const PRICE = `if(ifNull(base_asset_amount_filled, 0) = 0 OR ${BASE_SCALE} = 0, NULL, ${FILLED_PRICE})`;

/** Value of a map parameter for the market of a row. */
function ofMarket({ marketType, marketIndex }: Row, map: Parameters[string] | undefined): string | undefined {
  return isMap(map) ? map[`${marketType}-${marketIndex}`] : undefined;
}

const isMap = (value: Parameters[string] | undefined): value is Readonly<Record<string, string>> =>
  typeof value === 'object' && !Array.isArray(value);

/** `PRICE`, computed from the members of a row. */
function derivePrice(row: Row, { baseScales }: Parameters): string | null {
  const base = BigInt(row.baseAssetAmountFilled?.toString() ?? 0);
  const scale = row.marketType === 'perp' ? BASE_PRECISION : BigInt(ofMarket(row, baseScales) ?? 0);
  if (base === 0n || scale === 0n) return null;
  const quote = BigInt(row.quoteAssetAmountFilled?.toString() ?? 0);
  return String(fillPrice(quote, base, scale));
}

/** The hosted data API sends the maker's fee as rebate too: negative is paid to the maker. */
const MAKER_REBATE = derived(
  {
    ...amount('makerRebate', 'quote 1e6', 'ifNull(maker_fee, 0)'),
    description: 'raw integer, quote 1e6: 0 without a maker, negative when paid to the maker',
  },
  ({ makerFee }) => makerFee ?? '0',
);

/** Order members of one side, in the order of CSV columns. */
const side = (name: 'taker' | 'maker'): readonly RowField[] => [
  optionalAmount(`${name}OrderBaseAssetAmount`, 'base 1e9'),
  optionalAmount(`${name}OrderCumulativeBaseAssetAmountFilled`, 'base 1e9'),
  optionalAmount(`${name}OrderCumulativeQuoteAssetAmountFilled`, 'quote 1e6'),
];

/** Trade row. JSON and CSV share this table, so the fields are in CSV column order. */
export const TRADE_FIELDS: readonly RowField[] = eventFields(
  optionalAmount('fillerReward', 'quote 1e6'),
  optionalAmount('baseAssetAmountFilled', 'base 1e9'),
  optionalAmount('quoteAssetAmountFilled', 'quote 1e6'),
  optionalAmount('takerFee', 'quote 1e6'),
  MAKER_REBATE,
  optionalAmount('referrerReward', 'quote 1e6'),
  optionalAmount('quoteAssetAmountSurplus', 'quote 1e6'),
  ...side('taker'),
  ...side('maker'),
  amount('oraclePrice', 'price 1e6'),
  optionalAmount('makerFee', 'quote 1e6'),
  text('action', 'always fill'),
  text('actionExplanation', 'why the action happened'),
  integer('marketIndex', 'market index'),
  text('marketType', 'perp or spot'),
  optionalKey('filler', 'keeper account'),
  optionalAmount('fillRecordId', 'identifier'),
  optionalKey('taker', 'taker account'),
  optionalInteger('takerOrderId', 'order id of the taker'),
  optionalText('takerOrderDirection', 'long or short'),
  optionalKey('maker', 'maker account; null when the AMM filled'),
  optionalInteger('makerOrderId', 'order id of the maker'),
  optionalText('makerOrderDirection', 'long or short'),
  optionalAmount('spotFulfillmentMethodFee', 'quote 1e6'),
  derived(text('marketFilter', 'perp or spot', 'market_type'), ({ marketType }) => marketType ?? null),
  optionalText('user', 'the account a row was listed under; null in market lists', 'NULL'),
  derived(symbol('market_type', 'market_index'), (row, { symbols }) => ofMarket(row, symbols) ?? ''),
  integer('bitFlags', 'flags of the fill'),
  optionalAmount('takerExistingQuoteEntryAmount', 'quote 1e6'),
  optionalAmount('takerExistingBaseAssetAmount', 'base 1e9'),
  optionalAmount('makerExistingQuoteEntryAmount', 'quote 1e6'),
  optionalAmount('makerExistingBaseAssetAmount', 'base 1e9'),
  optionalAmount('triggerPrice', 'price 1e6'),
  optionalInteger('builderIdx', 'builder index'),
  optionalAmount('builderFee', 'quote 1e6'),
  derived(optionalAmount('price', 'price 1e6', PRICE), derivePrice),
);

/** Funding rate row. */
export const FUNDING_RATE_FIELDS: readonly RowField[] = eventFields(
  amount('recordId', 'identifier'),
  integer('marketIndex', 'market index'),
  symbol("'perp'", 'market_index'),
  amount('fundingRate', 'funding 1e9'),
  amount('fundingRateLong', 'funding 1e9'),
  amount('fundingRateShort', 'funding 1e9'),
  amount('cumulativeFundingRateLong', 'funding 1e9'),
  amount('cumulativeFundingRateShort', 'funding 1e9'),
  amount('oraclePriceTwap', 'price 1e6'),
  amount('markPriceTwap', 'price 1e6'),
  amount('baseAssetAmountWithAmm', 'base 1e9'),
);

/** Fill ids grow by market, so all lists show two fills of a market in the same order. */
export const FILL_ORDER = { sequenceSql: 'ifNull(fill_record_id, 0)' } as const;

export const TRADES: RowSource = {
  from: '{db:Identifier}.order_action',
  fields: TRADE_FIELDS,
  ...FILL_ORDER,
  keys: 'market_type, market_index, action, ts, slot, signature, event_index',
  filterSql: `action = 'fill' AND market_type = {marketType:String} AND market_index = {marketIndex:UInt16}`,
};

export const FUNDING_RATES: RowSource = {
  from: '{db:Identifier}.funding_rate',
  fields: FUNDING_RATE_FIELDS,
  sequenceSql: 'record_id',
  filterSql: 'market_index = {marketIndex:UInt16}',
};
