// Changes that an event makes to orders of accounts: a placing, or the actions on one or both sides of an order action record.

import {
  type AccountOrder,
  type ChainEvent,
  type Direction,
  isEnd,
  isExpiry,
  type MarketRef,
  type MarketType,
  type OrderCause,
  type OrderFill,
  triggeredCondition,
} from '../../schemas/index.ts';

export class OrderActionError extends Error {
  override readonly name = 'OrderActionError';
}

/** One action on one order. */
export interface OrderAction extends MarketRef {
  readonly user: Uint8Array;
  readonly orderId: number;
  readonly cause: OrderCause;
  readonly explanation: string;
  /** Unix seconds. */
  readonly ts: bigint;
  readonly fill: OrderFill | null;
  /** The new order of a placing. */
  readonly placed: AccountOrder | null;
  /** True when the order leaves, whatever is filled. */
  readonly ends: boolean;
  /** The order after the action. */
  readonly after: (order: AccountOrder) => AccountOrder;
}

type Data = ChainEvent['data'];

/** The actions of an event, the taker's first; none for other events. Throws OrderActionError for a malformed record. */
export function orderActions({ name, data }: ChainEvent): OrderAction[] {
  if (name === 'OrderRecord') return [placing(data)];
  if (name !== 'OrderActionRecord') return [];
  const sides = (['taker', 'maker'] as const).filter(
    (side) => data[side] instanceof Uint8Array && isNumber(data[`${side}_order_id`]),
  );
  return sides.flatMap((side) => actionOf(data, side) ?? []);
}

function placing(data: Data): OrderAction {
  const order: AccountOrder = {
    marketType: required(data, 'order_market_type', isMarketType),
    marketIndex: required(data, 'order_market_index', isNumber),
    orderId: required(data, 'order_order_id', isNumber),
    userOrderId: required(data, 'order_user_order_id', isNumber),
    orderType: required(data, 'order_order_type', isString),
    direction: required(data, 'order_direction', isDirection),
    price: required(data, 'order_price', isBigint),
    baseAssetAmount: required(data, 'order_base_asset_amount', isBigint),
    baseAssetAmountFilled: required(data, 'order_base_asset_amount_filled', isBigint),
    triggerPrice: required(data, 'order_trigger_price', isBigint),
    triggerCondition: required(data, 'order_trigger_condition', isString),
    oraclePriceOffset: required(data, 'order_oracle_price_offset', isBigint),
    postOnly: required(data, 'order_post_only', isBoolean),
    reduceOnly: required(data, 'order_reduce_only', isBoolean),
    placedSlot: Number(required(data, 'order_slot', isBigint)),
    maxTs: required(data, 'order_max_ts', isBigint),
  };
  const { marketType, marketIndex, orderId } = order;
  return {
    marketType,
    marketIndex,
    orderId,
    user: required(data, 'user', isKey),
    cause: 'placed',
    explanation: 'none',
    ts: required(data, 'ts', isBigint),
    fill: null,
    placed: order,
    ends: false,
    after: (placed) => placed,
  };
}

/** Null for an action that the placing itself reports. */
function actionOf(data: Data, side: 'taker' | 'maker'): OrderAction | null {
  const action = required(data, 'action', isString);
  const explanation = required(data, 'action_explanation', isString);
  const head = {
    marketType: required(data, 'market_type', isMarketType),
    marketIndex: required(data, 'market_index', isNumber),
    user: required(data, side, isKey),
    orderId: required(data, `${side}_order_id`, isNumber),
    explanation,
    ts: required(data, 'ts', isBigint),
    placed: null,
  };
  const filled = data[`${side}_order_cumulative_base_asset_amount_filled`];
  const base = data[`${side}_order_base_asset_amount`];
  // A record that comes late has less than is known already.
  const withFilled = (order: AccountOrder): AccountOrder =>
    isBigint(filled) && filled > order.baseAssetAmountFilled ? { ...order, baseAssetAmountFilled: filled } : order;
  if (isEnd(action)) {
    const cause = isExpiry(action, explanation) ? 'expired' : 'cancelled';
    return { ...head, cause, fill: null, ends: true, after: withFilled };
  }
  if (action === 'fill') {
    // A remainder below the market's step: docs/internals/history-semantics.md, "Orders".
    const ends = isBigint(base) && isBigint(filled) && filled >= base;
    return { ...head, cause: 'filled', fill: fillOf(data), ends, after: withFilled };
  }
  if (action !== 'trigger') return null;
  const after = (order: AccountOrder): AccountOrder => ({
    ...order,
    triggerCondition: triggeredCondition(order.triggerCondition),
  });
  return { ...head, cause: 'triggered', fill: null, ends: false, after };
}

function fillOf(data: Data): OrderFill {
  return {
    fillRecordId: required(data, 'fill_record_id', isBigint),
    baseAssetAmount: required(data, 'base_asset_amount_filled', isBigint),
    quoteAssetAmount: required(data, 'quote_asset_amount_filled', isBigint),
  };
}

type Guard<T> = (value: unknown) => value is T;
const isBigint: Guard<bigint> = (value) => typeof value === 'bigint';
const isNumber: Guard<number> = (value) => typeof value === 'number';
const isString: Guard<string> = (value) => typeof value === 'string';
const isBoolean: Guard<boolean> = (value) => typeof value === 'boolean';
const isKey: Guard<Uint8Array> = (value) => value instanceof Uint8Array;
const isMarketType: Guard<MarketType> = (value) => value === 'perp' || value === 'spot';
const isDirection: Guard<Direction> = (value) => value === 'long' || value === 'short';

function required<T>(data: Data, field: string, holds: Guard<T>): T {
  const value = data[field];
  if (!holds(value)) throw new OrderActionError(`${field} of an order record is ${String(value)}`);
  return value;
}
