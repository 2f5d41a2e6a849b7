// Housekeeping by any account: removes dead orders from accounts and books, and releases copies of book orders.

import { type Clob, nodeAt, walk } from './clob.ts';
import { evictWorst, removeExpired } from './clob-calls.ts';
import { tradableBase } from './matching.ts';
import { cancelOrder, isDormant, liveNode } from './orders.ts';
import { enterExchange, leave, type Transaction, touch } from './transaction.ts';
import { type OrderKey, orderAt, type Trader, type World } from './world.ts';

const EXPIRED_PER_CALL = 8;

/** Expired orders in user accounts. The book removes its own. */
export function expiredOrders(world: World): OrderKey[] {
  const now = BigInt(world.now);
  const expired: OrderKey[] = [];
  for (const [key, order] of world.expiring) {
    if (order.max_ts >= now || world.staleShadows.has(key)) continue;
    if (liveNode(world, order) === null) expired.push(key);
  }
  return expired;
}

/** Resting and triggered reduce-only orders without a position to reduce. */
export function pointlessOrders(world: World): OrderKey[] {
  return [...world.reduceOnly].filter((key) => {
    const { trader, order } = orderAt(world, key);
    const waits = isDormant(order) || world.auctions.has(key) || world.staleShadows.has(key);
    return !waits && tradableBase(trader, order) === 0n;
  });
}

export function cancelPointless(tx: Transaction, keys: readonly OrderKey[], filler: Trader): void {
  enterExchange(tx, 'CancelReduceOnlyOrders');
  for (const key of keys) {
    const { trader, index } = orderAt(tx.world, key);
    cancelOrder(tx, trader, index, 'reduceOnlyOrderIncreasedPosition', filler);
  }
  touch(tx, filler);
  leave(tx);
}

/** Removes expired orders from one trader's account. */
export function expireOrders(tx: Transaction, keys: readonly OrderKey[], filler: Trader): void {
  enterExchange(tx, 'ExpireOrders');
  for (const key of keys) {
    const { trader, index } = orderAt(tx.world, key);
    cancelOrder(tx, trader, index, 'orderExpired', filler);
  }
  leave(tx);
}

/** Expired nodes of a book. Cheap while the header rules out any. */
export function expiredNodes(clob: Clob, now: number): number[] {
  if (clob.account.next_expiry_ts >= BigInt(now)) return [];
  const expired: number[] = [];
  for (const ask of [false, true]) {
    for (const index of walk(clob, ask)) {
      const { max_ts: maxTs } = nodeAt(clob, index);
      if (maxTs !== 0n && maxTs < BigInt(now) && expired.length < EXPIRED_PER_CALL) expired.push(index);
    }
  }
  return expired;
}

export function expireNodes(tx: Transaction, clob: Clob, indexes: readonly number[]): void {
  enterExchange(tx, 'RemoveExpiredClobOrders');
  removeExpired(tx, clob, indexes);
  leave(tx);
}

/** The side with too many orders, or null. */
export function crowdedSide(clob: Clob): 'bid' | 'ask' | null {
  const { bid_count: bids, ask_count: asks, evict_threshold_per_side: threshold } = clob.account;
  if (bids > threshold) return 'bid';
  return asks > threshold ? 'ask' : null;
}

export function evict(tx: Transaction, clob: Clob, side: 'bid' | 'ask'): void {
  enterExchange(tx, 'EvictClobOrder');
  evictWorst(tx, clob, side === 'ask');
  leave(tx);
}

/** Copies of removed book orders that are due for release. */
export function dueShadows(world: World): OrderKey[] {
  return [...world.staleShadows].filter(([, stale]) => stale.dueSlot <= world.slot).map(([key]) => key);
}

export function releaseShadows(tx: Transaction, keys: readonly OrderKey[], filler: Trader): void {
  enterExchange(tx, 'ReleaseClobShadowOrders');
  for (const key of keys) {
    const expired = tx.world.staleShadows.get(key)?.expired ?? false;
    const { trader, index } = orderAt(tx.world, key);
    cancelOrder(tx, trader, index, expired ? 'orderExpired' : 'none', filler);
  }
  leave(tx);
}
