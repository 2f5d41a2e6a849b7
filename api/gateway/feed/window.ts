// The window of a book: its best levels, for streams of limited depth. A window is built once at the greatest depth, and two
// windows are compared once. Each stream takes its depth's part of the change, at a cost that grows with that part only.

import type { BookView, Side } from '../../../processors/book/index.ts';
import type { ViewLevel, ViewOrder } from '../../../schemas/index.ts';
import type { Changes } from './changes.ts';
import { SNAPSHOT_BYTES } from './limits.ts';
import type { StreamSpec } from './request.ts';
import {
  type Body,
  goneLevelEntry,
  goneOrderEntry,
  levelEntry,
  orderEntry,
  orderKey,
  publishedOrders,
} from './text.ts';

/** One side of a window, best first. */
interface WindowSide {
  readonly items: readonly Item[];
  /** Number of each item's price level, from 1 for the best; null when each item is a level. */
  readonly ranks: readonly number[] | null;
}

export interface Window {
  /** Price levels per side; fewer only when the book has no more. */
  readonly depth: number;
  readonly bids: WindowSide;
  readonly asks: WindowSide;
}

const NOTHING: WindowSide = { items: [], ranks: null };
export const EMPTY_WINDOW: Window = { depth: 0, bids: NOTHING, asks: NOTHING };

type Item = ViewLevel | ViewOrder;

const SIDES = [
  ['bids', 'bid'],
  ['asks', 'ask'],
] as const;

function isOrder(item: Item): item is ViewOrder {
  return 'orderId' in item;
}

function keyOf(item: Item): number | string {
  return isOrder(item) ? orderKey(item) : item.price;
}

function entryOf(item: Item): string {
  return isOrder(item) ? orderEntry(item) : levelEntry(item);
}

function goneEntryOf(item: Item): string {
  return isOrder(item) ? goneOrderEntry(item) : goneLevelEntry(item.price);
}

/** Levels or orders of a side, best first, down to `depth` price levels. */
function itemsOf(view: BookView, level: 'l2' | 'l3', side: Side, depth: number | null): Iterable<Item> {
  if (level === 'l3') return publishedOrders(view, side, depth ?? undefined);
  const { bids, asks } = view.l2(depth ?? Number.MAX_SAFE_INTEGER);
  return side === 'bid' ? bids : asks;
}

/** Entries of the book down to `depth` price levels; null = all. */
export function bookBody(
  view: BookView,
  { level, depth, hasCause }: Pick<StreamSpec, 'level' | 'depth' | 'hasCause'>,
): Body {
  const entry = (item: Item) => (isOrder(item) ? orderEntry(item, hasCause) : levelEntry(item));
  return {
    bids: Array.from(itemsOf(view, level, 'bid', depth), entry),
    asks: Array.from(itemsOf(view, level, 'ask', depth), entry),
    gone: null,
  };
}

/** Approximate length of a snapshot, bytes, by the number of its levels or orders. */
export function snapshotBytes(view: BookView, level: 'l2' | 'l3', depth: number | null): number {
  let count = 0;
  if (level === 'l3' && depth === null) count = view.orderCount;
  else for (const [, side] of SIDES) for (const _ of itemsOf(view, level, side, depth)) count += 1;
  return SNAPSHOT_BYTES.head + count * SNAPSHOT_BYTES[level];
}

export function windowOf(view: BookView, level: 'l2' | 'l3', depth: number): Window {
  const side = (name: Side): WindowSide => {
    const items = [...itemsOf(view, level, name, depth)];
    return { items, ranks: level === 'l3' ? ranksOf(items) : null };
  };
  return { depth, bids: side('bid'), asks: side('ask') };
}

function ranksOf(items: readonly Item[]): number[] {
  let rank = 0;
  let price = Number.NaN;
  return items.map((item) => {
    if (item.price !== price) rank += 1;
    price = item.price;
    return rank;
  });
}

function rankAt({ ranks }: WindowSide, index: number): number {
  return ranks === null ? index + 1 : (ranks[index] ?? Number.POSITIVE_INFINITY);
}

/** Number of items in the best `depth` price levels. */
function countWithin({ items, ranks }: WindowSide, depth: number): number {
  if (ranks === null) return Math.min(depth, items.length);
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ranks[middle] ?? 0) <= depth) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** An item that changed, entered, left, or changed its place in the queue. A rank is infinite where the item is absent. */
interface Moved {
  before: Item | null;
  beforeRank: number;
  after: Item | null;
  afterRank: number;
}

interface SideChange {
  readonly before: WindowSide;
  readonly after: WindowSide;
  readonly moved: ReadonlyMap<number | string, Moved>;
  /** For each unmoved item of `before` its rank in `after`, 0 for a moved one; and the reverse. */
  readonly ranksAfter: Int32Array;
  readonly ranksBefore: Int32Array;
}

/** The change between two windows, for every depth down to that of the shallower one. */
export class WindowChange {
  readonly #level: 'l2' | 'l3';
  readonly #sides: Readonly<Record<'bids' | 'asks', SideChange>>;

