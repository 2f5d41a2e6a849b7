// The market-level order account of a perp market, exactly as in the CLOB program (docs/internals/accounts.md, "Market-level
// order account"). It is a slab of nodes with bid, ask, free and taker-origin lists.

import type { Stored } from './model.ts';

export const NO_NODE = 0xffffffff;
export const NODE_OPEN = 1;
const NODE_ASK = 2;
export const NODE_TAKER_ORIGIN = 4;
export const NODE_REDUCE_ONLY = 8;

const NO_EXPIRY = 2n ** 63n - 1n;
const NO_ACTIVATION = 2n ** 64n - 1n;

export interface ClobNode {
  authority: string;
  price: bigint;
  /** Remaining size, 1e9. */
  base_asset_amount: bigint;
  activation_slot: bigint;
  max_ts: bigint;
  order_id: bigint;
  placed_slot: bigint;
  prev: number;
  next: number;
  taker_origin_prev: number;
  taker_origin_next: number;
  bit_flags: number;
  sub_account_id: number;
  client_order_id: number;
}

export interface ClobHeader {
  authority: string;
  place_authority: string;
  order_tick_size: bigint;
  order_step_size: bigint;
  min_order_size: bigint;
  blocking_min_size: bigint;
  base_precision: bigint;
  next_order_id: bigint;
  best_bid: number;
  best_ask: number;
  worst_bid: number;
  worst_ask: number;
  free_head: number;
  free_count: number;
  bid_count: number;
  ask_count: number;
  default_activation_delay_slots: number;
  max_activation_delay_slots: number;
  unknown_user_grace_slots: number;
  evict_threshold_per_side: number;
  market_index: number;
  max_quote_levels: number;
  max_execute_fills: number;
  max_execute_users: number;
  next_expiry_ts: bigint;
  next_activation_slot: bigint;
  pending_authority: string;
  taker_origin_head: [number, number];
  taker_origin_tail: [number, number];
  taker_origin_count: [number, number];
  reservation_grace_slots: number;
}

export interface Clob extends Stored<ClobHeader> {
  readonly nodes: ClobNode[];
  /** Nodes changed since the last encoding. */
  readonly dirty: Set<number>;
}

/** Content of a new node; size 1e9, price 1e6. */
export interface ClobOrder {
  readonly authority: string;
  readonly subAccountId: number;
  readonly clientOrderId: number;
  readonly isAsk: boolean;
  readonly price: bigint;
  readonly base: bigint;
  readonly maxTs: bigint;
  readonly flags: number;
}

export function emptyNodes(capacity: number, authority: string): ClobNode[] {
  return Array.from({ length: capacity }, (_, index) => ({
    authority,
    price: 0n,
    base_asset_amount: 0n,
    activation_slot: 0n,
    max_ts: 0n,
    order_id: 0n,
    placed_slot: 0n,
    prev: NO_NODE,
    next: index + 1 < capacity ? index + 1 : NO_NODE,
    taker_origin_prev: NO_NODE,
    taker_origin_next: NO_NODE,
    bit_flags: 0,
    sub_account_id: 0,
    client_order_id: 0,
  }));
}

export function nodeAt(clob: Clob, index: number): ClobNode {
  const node = clob.nodes[index];
  if (!node) throw new RangeError(`the order account has no node ${index}`);
  return node;
}

export function isAsk(node: ClobNode): boolean {
  return (node.bit_flags & NODE_ASK) !== 0;
}

/** A side takes at most half of the arena. */
export function sideIsFull(clob: Clob, ask: boolean): boolean {
  const count = ask ? clob.account.ask_count : clob.account.bid_count;
  return count >= Math.floor(clob.nodes.length / 2) || clob.account.free_count === 0;
}

/** Node indexes of one side, best first. */
export function* walk(clob: Clob, ask: boolean): Generator<number> {
  let index = ask ? clob.account.best_ask : clob.account.best_bid;
  while (index !== NO_NODE) {
    const { next } = nodeAt(clob, index);
    yield index;
    index = next;
  }
}

/** Whether a node is open, active and not expired. */
export function isMatchable(node: ClobNode, slot: number, now: number): boolean {
  const expired = node.max_ts !== 0n && node.max_ts < BigInt(now);
  return (node.bit_flags & NODE_OPEN) !== 0 && node.activation_slot <= BigInt(slot) && !expired;
}

