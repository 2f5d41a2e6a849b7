// Maintains the market-level books: a crank matches crossing orders, settings change, the arena grows.

import { min, quoteOf } from './amounts.ts';
import { type Clob, growClob, isMatchable, NO_NODE, NODE_TAKER_ORIGIN, nodeAt } from './clob.ts';
import { fillOnClob } from './clob-calls.ts';
import { timeAfter } from './clock.ts';
import { fillAgainstMaker, settleRestingOrder } from './fills.ts';
import { tradableBase } from './matching.ts';
import type { Direction } from './model.ts';
import { cancelOrder, placeOrder } from './orders.ts';
import { settleFunding } from './positions.ts';
import { baseWorth } from './quoting.ts';
import type { RecordData } from './records.ts';
import { emit, enterClob, enterExchange, leave, type Transaction, touch } from './transaction.ts';
import { type FoundOrder, orderAt, orderKey, perpAt, type Trader, traderOf, type World } from './world.ts';

/** The crank's part of the price improvement. */
const CRANK_PART = 10n;
/** A larger arena does not grow. */
const CAPACITY_MAX = 1_000;
const GROWTH_NODES = 24;

/** The best two orders when they cross and are matchable; the younger or the taker-origin one is the taker. */
export function crossingPair(world: World, clob: Clob): { taker: number; maker: number } | null {
  const { best_bid: bid, best_ask: ask } = clob.account;
  if (bid === NO_NODE || ask === NO_NODE) return null;
  const [bidNode, askNode] = [nodeAt(clob, bid), nodeAt(clob, ask)];
  if (bidNode.price < askNode.price) return null;
  if (bidNode.authority === askNode.authority) return null;
  if (!isMatchable(bidNode, world.slot, world.now) || !isMatchable(askNode, world.slot, world.now)) return null;
  const bidTakes = (bidNode.bit_flags & NODE_TAKER_ORIGIN) !== 0;
  const askTakes = (askNode.bit_flags & NODE_TAKER_ORIGIN) !== 0;
  const younger = bidNode.order_id > askNode.order_id;
  const takerIsBid = bidTakes === askTakes ? younger : bidTakes;
  return takerIsBid ? { taker: bid, maker: ask } : { taker: ask, maker: bid };
}

function orderOfNode(world: World, clob: Clob, index: number): FoundOrder {
  const node = nodeAt(clob, index);
  const owner = traderOf(world, node.authority, node.sub_account_id);
  const slot = owner.account.orders.findIndex((order) => order?.order_id === node.client_order_id);
  return orderAt(world, orderKey(owner, slot));
}

/** Matches two crossing orders of a book at the maker's price. */
export function crossBook(tx: Transaction, clob: Clob, pair: { taker: number; maker: number }, filler: Trader): void {
  const { world } = tx;
  const perp = perpAt(world, clob.account.market_index);
  const takerNode = nodeAt(clob, pair.taker);
  const makerNode = nodeAt(clob, pair.maker);
  const [restPrice, fillPrice] = [takerNode.price, makerNode.price];
  const { order_id: clobOrderId } = takerNode;
  const isTakerOrigin = (takerNode.bit_flags & NODE_TAKER_ORIGIN) !== 0;
  const taker = orderOfNode(world, clob, pair.taker);
  const maker = orderOfNode(world, clob, pair.maker);
  const base = min(crossable(taker, takerNode.base_asset_amount), crossable(maker, makerNode.base_asset_amount));
  if (base === 0n) {
    cancelEmptyReduceOnly(tx, crossable(taker, 1n) === 0n ? taker : maker);
    return;
  }
  const remainder = takerNode.base_asset_amount - base;
  enterExchange(tx, 'CrossClobOrders');
  settleFunding(tx, taker.trader, perp);
  fillOnClob(tx, clob, [
    { nodeIndex: pair.taker, base },
    { nodeIndex: pair.maker, base },
  ]);
  fillAgainstMaker(tx, perp, taker, { key: orderKey(maker.trader, maker.index), base, price: fillPrice }, filler);
  if (isTakerOrigin) {
    const gap = restPrice > fillPrice ? restPrice - fillPrice : fillPrice - restPrice;
    const improvement = quoteOf(base, gap);
    emit(tx, 'TakerOriginCrossRecordV1', {
      ts: BigInt(tx.now),
      slot: BigInt(tx.slot),
      market_index: clob.account.market_index,
      taker: taker.trader.key,
      filler: filler.key,
      base_asset_amount: base,
      quote_asset_amount: quoteOf(base, fillPrice),
      rest_price: restPrice,
      fill_price: fillPrice,
      improvement,
      crank_reward: improvement / CRANK_PART,
      remainder_base: remainder,
      clob_order_id: clobOrderId,
    });
  }
  settleRestingOrder(tx, taker);
  touch(tx, taker.trader, filler, perp);
  leave(tx);
}

