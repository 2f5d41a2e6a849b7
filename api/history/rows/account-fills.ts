// Order actions of one account: its trades, the actions of an order, fills that closed a position. Lookup tables find the
// events of the account; the event table gives the rows.

import { amount, derived, optionalAmount, type RowField, TX_INDEX, text } from '../fields.ts';
import { keySql } from '../keys.ts';
import type { RowSource } from '../lists.ts';
import { OF_USER } from './balances.ts';
import { FILL_ORDER, TRADE_FIELDS } from './market.ts';
import { RANK } from './orders.ts';

const USER = '{user:String}';
const KEY = keySql('user');
const USER_TRADE_FIELDS = TRADE_FIELDS.map((field) =>
  field.name === 'user'
    ? derived(text('user', 'the account the row is listed under', USER), (_row, { user }) => String(user))
    : field,
);

/** SQL of a member on the account's own side of a fill. */
const own = (member: string): string => `if(ifNull(taker = ${KEY}, false), taker_${member}, maker_${member})`;

const CLOSED_POSITION_FIELDS: readonly RowField[] = [
  ...USER_TRADE_FIELDS.filter((field) => field !== TX_INDEX),
  // Fee and rebate have different types; 128 bits fit both.
  optionalAmount('userFee', 'quote 1e6', `if(ifNull(taker = ${KEY}, false), toInt128(taker_fee), toInt128(maker_fee))`),
  amount(
    'baseClosedForPnl',
    'base 1e9',
    `ifNull(${own('existing_base_asset_amount')}, ifNull(base_asset_amount_filled, 0))`,
  ),
  optionalAmount('userExistingQuoteEntryAmount', 'quote 1e6', own('existing_quote_entry_amount')),
  optionalAmount('userExistingBaseAssetAmount', 'base 1e9', own('existing_base_asset_amount')),
  TX_INDEX,
];

/** Sorting key of the events; the lookup tables have all of its columns. */
const EVENT_KEYS = 'market_type, market_index, action, ts, slot, signature, event_index';

const fillsOfAccount = (fields: readonly RowField[], pickSql: string, directSql?: string): RowSource => ({
  from: '{db:Identifier}.order_action',
  fields,
  filterSql: 'true',
  ...FILL_ORDER,
  lookup: {
    from: '{db:Identifier}.account_fill',
    filterSql: `${OF_USER} AND ${pickSql}`,
    keys: EVENT_KEYS,
    sequenceSql: 'fill_record_id',
    ...(directSql === undefined ? {} : { directSql }),
  },
});

const FILL = `action = 'fill'`;

const OF_MARKET = `market_type = {marketType:String} AND market_index = {marketIndex:UInt16}`;
const TOOK_OR_MADE = `(taker = ${KEY} OR maker = ${KEY})`;

export const USER_TRADES = fillsOfAccount(USER_TRADE_FIELDS, 'true', `${FILL} AND ${TOOK_OR_MADE}`);
export const USER_MARKET_TRADES = fillsOfAccount(
  USER_TRADE_FIELDS,
  OF_MARKET,
  `${FILL} AND ${OF_MARKET} AND ${TOOK_OR_MADE}`,
);
/** Fills that reduced, closed or flipped the account's position. */
export const CLOSED_POSITIONS = fillsOfAccount(CLOSED_POSITION_FIELDS, 'closes');

const IS_TAKER = `ifNull(taker = ${KEY} AND taker_order_id = {orderId:UInt32}, false)`;
const CUMULATIVE = 'order_cumulative_base_asset_amount_filled';
/** Bits of a sequence below the rank of the action. */
const FILLED_BITS = 62;
const FILLED_MAX = 2n ** BigInt(FILLED_BITS) - 1n;

/** Orders the actions of one order within a slot by rank, and fills by the filled amount, which grows like fill ids. */
const actionSequence = (filled: string): string =>
  `bitOr(bitShiftLeft(toUInt64(${RANK}), ${FILLED_BITS}), least(toUInt64(${filled}), ${FILLED_MAX}))`;

export const ORDER_ACTIONS: RowSource = {
  from: '{db:Identifier}.order_action',
  fields: USER_TRADE_FIELDS.map((field) =>
    field.name === 'action' ? text('action', 'place, cancel, fill, trigger or expire') : field,
  ),
  filterSql: 'true',
  sequenceSql: actionSequence(`ifNull(if(${IS_TAKER}, taker_${CUMULATIVE}, maker_${CUMULATIVE}), 0)`),
  lookup: {
    from: '{db:Identifier}.account_action',
    filterSql: `${OF_USER} AND order_id = {orderId:UInt32}`,
    keys: EVENT_KEYS,
    sequenceSql: actionSequence(CUMULATIVE),
  },
};