/** Inserts an order behind equal prices and returns its node index. Throws when its side is full. */
export function insertOrder(clob: Clob, order: ClobOrder, slot: number): number {
  const header = clob.account;
  if (sideIsFull(clob, order.isAsk)) throw new Error('side at capacity');
  const index = header.free_head;
  const node = nodeAt(clob, index);
  header.free_head = node.next;
  header.free_count--;
  node.authority = order.authority;
  node.price = order.price;
  node.base_asset_amount = order.base;
  node.activation_slot = BigInt(slot + header.default_activation_delay_slots);
  node.max_ts = order.maxTs;
  node.order_id = header.next_order_id++;
  node.placed_slot = BigInt(slot);
  node.bit_flags = NODE_OPEN | (order.isAsk ? NODE_ASK : 0) | order.flags;
  node.sub_account_id = order.subAccountId;
  node.client_order_id = order.clientOrderId;
  linkByPrice(clob, index, node);
  if ((order.flags & NODE_TAKER_ORIGIN) !== 0) linkTakerOrigin(clob, index, node);
  if (order.isAsk) header.ask_count++;
  else header.bid_count++;
  if (order.maxTs !== 0n && order.maxTs < header.next_expiry_ts) header.next_expiry_ts = order.maxTs;
  if (node.activation_slot > BigInt(slot) && node.activation_slot < header.next_activation_slot) {
    header.next_activation_slot = node.activation_slot;
  }
  clob.dirty.add(index);
  return index;
}

function linkByPrice(clob: Clob, index: number, node: ClobNode): void {
  const ask = isAsk(node);
  let after = ask ? clob.account.worst_ask : clob.account.worst_bid;
  // From the worst end, because most new quotes are far from the top.
  while (after !== NO_NODE) {
    const other = nodeAt(clob, after);
    if (ask ? other.price <= node.price : other.price >= node.price) break;
    after = other.prev;
  }
  const before = after === NO_NODE ? (ask ? clob.account.best_ask : clob.account.best_bid) : nodeAt(clob, after).next;
  node.prev = after;
  node.next = before;
  setNext(clob, ask, after, index);
  setPrev(clob, ask, before, index);
}

function setNext(clob: Clob, ask: boolean, of: number, to: number): void {
  if (of === NO_NODE) {
    if (ask) clob.account.best_ask = to;
    else clob.account.best_bid = to;
    return;
  }
  nodeAt(clob, of).next = to;
  clob.dirty.add(of);
}

function setPrev(clob: Clob, ask: boolean, of: number, to: number): void {
  if (of === NO_NODE) {
    if (ask) clob.account.worst_ask = to;
    else clob.account.worst_bid = to;
    return;
  }
  nodeAt(clob, of).prev = to;
  clob.dirty.add(of);
}

function linkTakerOrigin(clob: Clob, index: number, node: ClobNode): void {
  const header = clob.account;
  const side = isAsk(node) ? 1 : 0;
  const tail = header.taker_origin_tail[side];
  node.taker_origin_prev = tail;
  node.taker_origin_next = NO_NODE;
  if (tail === NO_NODE) header.taker_origin_head[side] = index;
  else {
    nodeAt(clob, tail).taker_origin_next = index;
    clob.dirty.add(tail);
  }
  header.taker_origin_tail[side] = index;
  header.taker_origin_count[side]++;
}

function unlinkTakerOrigin(clob: Clob, node: ClobNode): void {
  const header = clob.account;
  const side = isAsk(node) ? 1 : 0;
  const { taker_origin_prev: prev, taker_origin_next: next } = node;
  if (prev === NO_NODE) header.taker_origin_head[side] = next;
  else {
    nodeAt(clob, prev).taker_origin_next = next;
    clob.dirty.add(prev);
  }
  if (next === NO_NODE) header.taker_origin_tail[side] = prev;
  else {
    nodeAt(clob, next).taker_origin_prev = prev;
    clob.dirty.add(next);
  }
  header.taker_origin_count[side]--;
  node.taker_origin_prev = NO_NODE;
  node.taker_origin_next = NO_NODE;
}