  constructor(level: 'l2' | 'l3', before: Window, after: Window) {
    this.#level = level;
    this.#sides = {
      bids: compare('bid', before.bids, after.bids),
      asks: compare('ask', before.asks, after.asks),
    };
  }

  /** The change for a stream of this depth. */
  body(depth: number): Body {
    const body = newBody();
    for (const [side] of SIDES) {
      const { before, after, moved, ranksAfter, ranksBefore } = this.#sides[side];
      for (const item of crossed(before, ranksAfter, depth)) pushGone(body, side, item);
      for (const { before: item, beforeRank, afterRank } of moved.values()) {
        if (item && beforeRank <= depth && afterRank > depth) pushGone(body, side, item);
      }
      for (const { after: item, afterRank } of moved.values()) {
        if (item && afterRank <= depth) body[side].push(entryOf(item));
      }
      for (const item of crossed(after, ranksBefore, depth)) body[side].push(entryOf(item));
    }
    return bodyOf(body, this.#level);
  }
}

/** Unmoved items within `depth` here and beyond it in the other window. They are last, because both have the same order. */
function* crossed(side: WindowSide, otherRanks: Int32Array, depth: number): Generator<Item> {
  for (let index = countWithin(side, depth) - 1; index >= 0; index -= 1) {
    const rank = otherRanks[index] ?? 0;
    const item = side.items[index];
    if (rank === 0 || !item) continue;
    if (rank <= depth) return;
    yield item;
  }
}

function compare(side: Side, before: WindowSide, after: WindowSide): SideChange {
  const ranksAfter = new Int32Array(before.items.length);
  const ranksBefore = new Int32Array(after.items.length);
  const moved = new Map<number | string, Moved>();
  const movedOf = (item: Item): Moved => {
    const key = keyOf(item);
    const known = moved.get(key) ?? { before: null, beforeRank: Infinity, after: null, afterRank: Infinity };
    moved.set(key, known);
    return known;
  };
  let i = 0;
  let j = 0;
  while (i < before.items.length || j < after.items.length) {
    const old = before.items[i];
    const now = after.items[j];
    const order = old === now ? 0 : old === undefined ? 1 : now === undefined ? -1 : compareItems(side, old, now);
    if (order === 0 && old && now && isSame(old, now)) {
      ranksAfter[i] = rankAt(after, j);
      ranksBefore[j] = rankAt(before, i);
    } else {
      if (order <= 0 && old) Object.assign(movedOf(old), { before: old, beforeRank: rankAt(before, i) });
      if (order >= 0 && now) Object.assign(movedOf(now), { after: now, afterRank: rankAt(after, j) });
    }
    if (order <= 0) i += 1;
    if (order >= 0) j += 1;
  }
  return { before, after, moved, ranksAfter, ranksBefore };
}

/** Below 0 when `left` comes before `right` on that side, by price, then by rank. */
function compareItems(side: Side, left: Item, right: Item): number {
  if (left.price !== right.price) return side === 'bid' ? right.price - left.price : left.price - right.price;
  if (!isOrder(left) || !isOrder(right)) return 0;
  for (let index = 0; index < left.rank.length && index < right.rank.length; index += 1) {
    const difference = (left.rank[index] ?? 0) - (right.rank[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/**
 * The diff to the current window for a client whose window was right before `missed`, whatever it held. It lists the whole window,
 * every missed change outside it, and unchanged levels below the window that may have been pushed out. The client can hold only
 * the best `depth` unchanged levels: any unchanged level better than one in its window was in its window too.
 */
export function windowAfter(view: BookView, level: 'l2' | 'l3', depth: number, missed: Changes): Body {
  const body = newBody();
  for (const [side, name] of SIDES) {
    const changed: ReadonlyMap<number | string, unknown> = level === 'l3' ? missed.orders : missed[side];
    const inWindow = new Set<number | string>();
    let ranks = 0;
    let unchangedRanks = 0;
    let price = Number.NaN;
    let unchangedPrice = Number.NaN;
    for (const item of itemsOf(view, level, name, null)) {
      const key = keyOf(item);
      if (item.price !== price) ranks += 1;
      price = item.price;
      const isUnchanged = !changed.has(key);
      if (isUnchanged && item.price !== unchangedPrice) {
        unchangedRanks += 1;
        unchangedPrice = item.price;
      }
      if (ranks <= depth) {
        inWindow.add(key);
        body[side].push(entryOf(item));
      } else {
        if (unchangedRanks > depth) break;
        if (isUnchanged) pushGone(body, side, item);
      }
    }
    if (level === 'l2')
      for (const at of missed[side].keys()) if (!inWindow.has(at)) body[side].push(goneLevelEntry(at));
    for (const [key, { order, side: at }] of missed.orders) {
      if ((at === name || (at === null && name === 'bid')) && !inWindow.has(key)) body.gone.push(goneOrderEntry(order));
    }
  }
  return bodyOf(body, level);
}

interface OpenBody {
  readonly bids: string[];
  readonly asks: string[];
  readonly gone: string[];
}

function newBody(): OpenBody {
  return { bids: [], asks: [], gone: [] };
}

function bodyOf(body: OpenBody, level: 'l2' | 'l3'): Body {
  return level === 'l3' ? body : { ...body, gone: null };
}

function pushGone(body: OpenBody, side: 'bids' | 'asks', item: Item): void {
  (isOrder(item) ? body.gone : body[side]).push(goneEntryOf(item));
}

function isSame(left: Item, right: Item): boolean {
  if (left === right) return true;
  if (isOrder(left) && isOrder(right)) {
    return (
      left.price === right.price &&
      left.size === right.size &&
      left.orderId === right.orderId &&
      left.source === right.source &&
      left.rank.length === right.rank.length &&
      left.rank.every((number, index) => number === right.rank[index]) &&
      Buffer.compare(left.maker, right.maker) === 0
    );
  }
  if (isOrder(left) || isOrder(right)) return false;
  return left.dlob === right.dlob && left.vamm === right.vamm;
}
