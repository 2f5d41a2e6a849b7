// Placing and cancelling perp orders, with the program's checks in its order (docs/internals/transactions.md, "Orders").

import { floorTo } from '../amounts.ts';
import { fillTaker } from '../fills.ts';
import type { PerpMarket, StoredPerp } from '../markets.ts';
import {
  type Direction,
  ORDER_HAS_BUILDER,
  type OrderType,
  POSITIONS_PER_USER,
  type TriggerCondition,
  USER_BANKRUPT,
  USER_BEING_LIQUIDATED,
} from '../model.ts';
import { bookEdges, cancelOrder, edgesOf, type OrderRequest, placeOrder, restOrder, slidePrice } from '../orders.ts';
import { baseOf } from '../positions.ts';
import { enterExchange, leave, note, type Transaction } from '../transaction.ts';
import { orderAt, orderKey, perpPrice, type Trader } from '../world.ts';
import { revenueShareEscrowKey } from './builders.ts';
import { type Call, expectRemaining, ownUserOf } from './context.ts';
import { exchangeError } from './errors.ts';
import { termsKey } from './guests.ts';
import { freeInitialCollateral } from './margin.ts';

/** Slots before a keeper fills a marketable order. */
const AUCTION_SLOTS = 3;
const IMMEDIATE_OR_CANCEL = 1;

/** The program's order parameters; prices 1e6, sizes 1e9. */
interface Params {
  readonly order_type: OrderType;
  readonly market_type: 'spot' | 'perp';
  readonly direction: Direction;
  readonly user_order_id: number;
  readonly base_asset_amount: bigint;
  readonly price: bigint;
  readonly market_index: number;
  readonly reduce_only: boolean;
  readonly post_only: 'none' | 'mustPostOnly' | 'tryPostOnly' | 'slide';
  readonly bit_flags: number;
  readonly max_ts: bigint | null;
  readonly trigger_price: bigint | null;
  readonly trigger_condition: TriggerCondition;
  readonly oracle_price_offset: bigint | null;
  readonly builder_idx: number | null;
  readonly builder_fee_tenth_bps: number | null;
}

export function placePerpOrder(call: Call): void {
  const params = call.args.params as Params;
  if ((params.bit_flags & IMMEDIATE_OR_CANCEL) !== 0) throw exchangeError('InvalidOrderIOC');
  const trader = ownUserOf(call);
  const request = checkedRequest(call, trader, params);
  if (request === null) {
    skip(call.tx, 'PlacePerpOrder');
    return;
  }
  enterExchange(call.tx, 'PlacePerpOrder');
  place(call.tx, trader, params, { ...request, auctionSlots: isMarketable(call.tx, request) ? AUCTION_SLOTS : 0 });
  leave(call.tx);
}

/** Places an order and fills it at once. The rest of a limit order rests, all else is cancelled. */
export function placeAndTakePerpOrder(call: Call): void {
  const params = call.args.params as Params;
  if (params.post_only !== 'none') throw exchangeError('InvalidOrderPostOnly');
  const trader = ownUserOf(call);
  const request = checkedRequest(call, trader, params);
  if (request === null) {
    skip(call.tx, 'PlaceAndTakePerpOrder');
    return;
  }
  const { tx } = call;
  const isImmediate = (params.bit_flags & IMMEDIATE_OR_CANCEL) !== 0 || call.args.success_condition !== null;
  enterExchange(tx, 'PlaceAndTakePerpOrder');
  const index = place(tx, trader, params, { ...request, immediateOrCancel: isImmediate, auctionSlots: 1 });
  const found = orderAt(tx.world, orderKey(trader, index));
  const { base, done } = fillTaker(tx, found, null);
  checkSuccess(call, base, done);
  if (!done) {
    if (found.order.order_type === 'limit' && !isImmediate) restOrder(tx, trader, index, base > 0n);
    else cancelOrder(tx, trader, index);
  }
  leave(tx);
}

/** Low byte of `success_condition`: 1 wants a partial fill, 2 a whole one. */
function checkSuccess({ args }: Call, base: bigint, done: boolean): void {
  const condition = Number(args.success_condition ?? 0) & 0xff;
  const isMet = condition === 0 || (condition === 1 ? base > 0n : base > 0n && done);
  if (!isMet) throw exchangeError('PlaceAndTakeOrderSuccessConditionFailed');
}

