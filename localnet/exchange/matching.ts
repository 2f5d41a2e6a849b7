// Plans a taker's fills in price-time order over user orders, the market's book and the vAMM.

import { askPrice, baseToPrice, bidPrice } from './amm.ts';
import { floorTo, max, min } from './amounts.ts';
import { isMatchable, nodeAt, walk } from './clob.ts';
import type { Direction, Order } from './model.ts';
import { priceAt, unfilled } from './orders.ts';
import { baseOf, signed } from './positions.ts';
import { type OrderKey, orderAt, orderKey, perpAt, perpPrice, type Trader, traderOf, type World } from './world.ts';

/** One planned fill: against the vAMM, or against a resting order in an account or on the book. */
export interface PlannedFill {
  readonly source: 'amm' | 'user' | 'clob';
  readonly base: bigint;
  /** Price 1e6; the curve gives the vAMM's price. */
  readonly price: bigint;
  readonly key: OrderKey | null;
  readonly nodeIndex: number | null;
}

/** A resting order that a taker may match. */
interface Candidate {
  readonly source: 'user' | 'clob';
  readonly key: OrderKey;
  readonly nodeIndex: number | null;
  readonly price: bigint;
  readonly base: bigint;
  /** Rank among equal prices: sources by routing priority, then age. */
  readonly age: bigint;
}

/** Number of makers that fit into one transaction's accounts. */
const MAKERS_PER_FILL = 12;
/** Book nodes examined for one taker. */
const NODES_PER_FILL = 24;
/** One fill takes at most this part of the vAMM's base reserve (`max_fill_reserve_fraction`). */
const AMM_FILL_PART = 100n;

/**
 * Fills for up to `wanted` base at `limit` (1e6, 0 = any price) or better, best first. At equal prices the vAMM comes
 * first, then the book, then user accounts.
 */
export function planFills(world: World, taker: Trader, order: Order, wanted: bigint, limit: bigint): PlannedFill[] {
  const { direction, market_index: marketIndex } = order;
  const plan: PlannedFill[] = [];
  let left = wanted;
  const candidates = candidatesFor(world, taker, order, limit);
  const amm = ammQuoter(world, marketIndex, direction);
  for (const candidate of candidates.slice(0, MAKERS_PER_FILL)) {
    left -= amm.takeTo(candidate.price, left, plan);
    const base = min(left, candidate.base);
    if (base <= 0n) break;
    plan.push({
      source: candidate.source,
      base,
      price: candidate.price,
      key: candidate.key,
      nodeIndex: candidate.nodeIndex,
    });
    left -= base;
  }
  // The vAMM takes the rest only when that skips no maker.
  if (left > 0n && candidates.length <= MAKERS_PER_FILL) amm.takeTo(limit, left, plan);
  return plan;
}

/** Base that a reduce-only order may still trade: at most the position. */
export function tradableBase(trader: Trader, order: Order): bigint {
  const open = unfilled(order);
  if (!order.reduce_only) return open;
  const against = -signed(order.direction, baseOf(trader, order.market_index));
  return max(0n, min(open, against));
}

function candidatesFor(world: World, taker: Trader, order: Order, limit: bigint): Candidate[] {
  const long = order.direction === 'long';
  const reachable = (price: bigint): boolean => limit === 0n || (long ? price <= limit : price >= limit);
  const found: Candidate[] = [];
  const oracle = perpPrice(world, order.market_index);
  for (const [key, maker] of world.resting[order.market_index] ?? []) {
    if (maker.direction === order.direction) continue;
    const price = priceAt(maker, oracle);
    if (!reachable(price) || (maker.max_ts !== 0n && maker.max_ts < BigInt(world.now))) continue;
    const { trader } = orderAt(world, key);
    const base = trader === taker ? 0n : tradableBase(trader, maker);
    if (base > 0n) found.push({ source: 'user', key, nodeIndex: null, price, base, age: maker.slot });
  }
  found.push(...nodesFor(world, taker, order, reachable));
  return found.sort(
    (a, b) =>
      compare(long ? a.price : b.price, long ? b.price : a.price) ||
      rank(a) - rank(b) ||
      compare(a.age, b.age) ||
      a.key - b.key,
  );
}

function nodesFor(world: World, taker: Trader, order: Order, reachable: (price: bigint) => boolean): Candidate[] {
  const clob = world.clobs.get(order.market_index);
  if (!clob) return [];
  const found: Candidate[] = [];
  for (const index of walk(clob, order.direction === 'long')) {
    const node = nodeAt(clob, index);
    if (!reachable(node.price) || found.length >= NODES_PER_FILL) break;
    const owner = traderOf(world, node.authority, node.sub_account_id);
    if (owner === taker || !isMatchable(node, world.slot, world.now)) continue;
    const slot = owner.account.orders.findIndex((shadow) => shadow?.order_id === node.client_order_id);
    const shadow = owner.account.orders[slot];
    if (!shadow) continue;
    const base = shadow.reduce_only ? min(node.base_asset_amount, tradableBase(owner, shadow)) : node.base_asset_amount;
    if (base <= 0n) continue;
    found.push({
      source: 'clob',
      key: orderKey(owner, slot),
      nodeIndex: index,
      price: node.price,
      base,
      age: node.order_id,
    });
  }
  return found;
}

function rank(candidate: Candidate): number {
  return candidate.source === 'clob' ? 0 : 1;
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Walks the vAMM's spread reserves for a plan without moving them. */
function ammQuoter(world: World, marketIndex: number, direction: Direction) {
  const market = perpAt(world, marketIndex).account;
  const { amm } = market;
  const long = direction === 'long';
  let reserve = long ? amm.ask_base_asset_reserve : amm.bid_base_asset_reserve;
  let budget = floorTo(amm.base_asset_reserve / AMM_FILL_PART, market.order_step_size);
  const { min_order_size: smallest } = market.market_stats;
  return {
    /** Plans the vAMM's part up to `price`; returns the base. */
    takeTo(price: bigint, wanted: bigint, plan: PlannedFill[]): bigint {
      const reach = price === 0n ? budget : baseToPrice(amm, reserve, price, direction, market.order_step_size);
      const base = min(min(reach, budget), wanted);
      if (base < smallest) return 0n;
      reserve += long ? -base : base;
      budget -= base;
      plan.push({ source: 'amm', base, price: long ? askPrice(amm) : bidPrice(amm), key: null, nodeIndex: null });
      return base;
    },
  };
}
