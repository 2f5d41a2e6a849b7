// Makers: fixed quotes, replaced as the price moves, and quotes that follow the oracle.

import { floorTo, max, ppm } from './amounts.ts';
import { cancelAllOnClob } from './clob-calls.ts';
import { timeAfter } from './clock.ts';
import type { Direction } from './model.ts';
import {
  actionRecord,
  bookEdges,
  cancelOrder,
  type Edges,
  liveNode,
  placeOrder,
  releaseOrder,
  slidePrice,
  widen,
} from './orders.ts';
import { makersPerMarket, OFFSET_SHARE } from './population.ts';
import { below, between, chance, uniform } from './random.ts';
import { computeBudget, emit, enterExchange, leave, type Transaction } from './transaction.ts';
import { orderAt, orderKey, perpAt, perpListing, perpPrice, type Settings, type Trader } from './world.ts';

/** Distance of fixed quotes from the oracle in parts per million: from the first figure to the sum of both. */
const QUOTE_NEAREST = 350;
const QUOTE_SPREAD = 30_000;
const OFFSET_NEAREST = 300;
const OFFSET_SPREAD = 8_000;
/** Quote value of one order, whole units. */
const WORTH_LEAST = 300;
const WORTH_SPREAD = 15_000;
const PLACED_PER_TURN = 6;
/** From this number of orders per market on, quotes live longer. */
const LIFE_GROWS_FROM = 150;
/** A fixed quote further than this (1e6) on the wrong side of the oracle is replaced first. */
const STALE_BY = 100n;

/** Number of resting orders of one maker. */
export function ordersOf(maker: Trader, settings: Settings): number {
  const { fixed, offset } = makersPerMarket(settings.ordersPerMarket);
  const isOffset = maker.role === 'offsetMaker';
  const share = isOffset ? OFFSET_SHARE : 1 - OFFSET_SHARE;
  return Math.ceil((settings.ordersPerMarket * share) / (isOffset ? offset : fixed));
}

/** A maker's action: cancels stale and surplus quotes and places new ones up to its target. */
export function refreshQuotes(tx: Transaction, maker: Trader, settings: Settings): void {
  const target = ordersOf(maker, settings);
  const { rng } = tx.world;
  if (chance(rng, 0.02)) {
    pullQuotes(tx, maker);
    return;
  }
  const doomed = chooseCancels(tx, maker, target);
  computeBudget(tx);
  if (doomed.length > 0) {
    enterExchange(tx, 'CancelOrdersByIds');
    for (const index of doomed) cancelOrder(tx, maker, index);
    leave(tx);
  }
  const missing = Math.min(PLACED_PER_TURN, target - maker.account.open_orders);
  if (missing <= 0) return;
  enterExchange(tx, 'PlaceOrders');
  const edges = bookEdges(tx.world, maker.homeMarket);
  for (let count = 0; count < missing; count++) placeQuote(tx, maker, edges, lifeFactor(settings));
  leave(tx);
}

/** Places all quotes at once, for the genesis. */
export function topUpQuotes(tx: Transaction, maker: Trader, settings: Settings): void {
  const target = ordersOf(maker, settings);
  // Nothing crosses: bids are below the oracle, asks above it.
  const edges: Edges = { bid: null, ask: null };
  while (maker.account.open_orders < target) placeQuote(tx, maker, edges, lifeFactor(settings));
}

function chooseCancels(tx: Transaction, maker: Trader, target: number): number[] {
  const { world } = tx;
  const open: number[] = [];
  const stale: number[] = [];
  for (const [index, order] of maker.account.orders.entries()) {
    if (!order) continue;
    const oracle = perpPrice(world, order.market_index);
    const band = ppm(oracle, Number(STALE_BY));
    const crossed = order.direction === 'long' ? order.price > oracle - band : order.price < oracle + band;
    if (order.oracle_price_offset === 0n && crossed) stale.push(index);
    else open.push(index);
  }
  const wanted = open.length + stale.length >= target ? between(world.rng, 1, 3) : 0;
  const chosen = new Set(stale.slice(0, PLACED_PER_TURN));
  while (chosen.size < Math.min(wanted, open.length)) {
    const index = open[below(world.rng, open.length)];
    if (index === undefined) break;
    chosen.add(index);
  }
  return [...chosen];
}