function skip(tx: Transaction, instruction: string): void {
  enterExchange(tx, instruction);
  note(tx, 'post-only order would cross: not placed');
  leave(tx);
}

function place(tx: Transaction, trader: Trader, params: Params, request: OrderRequest): number {
  const before = baseOf(trader, params.market_index);
  const index = placeOrder(tx, trader, request);
  keepTerms(tx, trader, index, params);
  const against = before > 0n ? 'short' : 'long';
  const isReducing = before !== 0n && params.direction === against && request.base <= (before < 0n ? -before : before);
  if (!isReducing && freeInitialCollateral(tx.world, trader) < 0n) throw exchangeError('InsufficientCollateral');
  return index;
}

/** The order as it is placed; null when the program skips it. */
function checkedRequest(call: Call, trader: Trader, params: Params): OrderRequest | null {
  const { world } = call.tx;
  checkUser(trader, params.market_index);
  if (params.market_type !== 'perp') throw exchangeError('SpotDlobTradingDisabled');
  const perp = world.perps[params.market_index];
  if (!perp) throw exchangeError('PerpMarketNotFound');
  expectRemaining(call, [perp.account.oracle, perp.key], () => exchangeError('PerpMarketNotFound'));
  checkType(params);
  const base = checkedBase(perp.account, params);
  const price = checkedPrice(call, perp, params);
  if (price === null) return null;
  const maxTs = params.max_ts ?? defaultMaxTs(call, params);
  if (maxTs !== 0n && maxTs < BigInt(call.tx.now)) throw exchangeError('InvalidOrderMaxTs');
  return {
    marketIndex: params.market_index,
    orderType: params.order_type,
    direction: params.direction,
    base,
    price,
    offset: params.oracle_price_offset ?? 0n,
    triggerPrice: params.trigger_price ?? 0n,
    triggerCondition: params.trigger_condition,
    postOnly: params.post_only !== 'none',
    reduceOnly: params.reduce_only,
    maxTs: Number(maxTs),
    userOrderId: params.user_order_id,
    bitFlags: builderFlag(call, trader, params),
  };
}

function checkUser(trader: Trader, marketIndex: number): void {
  const { account } = trader;
  if ((account.status & USER_BANKRUPT) !== 0) throw exchangeError('UserBankrupt');
  if ((account.status & USER_BEING_LIQUIDATED) !== 0) throw exchangeError('UserIsBeingLiquidated');
  if (!account.orders.includes(null)) throw exchangeError('MaxNumberOfOrders');
  const { perp_positions: positions } = account;
  const isKnown = positions.some(({ market_index: index }) => index === marketIndex);
  if (!isKnown && positions.length >= POSITIONS_PER_USER) throw exchangeError('MaxNumberOfPositions');
}

function checkType(params: Params): void {
  const isTrigger = params.order_type === 'triggerMarket' || params.order_type === 'triggerLimit';
  if (isTrigger !== (params.trigger_price ?? 0n) > 0n) throw exchangeError('InvalidOrderTrigger');
  if (params.order_type !== 'limit' && params.post_only !== 'none') throw exchangeError('InvalidOrderPostOnly');
  if (params.order_type === 'market' && (params.oracle_price_offset ?? 0n) !== 0n) {
    throw exchangeError('InvalidOrderOracleOffset');
  }
}

/** The size on the market's step. */
function checkedBase(market: PerpMarket, params: Params): bigint {
  const base = floorTo(params.base_asset_amount, market.order_step_size);
  if (base === 0n) throw exchangeError('InvalidOrderSizeTooSmall');
  if (!params.reduce_only && base < market.market_stats.min_order_size) throw exchangeError('InvalidOrderMinOrderSize');
  return base;
}