/** Unlinks a node. Its bytes stay without the open bit, as on chain. */
export function removeOrder(clob: Clob, index: number): void {
  const header = clob.account;
  const node = nodeAt(clob, index);
  if ((node.bit_flags & NODE_OPEN) === 0) throw new Error('stale order reference');
  const ask = isAsk(node);
  setNext(clob, ask, node.prev, node.next);
  setPrev(clob, ask, node.next, node.prev);
  if ((node.bit_flags & NODE_TAKER_ORIGIN) !== 0) unlinkTakerOrigin(clob, node);
  if (ask) header.ask_count--;
  else header.bid_count--;
  node.bit_flags &= ~NODE_OPEN;
  node.prev = NO_NODE;
  node.next = header.free_head;
  header.free_head = index;
  header.free_count++;
  clob.dirty.add(index);
  if (node.max_ts !== 0n && node.max_ts <= header.next_expiry_ts) header.next_expiry_ts = earliestExpiry(clob);
}

/** Reduces a node by a fill and removes a remainder below the minimum. Returns whether the node was removed. */
export function reduceOrder(clob: Clob, index: number, base: bigint): boolean {
  const node = nodeAt(clob, index);
  node.base_asset_amount -= base;
  clob.dirty.add(index);
  if (node.base_asset_amount >= clob.account.min_order_size) return false;
  removeOrder(clob, index);
  return true;
}

function earliestExpiry(clob: Clob): bigint {
  let earliest = NO_EXPIRY;
  for (const node of clob.nodes) {
    if ((node.bit_flags & NODE_OPEN) !== 0 && node.max_ts !== 0n && node.max_ts < earliest) earliest = node.max_ts;
  }
  return earliest;
}

/** Moves the activation mark past orders that have become active. */
export function refreshActivation(clob: Clob, slot: number): void {
  const header = clob.account;
  if (header.next_activation_slot > BigInt(slot)) return;
  let earliest = NO_ACTIVATION;
  for (const node of clob.nodes) {
    const waiting = (node.bit_flags & NODE_OPEN) !== 0 && node.activation_slot > BigInt(slot);
    if (waiting && node.activation_slot < earliest) earliest = node.activation_slot;
  }
  header.next_activation_slot = earliest;
}

/** Grows the arena. The new nodes go to the front of the free list, highest index last. */
export function growClob(clob: Clob, capacity: number): void {
  const first = clob.nodes.length;
  const added = emptyNodes(capacity - first, clob.account.authority);
  for (const [offset, node] of added.entries()) {
    const index = first + offset;
    node.next = offset + 1 < added.length ? index + 1 : clob.account.free_head;
    clob.nodes.push(node);
    clob.dirty.add(index);
  }
  clob.account.free_head = first;
  clob.account.free_count += added.length;
}

export function newClobHeader(
  settings: Pick<
    ClobHeader,
    'authority' | 'place_authority' | 'order_tick_size' | 'order_step_size' | 'min_order_size' | 'market_index'
  > & { capacity: number; evictThreshold: number },
): ClobHeader {
  return {
    authority: settings.authority,
    place_authority: settings.place_authority,
    order_tick_size: settings.order_tick_size,
    order_step_size: settings.order_step_size,
    min_order_size: settings.min_order_size,
    blocking_min_size: settings.min_order_size,
    base_precision: 1_000_000_000n,
    next_order_id: 1n,
    best_bid: NO_NODE,
    best_ask: NO_NODE,
    worst_bid: NO_NODE,
    worst_ask: NO_NODE,
    free_head: 0,
    free_count: settings.capacity,
    bid_count: 0,
    ask_count: 0,
    default_activation_delay_slots: 0,
    max_activation_delay_slots: 20,
    unknown_user_grace_slots: 10,
    evict_threshold_per_side: settings.evictThreshold,
    market_index: settings.market_index,
    max_quote_levels: 64,
    max_execute_fills: 113,
    max_execute_users: 48,
    next_expiry_ts: NO_EXPIRY,
    next_activation_slot: NO_ACTIVATION,
    pending_authority: '11111111111111111111111111111111',
    taker_origin_head: [NO_NODE, NO_NODE],
    taker_origin_tail: [NO_NODE, NO_NODE],
    taker_origin_count: [0, 0],
    reservation_grace_slots: 25,
  };
}
