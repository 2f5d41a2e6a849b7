// Orders in user accounts: placing, resting, cancelling and releasing entries, with the counters of user and position.

import { max } from './amounts.ts';
import { NO_NODE, NODE_OPEN, NODE_REDUCE_ONLY, NODE_TAKER_ORIGIN, nodeAt } from './clob.ts';
import { cancelOnClob, placeOnClob } from './clob-calls.ts';
import type { Direction, Order, OrderType, TriggerCondition } from './model.ts';
import { ORDER_PLACED_ON_CLOB } from './model.ts';
import { perpPosition } from './positions.ts';
import type { RecordData } from './records.ts';
import { emit, mention, type Transaction, touch } from './transaction.ts';
import { type OrderKey, orderAt, orderKey, perpPrice, type Trader, type World } from './world.ts';

/** Parameters of an order; prices 1e6, sizes 1e9. */
export interface OrderRequest {
  readonly marketIndex: number;
  readonly orderType: OrderType;
  readonly direction: Direction;
  readonly base: bigint;
  readonly price?: bigint;
  readonly offset?: bigint;
  readonly triggerPrice?: bigint;
  readonly triggerCondition?: TriggerCondition;
  readonly postOnly?: boolean;
  readonly reduceOnly?: boolean;
  readonly immediateOrCancel?: boolean;
  /** Unix seconds, 0 = none. */
  readonly maxTs?: number;
  readonly userOrderId?: number;
  readonly bitFlags?: number;
  /** Slots before the first possible fill; 0 rests at once. */
  readonly auctionSlots?: number;
}

const NO_CLOB_REFERENCE = 0n;
/** Reward for removing a dead order, quote 1e6. */
const FLAT_FILLER_REWARD = 10_000n;

export function unfilled(order: Order): bigint {
  return order.base_asset_amount - order.base_asset_amount_filled;
}

export function isOnClob(order: Order): boolean {
  return (order.bit_flags & ORDER_PLACED_ON_CLOB) !== 0;
}

function isTrigger(order: Order): boolean {
  return order.order_type === 'triggerMarket' || order.order_type === 'triggerLimit';
}

/** A trigger order that has not been triggered yet. */
export function isDormant(order: Order): boolean {
  return isTrigger(order) && (order.trigger_condition === 'above' || order.trigger_condition === 'below');
}

/** Current price (1e6) of an order: fixed, or the oracle plus its offset; 0 for none. */
export function limitPrice(world: World, order: Order): bigint {
  return order.oracle_price_offset === 0n ? order.price : priceAt(order, perpPrice(world, order.market_index));
}

/** The same for a given oracle price, for loops over many orders. */
export function priceAt(order: Order, oracle: bigint): bigint {
  return order.oracle_price_offset === 0n ? order.price : max(1n, oracle + order.oracle_price_offset);
}

function freeSlot(trader: Trader): number {
  return trader.account.orders.indexOf(null);
}

/** Places an order that rests, waits or sleeps. Returns its entry, or -1 without a free one. */
export function placeOrder(tx: Transaction, trader: Trader, request: OrderRequest): number {
  const index = freeSlot(trader);
  if (index < 0) return -1;
  const order = newOrder(tx, trader, request);
  trader.account.orders[index] = order;
  countOrder(trader, order, 1);
  addOpenInterest(trader, order, 1n);
  if (order.max_ts !== 0n) tx.world.expiring.set(orderKey(trader, index), order);
  if (order.reduce_only) tx.world.reduceOnly.add(orderKey(trader, index));
  const auction = request.auctionSlots ?? 0;
  if (isDormant(order)) tx.world.triggers.add(orderKey(trader, index));
  else if (auction > 0) beginAuction(tx, trader, index, auction);
  else restOrder(tx, trader, index, false);
  touchTrader(tx, trader);
  emit(tx, 'OrderActionRecord', actionRecord(tx, trader, order, 'place', 'none'));
  emitOrder(tx, trader, order);
  return index;
}