function crossable(found: FoundOrder, onBook: bigint): bigint {
  return min(onBook, tradableBase(found.trader, found.order));
}

/** A reduce-only order without a position would block the cross for ever. */
function cancelEmptyReduceOnly(tx: Transaction, found: FoundOrder): void {
  enterExchange(tx, 'CancelOrder');
  cancelOrder(tx, found.trader, found.index, 'reduceOnlyOrderIncreasedPosition');
  leave(tx);
}

/** Direction of an order that would match a taker-origin order at the top of the book; null without one. */
export function takerOriginOnTop(clob: Clob): Direction | null {
  const { best_bid: bid, best_ask: ask } = clob.account;
  if (bid !== NO_NODE && nodeAt(clob, bid).bit_flags & NODE_TAKER_ORIGIN) return 'short';
  return ask !== NO_NODE && nodeAt(clob, ask).bit_flags & NODE_TAKER_ORIGIN ? 'long' : null;
}

/** Places a crossing limit order that is not post-only. The book stays crossed until the crank runs. */
export function placeCrossing(tx: Transaction, trader: Trader, clob: Clob, direction: Direction): void {
  const against = direction === 'long' ? clob.account.best_ask : clob.account.best_bid;
  if (against === NO_NODE) return;
  const { price, authority } = nodeAt(clob, against);
  const marketIndex = clob.account.market_index;
  if (authority === trader.account.authority) return;
  const tick = perpAt(tx.world, marketIndex).account.order_tick_size;
  enterExchange(tx, 'PlacePerpOrder');
  placeOrder(tx, trader, {
    marketIndex,
    orderType: 'limit',
    direction,
    base: baseWorth(tx, marketIndex, 400),
    price: direction === 'long' ? price + tick : price - tick,
    maxTs: timeAfter(tx.world, 60),
  });
  leave(tx);
}

function settingsOf(clob: Clob): RecordData {
  const { account: header } = clob;
  return {
    order_tick_size: header.order_tick_size,
    order_step_size: header.order_step_size,
    min_order_size: header.min_order_size,
    blocking_min_size: header.blocking_min_size,
    default_activation_delay_slots: header.default_activation_delay_slots,
    max_activation_delay_slots: header.max_activation_delay_slots,
    unknown_user_grace_slots: header.unknown_user_grace_slots,
    evict_threshold_per_side: header.evict_threshold_per_side,
    max_quote_levels: header.max_quote_levels,
    max_execute_fills: header.max_execute_fills,
    max_execute_users: header.max_execute_users,
    reservation_grace_slots: header.reservation_grace_slots,
  };
}

/** Emits the book's settings, like its creation does. */
export function announceBook(tx: Transaction, clob: Clob): void {
  enterClob(tx, 'InitializeMarketV0');
  touch(tx, clob);
  emit(tx, 'MarketInitializeRecordV0', {
    ...bookHead(tx, clob),
    place_authority: clob.account.place_authority,
    base_precision: clob.account.base_precision,
    capacity: clob.nodes.length,
    market_index: clob.account.market_index,
    settings: settingsOf(clob),
  });
  leave(tx);
}

/** Toggles the grace period of taker-origin orders. */
export function changeSettings(tx: Transaction, clob: Clob): void {
  enterClob(tx, 'UpdateMarketV0');
  const before = settingsOf(clob);
  clob.account.reservation_grace_slots = clob.account.reservation_grace_slots === 25 ? 30 : 25;
  touch(tx, clob);
  emit(tx, 'MarketUpdateRecordV0', {
    ...bookHead(tx, clob),
    before,
    after: settingsOf(clob),
  });
  leave(tx);
}

export function canGrow(clob: Clob): boolean {
  return clob.nodes.length + GROWTH_NODES <= CAPACITY_MAX;
}

export function resizeBook(tx: Transaction, clob: Clob): void {
  const previous = clob.nodes.length;
  enterClob(tx, 'ResizeMarketV0');
  growClob(clob, previous + GROWTH_NODES);
  touch(tx, clob);
  emit(tx, 'MarketResizeRecordV0', {
    ...bookHead(tx, clob),
    previous_capacity: previous,
    capacity: clob.nodes.length,
  });
  leave(tx);
}

function bookHead(tx: Transaction, clob: Clob): RecordData {
  return { market: clob.key, authority: clob.account.authority, ts: BigInt(tx.now) };
}