/** The price on the market's tick, moved for `slide`; null when a `tryPostOnly` order would cross. */
function checkedPrice(call: Call, perp: StoredPerp, params: Params): bigint | null {
  const { order_tick_size: tick } = perp.account;
  const hasOffset = (params.oracle_price_offset ?? 0n) !== 0n;
  if (hasOffset && params.price !== 0n) throw exchangeError('InvalidOrderLimitPrice');
  const needsPrice = params.order_type === 'limit' || params.order_type === 'triggerLimit';
  if (needsPrice && params.price === 0n && !hasOffset) throw exchangeError('InvalidOrderLimitPrice');
  const floor = params.price - (params.price % tick);
  const price = params.direction === 'long' || floor === params.price ? floor : floor + tick;
  if (params.price !== 0n && price === 0n) throw exchangeError('InvalidOrderLimitPrice');
  if (params.post_only === 'none' || !crosses(call.tx, params.market_index, params.direction, price)) return price;
  if (params.post_only === 'tryPostOnly') return null;
  if (params.post_only === 'mustPostOnly') throw exchangeError('PlacePostOnlyLimitFailure');
  return slidePrice(bookEdges(call.tx.world, params.market_index), tick, params.direction, price);
}

function crosses(tx: Transaction, marketIndex: number, direction: Direction, price: bigint): boolean {
  const { bid, ask } = edgesOf(tx.world, marketIndex);
  return direction === 'long' ? ask !== null && price >= ask : bid !== null && price <= bid;
}

/** Market orders wait for a keeper; so do limit orders that cross. */
function isMarketable(tx: Transaction, request: OrderRequest): boolean {
  if (request.orderType === 'market' || request.orderType === 'oracle') return true;
  if (request.orderType !== 'limit' || request.postOnly === true) return false;
  const offset = request.offset ?? 0n;
  const price = offset === 0n ? (request.price ?? 0n) : perpPrice(tx.world, request.marketIndex) + offset;
  return crosses(tx, request.marketIndex, request.direction, price);
}

function defaultMaxTs({ tx }: Call, params: Params): bigint {
  if (params.order_type !== 'market' && params.order_type !== 'oracle') return 0n;
  return BigInt(tx.now + tx.world.state.account.default_market_order_time_in_force);
}

/** Flags of an order that pays a builder, or none. Fails as the program does when the terms are not approved. */
function builderFlag(call: Call, trader: Trader, params: Params): number {
  if (params.builder_idx === null) return 0;
  const key = revenueShareEscrowKey(trader.account.authority);
  expectRemaining(call, [key], () => exchangeError('InvalidRevenueShareAccount'));
  const builder = call.tx.world.guests.escrows.get(key)?.account.builders[params.builder_idx];
  if (!builder) throw exchangeError('InvalidRevenueShareAccount');
  if (builder.maxFeeTenthBps === 0) throw exchangeError('BuilderRevoked');
  if ((params.builder_fee_tenth_bps ?? 0) > builder.maxFeeTenthBps) throw exchangeError('InvalidBuilderFee');
  return ORDER_HAS_BUILDER;
}

function keepTerms({ world }: Transaction, trader: Trader, index: number, params: Params): void {
  const order = trader.account.orders[index];
  if (!order || params.builder_idx === null) return;
  const terms = { index: params.builder_idx, feeTenthBps: params.builder_fee_tenth_bps ?? 0 };
  world.guests.builderTerms.set(termsKey(trader.key, order.order_id), terms);
}

export function cancelOneOrder(call: Call): void {
  const trader = ownUserOf(call);
  const wanted = (call.args.order_id as number | null) ?? trader.account.next_order_id - 1;
  cancelWhere(call, 'CancelOrder', trader, [wanted]);
}

export function cancelOrdersByIds(call: Call): void {
  cancelWhere(call, 'CancelOrdersByIds', ownUserOf(call), call.args.order_ids as readonly number[]);
}

function cancelWhere({ tx }: Call, instruction: string, trader: Trader, orderIds: readonly number[]): void {
  enterExchange(tx, instruction);
  for (const orderId of orderIds) {
    const index = trader.account.orders.findIndex((order) => order?.order_id === orderId);
    if (index >= 0) cancelOrder(tx, trader, index);
    else note(tx, `could not find order id ${orderId}`);
  }
  leave(tx);
}

export function cancelOrders(call: Call): void {
  const { tx } = call;
  const trader = ownUserOf(call);
  const { market_type: type, market_index: market, direction } = call.args;
  enterExchange(tx, 'CancelOrders');
  for (const [index, order] of trader.account.orders.entries()) {
    if (!order || (type !== null && order.market_type !== type)) continue;
    if ((market !== null && order.market_index !== market) || (direction !== null && order.direction !== direction)) {
      continue;
    }
    cancelOrder(tx, trader, index);
  }
  leave(tx);
}
