// The top of a book that a stream of limited depth shows, and how it changes: levels that enter are told whole, levels
// that leave are told as gone, whether they vanished or were pushed out.

import type { BookView, Side } from '../../../processors/book/index.ts';
import type { ViewLevel, ViewOrder } from '../../../schemas/index.ts';
import type { Changes } from './changes.ts';
import { type Body, goneLevelEntry, goneOrderEntry, levelEntry, orderEntry, orderKey, shownOrders } from './text.ts';

export interface Window {
  readonly bids: ReadonlyMap<number | string, ViewLevel | ViewOrder>;
  readonly asks: ReadonlyMap<number | string, ViewLevel | ViewOrder>;
}

export const EMPTY_WINDOW: Window = { bids: new Map(), asks: new Map() };

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

/** Best first, down to `depth` price levels. */
export function itemsOf(view: BookView, level: 'l2' | 'l3', side: Side, depth: number | null): Iterable<Item> {
  if (level === 'l3') return shownOrders(view, side, depth ?? undefined);
  const { bids, asks } = view.l2(depth ?? Number.MAX_SAFE_INTEGER);
  return side === 'bid' ? bids : asks;
}

/** The whole book down to a depth, as entries. */
export function bookBody(view: BookView, level: 'l2' | 'l3', depth: number | null): Body {
  return {
    bids: Array.from(itemsOf(view, level, 'bid', depth), entryOf),
    asks: Array.from(itemsOf(view, level, 'ask', depth), entryOf),
    gone: null,
  };
}

export function windowOf(view: BookView, level: 'l2' | 'l3', depth: number): Window {
  const side = (name: Side): Map<number | string, Item> =>
    new Map(Array.from(itemsOf(view, level, name, depth), (item) => [keyOf(item), item]));
  return { bids: side('bid'), asks: side('ask') };
}

/** What turns one window into the next. */
export function windowChange(level: 'l2' | 'l3', before: Window, after: Window): Body {
  const body = newBody(level);
  for (const [side] of SIDES) {
    for (const [key, item] of before[side]) if (!after[side].has(key)) tellGone(body, side, item);
    for (const [key, item] of after[side]) {
      const known = before[side].get(key);
      if (known === undefined || !isSame(known, item)) body[side].push(entryOf(item));
    }
  }
  return finished(body, level);
}

/**
 * What brings a client to the window as it is now, when all that is known of its own window is that it was right before
 * `missed`. Told are the whole window, everything missed that is not in it, and what may have been pushed out: unchanged
 * levels below the window. Of those the client can hold only levels among the best `depth` unchanged ones, because any
 * unchanged level better than one it held was in its window too.
 */
export function windowAfter(view: BookView, level: 'l2' | 'l3', depth: number, missed: Changes): Body {
  const body = newBody(level);
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
        if (isUnchanged) tellGone(body, side, item);
      }
    }
    if (level === 'l2')
      for (const at of missed[side].keys()) if (!inWindow.has(at)) body[side].push(goneLevelEntry(at));
    for (const [key, { order, side: at }] of missed.orders) {
      if ((at === name || (at === null && name === 'bid')) && !inWindow.has(key)) body.gone.push(goneOrderEntry(order));
    }
  }
  return finished(body, level);
}

interface OpenBody {
  readonly bids: string[];
  readonly asks: string[];
  readonly gone: string[];
}

function newBody(_level: 'l2' | 'l3'): OpenBody {
  return { bids: [], asks: [], gone: [] };
}

function finished(body: OpenBody, level: 'l2' | 'l3'): Body {
  return level === 'l3' ? body : { ...body, gone: null };
}

function tellGone(body: OpenBody, side: 'bids' | 'asks', item: Item): void {
  (isOrder(item) ? body.gone : body[side]).push(goneEntryOf(item));
}

function isSame(left: Item, right: Item): boolean {
  if (left === right) return true;
  if (isOrder(left) && isOrder(right)) {
    return (
      left.price === right.price &&
      left.size === right.size &&
      left.rank.length === right.rank.length &&
      left.rank.every((number, index) => number === right.rank[index])
    );
  }
  if (isOrder(left) || isOrder(right)) return false;
  return left.dlob === right.dlob && left.vamm === right.vamm;
}
