// Orders in their current state: the placement, updated by every action of its account that names the order
// (docs/internals/history-semantics.md, "Orders"). It reads stored rows, so arrival order and copies do not matter.

import { isEndSql, isExpirySql, triggeredConditionSql } from '../../../schemas/index.ts';
import {
  amount,
  boolean,
  eventFields,
  integer,
  key,
  optionalAmount,
  optionalInteger,
  type RowField,
  symbol,
  text,
} from '../fields.ts';
import type { RowSource } from '../lists.ts';
import { OF_USER } from './balances.ts';

const FILLED_BASE = 'greatest(order_base_asset_amount_filled, acted_base)';
/** A remainder below the market's step ends an order (docs/internals/history-semantics.md, "Orders"). */
const STEP = `toUInt64OrDefault({steps:Map(String, String)}[concat(order_market_type, '-', toString(order_market_index))], toUInt64(1))`;
const WHOLLY_FILLED = `(${FILLED_BASE} > 0 AND ${FILLED_BASE} >= order_base_asset_amount)`;
const DONE_BY_FILL = `(${FILLED_BASE} > 0 AND toInt128(order_base_asset_amount) - ${FILLED_BASE} < greatest(${STEP}, 1))`;
const STATUS = `multiIf(${WHOLLY_FILLED}, 'filled', acted_ended, 'canceled', ${DONE_BY_FILL}, 'filled', order_status)`;

const LAST_STATUS = `multiIf(
  acted_last.1 = 'trigger', 'trigger',
  acted_last.1 = 'fill', if(${DONE_BY_FILL}, 'filled', 'partial_fill'),
  ${isExpirySql('acted_last.1', 'acted_last.2')}, 'expired',
  acted_last.1 = 'cancel', if(${FILLED_BASE} > 0, 'partial_fill_cancelled', 'cancelled'),
  'open')`;

/** The condition of a trigger order shows whether it was triggered. */
const CONDITION = `if(acted_triggered, ${triggeredConditionSql('order_trigger_condition')}, order_trigger_condition)`;

/** Order row. */
export const ORDER_FIELDS: readonly RowField[] = eventFields(
  key('user', 'account'),
  text('status', 'init, open, filled or canceled', STATUS),
  text('orderType', 'market, limit, triggerMarket, triggerLimit or oracle', 'order_order_type'),
  text('marketType', 'perp or spot', 'order_market_type'),
  text('marketFilter', 'perp or spot', 'order_market_type'),
  integer('marketIndex', 'market index', 'order_market_index'),
  symbol('order_market_type', 'order_market_index'),
  integer('orderId', 'per account, never used again', 'order_order_id'),
  integer('userOrderId', "the client's own number", 'order_user_order_id'),
  amount('price', 'price 1e6', 'order_price'),
  amount('triggerPrice', 'price 1e6', 'order_trigger_price'),
  amount('baseAssetAmount', 'base 1e9', 'order_base_asset_amount'),
  amount('baseAssetAmountFilled', 'base 1e9', FILLED_BASE),
  optionalAmount('quoteAssetAmount', 'quote 1e6', 'NULL'),
  amount('quoteAssetAmountFilled', 'quote 1e6', 'greatest(order_quote_asset_amount_filled, acted_quote)'),
  text('direction', 'long or short', 'order_direction'),
  text('existingPositionDirection', 'long or short', 'order_existing_position_direction'),
  boolean('reduceOnly', 'may only reduce a position', 'order_reduce_only'),
  boolean('postOnly', 'may only make', 'order_post_only'),
  boolean('immediateOrCancel', 'cancels the amount that does not fill at once', 'order_immediate_or_cancel'),
  text('triggerCondition', 'above, below, triggeredAbove or triggeredBelow', CONDITION),
  amount('oraclePriceOffset', 'price 1e6', 'order_oracle_price_offset'),
  optionalInteger('auctionDuration', 'slots', 'order_auction_duration'),
  optionalAmount('auctionStartPrice', 'price 1e6', 'order_auction_start_price'),
  optionalAmount('auctionEndPrice', 'price 1e6', 'order_auction_end_price'),
  integer('maxTs', 'unix seconds, 0 = none', 'order_max_ts'),
  text(
    'lastActionStatus',
    'open, partial_fill, filled, cancelled, partial_fill_cancelled, expired or trigger',
    LAST_STATUS,
  ),
  text('lastActionExplanation', 'why the last action happened', `if(acted_last.2 = '', 'none', acted_last.2)`),
  integer('lastUpdatedTs', 'unix seconds', 'greatest(ts, acted_last.3)'),
  amount('cumulativeFee', 'quote 1e6', 'acted_fee'),
);

/** Order of actions within a slot: place, trigger, fill, then the end of the order. */
const ACTION_RANKS: Readonly<Record<string, number>> = { place: 0, trigger: 1, fill: 2 };
const LAST_RANK = 3;
export const RANK = `multiIf(${Object.entries(ACTION_RANKS).map(([name, rank]) => `action = '${name}', ${rank}`)}, ${LAST_RANK})`;

const ACTED = `order_id, order_cumulative_base_asset_amount_filled, order_cumulative_quote_asset_amount_filled, fee, action,
  action_explanation, ts, slot, signature, event_index, side`;

/** The account's actions on the orders of a page. An order without actions has zeros and empty texts. */
const actions = (page: (columns: string) => string): string => `LEFT JOIN (
  SELECT order_id AS acted_id,
    max(order_cumulative_base_asset_amount_filled) AS acted_base,
    max(order_cumulative_quote_asset_amount_filled) AS acted_quote,
    sumIf(toInt128(fee), action = 'fill') AS acted_fee,
    countIf(${isEndSql('action')}) > 0 AS acted_ended,
    countIf(action = 'trigger') > 0 AS acted_triggered,
    argMax((toString(action), toString(action_explanation), ts),
      (ts, slot, ${RANK}, order_cumulative_base_asset_amount_filled, signature, event_index)) AS acted_last
  FROM (
    SELECT ${ACTED} FROM {db:Identifier}.account_action
    WHERE ${OF_USER} AND order_id IN (${page('order_order_id')})
    LIMIT 1 BY signature, event_index, side)
  GROUP BY order_id) AS acted ON acted_id = order_order_id`;

const orders = (pickSql: string): RowSource => ({
  from: '{db:Identifier}.`order`',
  fields: ORDER_FIELDS,
  filterSql: `${OF_USER} AND ${pickSql}`,
  joined: actions,
});

const OF_TYPE = 'order_market_type = {marketType:String}';
const OF_MARKET = `${OF_TYPE} AND order_market_index = {marketIndex:UInt16}`;
/** Selects orders whose row shows a filled amount. An action says what was filled before it, so a lost fill counts too. */
const HAS_FILL = `(order_base_asset_amount_filled > 0 OR order_order_id IN (
  SELECT assumeNotNull(order_id) FROM {db:Identifier}.account_action
  WHERE ${OF_USER} AND order_cumulative_base_asset_amount_filled > 0 AND isNotNull(order_id) AND ts >= {from:Int64}))`;

/** An account's orders in markets of one type, or in one market. */
export function userOrders(scope: 'type' | 'market', hasFill: boolean): RowSource {
  const inScope = scope === 'type' ? OF_TYPE : OF_MARKET;
  return orders(hasFill ? `${inScope} AND ${HAS_FILL}` : inScope);
}

/** The order with an id; `typed` restricts it to one market type. */
export function userOrder(typed: boolean): RowSource {
  return orders(`order_order_id = {orderId:UInt32}${typed ? ` AND ${OF_TYPE}` : ''}`);
}
