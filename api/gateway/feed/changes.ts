// Merged changes of a book: the newest state of each level or order, with the sequence that brought it.
// Conflated streams use it for pending changes, backfills for missed ones.

import type { Steps } from '../../../processors/book/index.ts';
import type { BookViewDiff, ViewLevel, ViewOrder, ViewOrderRef } from '../../../schemas/index.ts';
import { MERGE_STEP_CHANGES } from './limits.ts';
import type { PublishedKeys } from './published-keys.ts';
import { type Body, firstReverted, goneOrderEntry, isEmptyLevel, levelEntry, orderEntry, orderKey } from './text.ts';

interface Change {
  readonly seq: number;
  /** True when the level or order was not published before the merged changes. */
  readonly isNew?: boolean;
}

export interface LevelChange extends Change {
  readonly level: ViewLevel;
}

export type OrderChange = Change &
  ({ readonly side: 'bid' | 'ask'; readonly order: ViewOrder } | { readonly side: null; readonly order: ViewOrderRef });

export class Changes {
  readonly kind: 'l2' | 'l3';
  readonly bids = new Map<number, LevelChange>();
  readonly asks = new Map<number, LevelChange>();
  readonly orders = new Map<string, OrderChange>();
  /** First abandoned slot that the changes undo; null without an undo. */
  revert: number | null = null;

  constructor(kind: 'l2' | 'l3') {
    this.kind = kind;
  }

  /** Number of changed levels or orders. */
  get size(): number {
    return this.bids.size + this.asks.size + this.orders.size;
  }

  /** Adds a change, in any order: the newest state of a level or order stays. */
  add(diff: BookViewDiff): void {
    const { seq } = diff;
    this.revert = firstReverted(this.revert, diff.revert);
    if (this.kind === 'l2') {
      for (const level of diff.bids) newest(this.bids, level.price, { seq, level });
      for (const level of diff.asks) newest(this.asks, level.price, { seq, level });
      return;
    }
    // An order may leave and return in one change: additions come after removals.
    for (const order of diff.gone) this.#order({ seq, side: null, order });
    for (const order of diff.bidOrders) this.#order({ seq, side: 'bid', order });
    for (const order of diff.askOrders) this.#order({ seq, side: 'ask', order });
  }

  /** Adds the next change. `published`: keys in the book before it. A level or order that came and went leaves no entry. */
  addPublished(diff: BookViewDiff, published: PublishedKeys): void {
    const { seq } = diff;
    this.revert = firstReverted(this.revert, diff.revert);
    if (this.kind === 'l2') {
      for (const level of diff.bids) next(this.bids, level.price, { seq, level }, published.bids);
      for (const level of diff.asks) next(this.asks, level.price, { seq, level }, published.asks);
      return;
    }
    const order = (change: OrderChange): void => {
      next(this.orders, orderKey(change.order), asPublished(change), published.orders);
    };
    for (const gone of diff.gone) order({ seq, side: null, order: gone });
    for (const bid of diff.bidOrders) order({ seq, side: 'bid', order: bid });
    for (const ask of diff.askOrders) order({ seq, side: 'ask', order: ask });
  }

  /** Takes over all changes of `other` newer than `seq`. `other` must not change meanwhile. */
  *mergeInSteps(other: Changes, seq: number): Steps<void> {
    this.revert = firstReverted(this.revert, other.revert);
    yield* takeNewer(this.bids, other.bids, seq);
    yield* takeNewer(this.asks, other.asks, seq);
    yield* takeNewer(this.orders, other.orders, seq);
  }

  clear(): void {
    this.bids.clear();
    this.asks.clear();
    this.orders.clear();
    this.revert = null;
  }

  /** Entries of a diff for a client with the whole book. `hasCause`: with the causes of orders. */
  body(hasCause = false): Body {
    if (this.kind === 'l2') {
      const entries = (changes: ReadonlyMap<number, LevelChange>): string[] =>
        Array.from(changes.values()).flatMap(({ level, isNew }) =>
          isNew && isEmptyLevel(level) ? [] : [levelEntry(level)],
        );
      return { bids: entries(this.bids), asks: entries(this.asks), gone: null };
    }
    const body = { bids: [] as string[], asks: [] as string[], gone: [] as string[] };
    for (const change of this.orders.values()) {
      if (change.side === null) {
        if (!change.isNew) body.gone.push(goneOrderEntry(change.order, hasCause));
      } else body[change.side === 'bid' ? 'bids' : 'asks'].push(orderEntry(change.order, hasCause));
    }
    return body;
  }

  #order(change: OrderChange): void {
    newest(this.orders, orderKey(change.order), asPublished(change));
  }
}

/** An order without size is not published: it counts as gone. */
function asPublished(change: OrderChange): OrderChange {
  const { seq, side, order } = change;
  return side !== null && order.size <= 0n ? { seq, side: null, order } : change;
}

function* takeNewer<K, T extends { readonly seq: number }>(
  map: Map<K, T>,
  other: ReadonlyMap<K, T>,
  seq: number,
): Steps<void> {
  let count = 0;
  for (const [key, change] of other) {
    if (change.seq > seq) newest(map, key, change);
    count += 1;
    if (count % MERGE_STEP_CHANGES === 0) yield;
  }
}

function newest<K, T extends { readonly seq: number }>(map: Map<K, T>, key: K, change: T): void {
  const known = map.get(key);
  if (known === undefined || known.seq <= change.seq) map.set(key, change);
}

function next<K, T extends Change>(map: Map<K, T>, key: K, change: T, published: ReadonlySet<K>): void {
  const known = map.get(key);
  const isNew = known ? known.isNew === true : !published.has(key);
  map.set(key, isNew ? { ...change, isNew } : change);
}
