// Order actions of one account: its trades, what happened to an order, positions that fills closed (history reference 4.1,
// 4.1.3, 4.12). The companion table finds them, the events themselves give the rows.

import { amount, derived, optionalAmount, type RowField, text } from '../fields.ts';
import type { RowSource } from '../lists.ts';
import { OF_USER } from './balances.ts';
import { TRADE_FIELDS } from './market.ts';

const USER = '{user:String}';
const KEY = `toFixedString(base58Decode(${USER}), 32)`;
const USER_TRADE_FIELDS = TRADE_FIELDS.map((field) =>
  field.name === 'user'
    ? derived(text('user', 'the account the row is listed under', USER), (_row, { user }) => String(user))
    : field,
);

/** SQL of a member of the account's own side of a fill. */
const own = (member: string): string => `if(ifNull(taker = ${KEY}, false), taker_${member}, maker_${member})`;

const CLOSED_POSITION_FIELDS: readonly RowField[] = [
  ...USER_TRADE_FIELDS,
  // A fee and a rebate have different types; both fit into 128 bits.
  optionalAmount('userFee', 'quote 1e6', `if(ifNull(taker = ${KEY}, false), toInt128(taker_fee), toInt128(maker_fee))`),
  amount(
    'baseClosedForPnl',
    'base 1e9',
    `ifNull(${own('existing_base_asset_amount')}, ifNull(base_asset_amount_filled, 0))`,
  ),
  optionalAmount('userExistingQuoteEntryAmount', 'quote 1e6', own('existing_quote_entry_amount')),
  optionalAmount('userExistingBaseAssetAmount', 'base 1e9', own('existing_base_asset_amount')),
];

/** Sorting key of the events; the companion table has all of it. */
const EVENT_KEYS = 'market_type, market_index, action, ts, slot, signature, event_index';

const ofAccount = (fields: readonly RowField[], pickSql: string, directSql?: string): RowSource => ({
  from: '{db:Identifier}.order_action',
  fields,
  filterSql: 'true',
  pointer: {
    from: '{db:Identifier}.account_action',
    filterSql: `${OF_USER} AND ${pickSql}`,
    keys: EVENT_KEYS,
    ...(directSql === undefined ? {} : { directSql }),
  },
});

const FILL = `action = 'fill'`;

const FILL_OF_MARKET = `${FILL} AND market_type = {marketType:String} AND market_index = {marketIndex:UInt16}`;
const TOOK_OR_MADE = `(taker = ${KEY} OR maker = ${KEY})`;

export const USER_TRADES = ofAccount(USER_TRADE_FIELDS, FILL, `${FILL} AND ${TOOK_OR_MADE}`);
export const USER_MARKET_TRADES = ofAccount(USER_TRADE_FIELDS, FILL_OF_MARKET, `${FILL_OF_MARKET} AND ${TOOK_OR_MADE}`);
/** Fills that reduced, closed or flipped the account's position. */
export const CLOSED_POSITIONS = ofAccount(
  CLOSED_POSITION_FIELDS,
  `${FILL} AND (isNotNull(existing_quote_entry_amount) OR isNotNull(existing_base_asset_amount))`,
);
export const ORDER_ACTIONS = ofAccount(
  USER_TRADE_FIELDS.map((field) =>
    field.name === 'action' ? text('action', 'place, cancel, fill, trigger or expire') : field,
  ),
  'order_id = {orderId:UInt32}',
);