function newOrder(tx: Transaction, trader: Trader, request: OrderRequest): Order {
  const position = perpPosition(trader, request.marketIndex);
  return {
    slot: BigInt(tx.slot),
    price: request.price ?? 0n,
    base_asset_amount: request.base,
    base_asset_amount_filled: 0n,
    quote_asset_amount_filled: 0n,
    trigger_price: request.triggerPrice ?? 0n,
    clob_node_index: NO_CLOB_REFERENCE,
    clob_order_id: NO_CLOB_REFERENCE,
    max_ts: BigInt(request.maxTs ?? 0),
    oracle_price_offset: request.offset ?? 0n,
    order_id: trader.account.next_order_id++,
    market_index: request.marketIndex,
    status: 'open',
    order_type: request.orderType,
    market_type: 'perp',
    user_order_id: request.userOrderId ?? 0,
    existing_position_direction: position.base_asset_amount >= 0n ? 'long' : 'short',
    direction: request.direction,
    reduce_only: request.reduceOnly ?? false,
    post_only: request.postOnly ?? false,
    immediate_or_cancel: request.immediateOrCancel ?? false,
    trigger_condition: request.triggerCondition ?? 'above',
    unused_auction_duration: 0,
    posted_slot_tail: tx.slot & 0xff,
    bit_flags: request.bitFlags ?? 0,
  };
}

function emitOrder(tx: Transaction, trader: Trader, order: Order): void {
  emit(tx, 'OrderRecord', { ts: BigInt(tx.now), user: trader.key, order: { ...order } });
}

export function touchTrader(tx: Transaction, trader: Trader): void {
  trader.account.last_active_slot = BigInt(tx.slot);
  trader.account.idle = false;
  touch(tx, trader);
  mention(tx, trader.account.authority);
}

function countOrder(trader: Trader, order: Order, sign: 1 | -1): void {
  const user = trader.account;
  user.open_orders += sign;
  user.has_open_order = user.open_orders > 0;
  perpPosition(trader, order.market_index).open_orders += sign;
}

/** Open bids and asks count the open size. A sleeping trigger order counts nothing. */
export function addOpenInterest(trader: Trader, order: Order, sign: 1n | -1n): void {
  if (!isDormant(order)) changeOpenInterest(trader, order, sign * unfilled(order));
}

export function changeOpenInterest(trader: Trader, order: Order, base: bigint): void {
  const position = perpPosition(trader, order.market_index);
  if (order.direction === 'long') position.open_bids += base;
  else position.open_asks -= base;
}

export function beginAuction(tx: Transaction, trader: Trader, index: number, slots: number): void {
  const user = trader.account;
  tx.world.auctions.set(orderKey(trader, index), tx.slot + slots);
  user.open_auctions++;
  user.has_open_auction = true;
}

export function endAuction(world: World, key: OrderKey): void {
  if (!world.auctions.delete(key)) return;
  const user = orderAt(world, key).trader.account;
  user.open_auctions--;
  user.has_open_auction = user.open_auctions > 0;
}

/** Rests a limit order: on the market's book when it has one and the price is fixed, else in the account. */
export function restOrder(tx: Transaction, trader: Trader, index: number, takerOrigin: boolean): void {
  const { world } = tx;
  const key = orderKey(trader, index);
  const { order } = orderAt(world, key);
  const clob = world.clobs.get(order.market_index);
  if (!clob || order.oracle_price_offset !== 0n || order.order_type !== 'limit') {
    world.resting[order.market_index]?.set(key, order);
    return;
  }
  const flags = (takerOrigin ? NODE_TAKER_ORIGIN : 0) | (order.reduce_only ? NODE_REDUCE_ONLY : 0);
  const nodeIndex = placeOnClob(tx, clob, {
    authority: trader.account.authority,
    subAccountId: trader.account.sub_account_id,
    clientOrderId: order.order_id,
    isAsk: order.direction === 'short',
    price: order.price,
    base: unfilled(order),
    maxTs: order.max_ts,
    flags,
  });
  order.bit_flags |= ORDER_PLACED_ON_CLOB;
  order.clob_node_index = BigInt(nodeIndex);
  order.clob_order_id = nodeAt(clob, nodeIndex).order_id;
  if (order.reduce_only) perpPosition(trader, order.market_index).reduce_only_clob_orders++;
}

/** Frees an entry and all counters of its order. The order's node must already be removed. */
export function releaseOrder(tx: Transaction, trader: Trader, index: number): void {
  const { world } = tx;
  const key = orderKey(trader, index);
  const { order } = orderAt(world, key);
  endAuction(world, key);
  world.resting[order.market_index]?.delete(key);
  world.triggers.delete(key);
  world.expiring.delete(key);
  world.reduceOnly.delete(key);
  world.staleShadows.delete(key);
  addOpenInterest(trader, order, -1n);
  countOrder(trader, order, -1);
  if (isOnClob(order) && order.reduce_only) perpPosition(trader, order.market_index).reduce_only_clob_orders--;
  trader.account.orders[index] = null;
  touchTrader(tx, trader);
}

