// Rows of what happens in markets: fills and funding rates (history reference 4.1, 4.3).

import {
  amount,
  HEAD,
  integer,
  optionalAmount,
  optionalInteger,
  optionalKey,
  optionalText,
  type RowField,
  symbol,
  text,
} from '../fields.ts';
import { PERP_BASE_DECIMALS, type RowSource } from '../lists.ts';

const PRICE_DECIMALS = 6;
const QUOTE_DECIMALS = 6;

/**
 * SQL of quote / base in price 1e6, rounded to the nearest (history reference 7.2). `scaleSql` is ten to the market's base
 * decimals; both amounts must be non-null, the base not zero.
 */
export const priceSql = (scaleSql: string): string =>
  `intDiv(toUInt256(assumeNotNull(quote_asset_amount_filled)) * ${scaleSql} * 2 * ` +
  `${10 ** (PRICE_DECIMALS - QUOTE_DECIMALS)} + assumeNotNull(base_asset_amount_filled), ` +
  `toUInt256(assumeNotNull(base_asset_amount_filled)) * 2)`;

/** Every list query is given `baseScales`; 0 for a spot market that nobody described. */
const BASE_SCALE =
  `if(market_type = 'perp', ${10 ** PERP_BASE_DECIMALS}, ` +
  `toUInt64OrZero({baseScales:Map(String, String)}[concat(market_type, '-', toString(market_index))]))`;

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
  amount('makerRebate', 'quote 1e6', 'greatest(-toInt128(ifNull(maker_fee, 0)), toInt128(0))'),
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
  text('marketFilter', 'perp or spot', 'market_type'),
  optionalText('user', 'the account a row was listed under; null in market lists', 'NULL'),
  symbol('market_type', 'market_index'),
  integer('bitFlags', 'flags of the fill'),
  optionalAmount('takerExistingQuoteEntryAmount', 'quote 1e6'),
  optionalAmount('takerExistingBaseAssetAmount', 'base 1e9'),
  optionalAmount('makerExistingQuoteEntryAmount', 'quote 1e6'),
  optionalAmount('makerExistingBaseAssetAmount', 'base 1e9'),
  optionalAmount('triggerPrice', 'price 1e6'),
  optionalInteger('builderIdx', 'builder index'),
  optionalAmount('builderFee', 'quote 1e6'),
  optionalAmount(
    'price',
    'price 1e6',
    `if(ifNull(base_asset_amount_filled, 0) = 0 OR ${BASE_SCALE} = 0, NULL, ${priceSql(BASE_SCALE)})`,
  ),
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
