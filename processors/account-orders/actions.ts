// Changes that an event makes to orders of accounts: a placing, or the actions on one or both sides of an order action record.

import {
  type AccountOrder,
  type ChainEvent,
  isEnd,
  isExpiry,
  type MarketRef,
  type OrderCause,
  type OrderFill,
  triggeredCondition,
} from '../../schemas/index.ts';
import { FieldReader, isBigint, isBoolean, isDirection, isKey, isMarketType, isNumber, isString } from '../fields.ts';

export class OrderActionError extends Error {
  override readonly name = 'OrderActionError';
}

const FIELDS = new FieldReader(OrderActionError, 'an order record');

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
    marketType: FIELDS.required(data, 'order_market_type', isMarketType),
    marketIndex: FIELDS.required(data, 'order_market_index', isNumber),
    orderId: FIELDS.required(data, 'order_order_id', isNumber),
    userOrderId: FIELDS.required(data, 'order_user_order_id', isNumber),
    orderType: FIELDS.required(data, 'order_order_type', isString),
    direction: FIELDS.required(data, 'order_direction', isDirection),
    price: FIELDS.required(data, 'order_price', isBigint),
    baseAssetAmount: FIELDS.required(data, 'order_base_asset_amount', isBigint),
    baseAssetAmountFilled: FIELDS.required(data, 'order_base_asset_amount_filled', isBigint),
    triggerPrice: FIELDS.required(data, 'order_trigger_price', isBigint),
    triggerCondition: FIELDS.required(data, 'order_trigger_condition', isString),
    oraclePriceOffset: FIELDS.required(data, 'order_oracle_price_offset', isBigint),
    postOnly: FIELDS.required(data, 'order_post_only', isBoolean),
    reduceOnly: FIELDS.required(data, 'order_reduce_only', isBoolean),
    placedSlot: Number(FIELDS.required(data, 'order_slot', isBigint)),
    maxTs: FIELDS.required(data, 'order_max_ts', isBigint),
  };
  const { marketType, marketIndex, orderId } = order;
  return {
    marketType,
    marketIndex,
    orderId,
    user: FIELDS.required(data, 'user', isKey),
    cause: 'placed',
    explanation: 'none',
    ts: FIELDS.required(data, 'ts', isBigint),
    fill: null,
    placed: order,
    ends: false,
    after: (placed) => placed,
  };
}

/** Null for an action that the placing itself reports. */
function actionOf(data: Data, side: 'taker' | 'maker'): OrderAction | null {
  const action = FIELDS.required(data, 'action', isString);
  const explanation = FIELDS.required(data, 'action_explanation', isString);
  const head = {
    marketType: FIELDS.required(data, 'market_type', isMarketType),
    marketIndex: FIELDS.required(data, 'market_index', isNumber),
    user: FIELDS.required(data, side, isKey),
    orderId: FIELDS.required(data, `${side}_order_id`, isNumber),
    explanation,
    ts: FIELDS.required(data, 'ts', isBigint),
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
    fillRecordId: FIELDS.required(data, 'fill_record_id', isBigint),
    baseAssetAmount: FIELDS.required(data, 'base_asset_amount_filled', isBigint),
    quoteAssetAmount: FIELDS.required(data, 'quote_asset_amount_filled', isBigint),
  };
}