/** Node index of an order on the book, or null when only the user's copy is left. */
export function liveNode(world: World, order: Order): number | null {
  const clob = world.clobs.get(order.market_index);
  if (!clob || !isOnClob(order)) return null;
  const node = nodeAt(clob, Number(order.clob_node_index));
  const live = node.order_id === order.clob_order_id && (node.bit_flags & NODE_OPEN) !== 0;
  return live ? Number(order.clob_node_index) : null;
}

/** Cancels an open order, on the book first when it rests there. */
export function cancelOrder(
  tx: Transaction,
  trader: Trader,
  index: number,
  explanation = 'none',
  filler: Trader | null = null,
): void {
  const { order } = orderAt(tx.world, orderKey(trader, index));
  const clob = tx.world.clobs.get(order.market_index);
  const node = liveNode(tx.world, order);
  if (clob && node !== null) cancelOnClob(tx, clob, node);
  const action = explanation === 'orderExpired' && filler !== null ? 'expire' : 'cancel';
  const record = actionRecord(tx, trader, order, action, explanation);
  emit(tx, 'OrderActionRecord', filler ? { ...record, filler: filler.key, filler_reward: FLAT_FILLER_REWARD } : record);
  releaseOrder(tx, trader, index);
}

/** Fields of an action on one order. A post-only order's owner is on the maker side. */
export function actionRecord(
  tx: Transaction,
  trader: Trader,
  order: Order,
  action: string,
  explanation: string,
): RecordData {
  const side = order.post_only ? 'maker' : 'taker';
  return {
    ts: BigInt(tx.now),
    action,
    action_explanation: explanation,
    market_index: order.market_index,
    market_type: order.market_type,
    ...orderSide(side, trader, order),
    oracle_price: perpPrice(tx.world, order.market_index),
    bit_flags: order.bit_flags,
  };
}

/** The six fields of one side of an action record, after the action. */
export function orderSide(side: 'maker' | 'taker', { key }: Trader, order: Order): RecordData {
  // Written out: V8 makes an object with computed names slowly, and every fill has two.
  if (side === 'maker') {
    return {
      maker: key,
      maker_order_id: order.order_id,
      maker_order_direction: order.direction,
      maker_order_base_asset_amount: order.base_asset_amount,
      maker_order_cumulative_base_asset_amount_filled: order.base_asset_amount_filled,
      maker_order_cumulative_quote_asset_amount_filled: order.quote_asset_amount_filled,
    };
  }
  return {
    taker: key,
    taker_order_id: order.order_id,
    taker_order_direction: order.direction,
    taker_order_base_asset_amount: order.base_asset_amount,
    taker_order_cumulative_base_asset_amount_filled: order.base_asset_amount_filled,
    taker_order_cumulative_quote_asset_amount_filled: order.quote_asset_amount_filled,
  };
}

/** Best resting prices of a market (1e6) over both sources, null on an empty side. */
export interface Edges {
  bid: bigint | null;
  ask: bigint | null;
}

export function edgesOf(world: World, marketIndex: number): Edges {
  const edges = bookEdges(world, marketIndex);
  const oracle = perpPrice(world, marketIndex);
  for (const order of world.resting[marketIndex]?.values() ?? []) {
    widen(edges, order.direction, priceAt(order, oracle));
  }
  return edges;
}

/** Best prices of the market's book alone. The program checks post-only orders against them. */
export function bookEdges(world: World, marketIndex: number): Edges {
  const edges: Edges = { bid: null, ask: null };
  const clob = world.clobs.get(marketIndex);
  if (!clob) return edges;
  const { best_bid: bid, best_ask: ask } = clob.account;
  if (bid !== NO_NODE) edges.bid = nodeAt(clob, bid).price;
  if (ask !== NO_NODE) edges.ask = nodeAt(clob, ask).price;
  return edges;
}

/** Counts one more resting order. */
export function widen(edges: Edges, direction: Direction, price: bigint): void {
  if (direction === 'long' && (edges.bid === null || price > edges.bid)) edges.bid = price;
  if (direction === 'short' && (edges.ask === null || price < edges.ask)) edges.ask = price;
}

/** Moves a post-only price to a tick that does not cross. */
export function slidePrice(edges: Edges, tick: bigint, direction: Direction, price: bigint): bigint {
  const opposite = direction === 'long' ? edges.ask : edges.bid;
  const onTick = price - (price % tick);
  if (opposite === null) return max(tick, onTick);
  const floor = opposite - (opposite % tick);
  if (direction === 'long') return max(tick, onTick >= opposite ? floor - tick : onTick);
  return max(tick, onTick <= opposite ? floor + 2n * tick : onTick);
}