/** Cancels every quote, on the book with one call. */
function pullQuotes(tx: Transaction, maker: Trader): void {
  const { world } = tx;
  const clob = world.clobs.get(maker.homeMarket);
  const nodes: number[] = [];
  const slots: number[] = [];
  for (const [index, order] of maker.account.orders.entries()) {
    if (!order) continue;
    slots.push(index);
    const node = liveNode(world, order);
    if (node !== null) nodes.push(node);
  }
  if (slots.length === 0) return;
  enterExchange(tx, 'CancelOrders');
  if (clob && nodes.length > 0) cancelAllOnClob(tx, clob, maker, nodes);
  for (const index of slots) {
    const { order } = orderAt(world, orderKey(maker, index));
    emit(tx, 'OrderActionRecord', actionRecord(tx, maker, order, 'cancel', 'none'));
    releaseOrder(tx, maker, index);
  }
  leave(tx);
}

function placeQuote(tx: Transaction, maker: Trader, edges: Edges, life: number): void {
  const direction = emptierSide(maker);
  if (maker.role === 'offsetMaker') placeOffsetQuote(tx, maker, direction, life);
  else placeFixedQuote(tx, maker, direction, edges, life);
}

function emptierSide(maker: Trader): Direction {
  let longs = 0;
  let shorts = 0;
  for (const order of maker.account.orders) {
    if (order?.direction === 'long') longs++;
    else if (order) shorts++;
  }
  return longs <= shorts ? 'long' : 'short';
}

function placeFixedQuote(tx: Transaction, maker: Trader, direction: Direction, edges: Edges, life: number): void {
  const { world } = tx;
  const oracle = perpPrice(world, maker.homeMarket);
  const far = uniform(world.rng);
  const distance = ppm(oracle, QUOTE_NEAREST + far * far * QUOTE_SPREAD);
  const wanted = direction === 'long' ? oracle - distance : oracle + distance;
  const price = slidePrice(edges, perpListing(maker.homeMarket).tick, direction, wanted);
  widen(edges, direction, price);
  placeOrder(tx, maker, {
    marketIndex: maker.homeMarket,
    orderType: 'limit',
    direction,
    base: quoteSize(tx, maker.homeMarket),
    price,
    postOnly: true,
    maxTs: expiry(tx, 0.15, life),
    userOrderId: between(world.rng, 0, 200),
  });
}

function placeOffsetQuote(tx: Transaction, maker: Trader, direction: Direction, life: number): void {
  const { world } = tx;
  const { tick } = perpListing(maker.homeMarket);
  const far = uniform(world.rng);
  const distance = max(
    tick,
    floorTo(ppm(perpPrice(world, maker.homeMarket), OFFSET_NEAREST + far * far * OFFSET_SPREAD), tick),
  );
  placeOrder(tx, maker, {
    marketIndex: maker.homeMarket,
    orderType: 'limit',
    direction,
    base: quoteSize(tx, maker.homeMarket),
    offset: direction === 'long' ? -distance : distance,
    postOnly: true,
    maxTs: expiry(tx, 0.1, life),
  });
}

/** Expiry of a quote in Unix seconds, 0 for most. */
function expiry(tx: Transaction, share: number, life: number): number {
  return chance(tx.world.rng, share) ? timeAfter(tx.world, Math.round(between(tx.world.rng, 20, 150) * life)) : 0;
}

/** Factor of quote lifetimes in a large book, where each maker acts less often. */
function lifeFactor(settings: Settings): number {
  return Math.max(1, settings.ordersPerMarket / LIFE_GROWS_FROM);
}

function quoteSize(tx: Transaction, marketIndex: number): bigint {
  const u = uniform(tx.world.rng);
  return baseWorth(tx, marketIndex, WORTH_LEAST + u * u * WORTH_SPREAD);
}

/** Base size (1e9) worth this many quote units, rounded to the market's step and at least its minimum. */
export function baseWorth(tx: Transaction, marketIndex: number, units: number): bigint {
  const { order_step_size: step, market_stats: stats } = perpAt(tx.world, marketIndex).account;
  const base = (BigInt(Math.round(units * 1_000)) * 1_000_000_000_000n) / perpPrice(tx.world, marketIndex);
  return max(stats.min_order_size, floorTo(base, step));
}
