// Rows of what happens in markets: fills and funding rates (history reference 4.1, 4.3).

import { divideRounded } from '../../units.ts';
import {
  amount,
  derived,
  HEAD,
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
import { PERP_BASE_DECIMALS, type RowSource } from '../lists.ts';
import type { Parameters } from '../store.ts';

const PRICE_DECIMALS = 6;
const QUOTE_DECIMALS = 6;

/** What quote / base is multiplied by to be a price 1e6, beside ten to the market's base decimals. */
const PRICE_PER_QUOTE = 10n ** BigInt(PRICE_DECIMALS - QUOTE_DECIMALS);
const PERP_BASE_SCALE = 10n ** BigInt(PERP_BASE_DECIMALS);

/** Every list query is given `baseScales`; 0 for a spot market that nobody described. */
const BASE_SCALE =
  `if(market_type = 'perp', ${PERP_BASE_SCALE}, ` +
  `toUInt64OrZero({baseScales:Map(String, String)}[concat(market_type, '-', toString(market_index))]))`;

/** SQL of quote / base in price 1e6, rounded to the nearest (history reference 7.2); null without a base amount or its scale. */
const PRICE =
  `if(ifNull(base_asset_amount_filled, 0) = 0 OR ${BASE_SCALE} = 0, NULL, ` +
  `intDiv(toUInt256(assumeNotNull(quote_asset_amount_filled)) * ${BASE_SCALE} * 2 * ${PRICE_PER_QUOTE} + ` +
  'assumeNotNull(base_asset_amount_filled), toUInt256(assumeNotNull(base_asset_amount_filled)) * 2))';

/** What a map among the parameters has for the market of a row. */
function ofMarket({ marketType, marketIndex }: Row, map: Parameters[string] | undefined): string | undefined {
  return typeof map === 'object' ? map[`${marketType}-${marketIndex}`] : undefined;
}

/** What `PRICE` is, from the members of a row. */
function derivePrice(row: Row, { baseScales }: Parameters): string | null {
  const base = BigInt(row.baseAssetAmountFilled?.toString() ?? 0);
  const scale = row.marketType === 'perp' ? PERP_BASE_SCALE : BigInt(ofMarket(row, baseScales) ?? 0);
  if (base === 0n || scale === 0n) return null;
  const quote = BigInt(row.quoteAssetAmountFilled?.toString() ?? 0);
  return String(divideRounded(quote * scale * PRICE_PER_QUOTE, base));
}

/** A negative fee of the maker, turned positive. */
function deriveRebate({ makerFee }: Row): string {
  const fee = makerFee?.toString() ?? '0';
  return fee.startsWith('-') ? fee.slice(1) : '0';
}

/** Both sides' order members, in the order of CSV columns. */
const side = (name: 'taker' | 'maker'): readonly RowField[] => [
  optionalAmount(`${name}OrderBaseAssetAmount`, 'base 1e9'),
  optionalAmount(`${name}OrderCumulativeBaseAssetAmountFilled`, 'base 1e9'),
  optionalAmount(`${name}OrderCumulativeQuoteAssetAmountFilled`, 'quote 1e6'),
];

/** Trade row, 4.1, in the column order of 8.2 so that one table serves JSON and CSV. */
export const TRADE_FIELDS: readonly RowField[] = [
  ...HEAD,
  optionalAmount('fillerReward', 'quote 1e6'),
  optionalAmount('baseAssetAmountFilled', 'base 1e9'),
  optionalAmount('quoteAssetAmountFilled', 'quote 1e6'),
  optionalAmount('takerFee', 'quote 1e6'),
  derived(amount('makerRebate', 'quote 1e6', 'greatest(-toInt128(ifNull(maker_fee, 0)), toInt128(0))'), deriveRebate),
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
];

/** Funding rate row, 4.3. */
export const FUNDING_RATE_FIELDS: readonly RowField[] = [
  ...HEAD,
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
];

export const TRADES: RowSource = {
  from: '{db:Identifier}.order_action',
  fields: TRADE_FIELDS,
  sequenceSql: 'ifNull(fill_record_id, 0)',
  sequenceField: 'fillRecordId',
  keys: 'market_type, market_index, action, ts, slot, signature, event_index',
  filterSql: `action = 'fill' AND market_type = {marketType:String} AND market_index = {marketIndex:UInt16}`,
};

export const FUNDING_RATES: RowSource = {
  from: '{db:Identifier}.funding_rate',
  fields: FUNDING_RATE_FIELDS,
  sequenceSql: 'record_id',
  sequenceField: 'recordId',
  filterSql: 'market_index = {marketIndex:UInt16}',
};
