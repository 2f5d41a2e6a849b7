// Orders after each of the chain's records: placement, then every action (docs/internals/history-semantics.md, "Orders").

import type { Row } from './rows.ts';
import { big, type Data, type MonthEvent, type MonthTruth, symbolOf } from './truth.ts';

interface Side {
  readonly side: 'taker' | 'maker';
  readonly event: MonthEvent;
}

/** Actions of every order, oldest first, under `user/orderId`. */
export function actionsByOrder(truth: MonthTruth): ReadonlyMap<string, readonly Side[]> {
  const found = new Map<string, Side[]>();
  for (const event of truth.of('OrderActionRecord')) {
    for (const side of ['taker', 'maker'] as const) {
      const { [side]: user, [`${side}_order_id`]: id } = event.data;
      if (user === null || id === null) continue;
      const key = `${user}/${id}`;
      const list = found.get(key);
      if (list) list.push({ side, event });
      else found.set(key, [{ side, event }]);
    }
  }
  return found;
}

/** Row of one order after all its records. */
export function orderRow(placed: MonthEvent, actions: readonly Side[]): Row {
  const order = placed.data.order as Data;
  const base = big(order.base_asset_amount);
  let filled = big(order.base_asset_amount_filled);
  let quote = big(order.quote_asset_amount_filled);
  let fee = 0n;
  let status = 'open';
  let last = { status: 'open', explanation: 'none', ts: placed.ts };
  let triggerCondition = String(order.trigger_condition);
  for (const { side, event } of actions) {
    const { data } = event;
    filled = big(data[`${side}_order_cumulative_base_asset_amount_filled`]);
    quote = big(data[`${side}_order_cumulative_quote_asset_amount_filled`]);
    let reached = 'open';
    if (data.action === 'fill') {
      fee += big(side === 'taker' ? data.taker_fee : data.maker_fee);
      reached = filled >= base ? 'filled' : 'partial_fill';
      if (filled >= base) status = 'filled';
    } else if (data.action === 'cancel') {
      reached = filled > 0n ? 'partial_fill_cancelled' : 'cancelled';
      if (data.action_explanation === 'orderExpired') reached = 'expired';
      status = 'canceled';
    } else if (data.action === 'expire') {
      reached = 'expired';
      status = 'canceled';
    } else if (data.action === 'trigger') {
      reached = 'trigger';
      triggerCondition = triggerCondition === 'above' ? 'triggeredAbove' : 'triggeredBelow';
    }
    last = { status: reached, explanation: String(data.action_explanation), ts: event.ts };
  }
  return {
    ts: placed.ts,
    txSig: placed.signature,
    txSigIndex: placed.index,
    txIndex: null,
    slot: placed.slot,
    user: placed.data.user,
    status,
    orderType: order.order_type,
    marketType: order.market_type,
    marketFilter: order.market_type,
    marketIndex: order.market_index,
    symbol: symbolOf(order.market_type, order.market_index),
    orderId: order.order_id,
    userOrderId: order.user_order_id,
    price: order.price,
    triggerPrice: order.trigger_price,
    baseAssetAmount: order.base_asset_amount,
    baseAssetAmountFilled: String(filled),
    quoteAssetAmount: null,
    quoteAssetAmountFilled: String(quote),
    direction: order.direction,
    existingPositionDirection: order.existing_position_direction,
    reduceOnly: order.reduce_only,
    postOnly: order.post_only,
    immediateOrCancel: order.immediate_or_cancel,
    triggerCondition,
    oraclePriceOffset: String(order.oracle_price_offset),
    auctionDuration: order.auction_duration ?? null,
    auctionStartPrice: order.auction_start_price ?? null,
    auctionEndPrice: order.auction_end_price ?? null,
    maxTs: Number(order.max_ts),
    lastActionStatus: last.status,
    lastActionExplanation: last.explanation,
    lastUpdatedTs: last.ts,
    cumulativeFee: String(fee),
  };
}
