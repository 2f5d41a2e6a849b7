// The book of a market as published at an earlier slot, rebuilt from snapshots and changes in `views.book`.
// A rebuild starts at the newest snapshot at or before the slot and reads at most about 150 slots of one partition.

import { LRUCache } from 'lru-cache';
import type { EventLog } from '../../platform/index.ts';
import { type MarketView, marketKey } from '../../schemas/index.ts';
import { OrderbookError } from '../http/errors.ts';
import { l2Json, l3Json } from './bodies.ts';
import type { BookReader } from './book-reader.ts';
import type { PublishedBook } from './published-book.ts';
import { PublishTimes } from './slot-history/publish-times.ts';
import { QueueFullError, WorkQueue } from './slot-history/queue.ts';
import { bookAt, earliestOffset, earliestSlot } from './slot-history/replay.ts';
import { SnapshotOffsets } from './slot-history/snapshot-offsets.ts';

/** Concurrent rebuilds, and requests that may wait for one. */
const AT_ONCE = 2;
const WAITING_MAX = 64;
/** Bounds of the cache: books, and orders in all of them (about 300 bytes each). A larger book is not cached. */
const CACHED_BOOKS = 16;
const CACHED_ORDERS = 200_000;
/** A request for the unfinished slot waits this long (about two slots) for its end; and the number of such requests. */
const COMPLETE_WAIT_MS = 1_000;
const COMPLETE_WAITING_MAX = 256;

interface Rebuilt {
  readonly book: PublishedBook;
  readonly l2: Map<number, string>;
  readonly l3: Map<boolean, string>;
}

export class SlotHistory {
  readonly #log: EventLog;
  readonly #reader: BookReader;
  readonly #snapshots: SnapshotOffsets;
  readonly #times = new PublishTimes();
  readonly #queue = new WorkQueue(AT_ONCE, WAITING_MAX);
  readonly #cache = new LRUCache<string, Rebuilt>({
    max: CACHED_BOOKS,
    maxSize: CACHED_ORDERS,
    sizeCalculation: ({ book }) => Math.max(1, book.view.orderCount),
  });
  readonly #rebuilding = new Map<string, Promise<Rebuilt>>();
  /** Earliest slot by market key, valid while the log begins at this offset. */
  readonly #earliest = new Map<string, { readonly offset: bigint; readonly slot: number }>();
  #waiting = 0;

  constructor(log: EventLog, reader: BookReader) {
    this.#log = log;
    this.#reader = reader;
    this.#snapshots = new SnapshotOffsets(log, () => reader.now());
    // The publish time of records from before the start is unknown.
    reader.onRecord(({ key, message }) => {
      const book = reader.isBehind(key) ? null : reader.bookByKey(key);
      if (book) this.#times.note(key, message.slot, book.publishedAtMs);
    });
  }

  /**
   * The /l2 body after the last change at or before the slot, with `depth` levels per side. Waits shortly for the end of an
   * unfinished slot. Rejects with an OrderbookError: slotAhead, slotGone, slotBusy.
   */
  async l2(market: MarketView, slot: number, depth: number): Promise<string> {
    const rebuilt = await this.#at(market, slot);
    let json = rebuilt.l2.get(depth);
    if (json === undefined) {
      json = l2Json(rebuilt.book, market, rebuilt.book.view.l2(depth));
      rebuilt.l2.set(depth, json);
    }
    return json;
  }

  /** The /l3 body, if asked with the causes of orders; otherwise like `l2`. */
  async l3(market: MarketView, slot: number, hasCause = false): Promise<string> {
    const rebuilt = await this.#at(market, slot);
    const json = rebuilt.l3.get(hasCause) ?? l3Json(rebuilt.book, market, hasCause);
    rebuilt.l3.set(hasCause, json);
    return json;
  }

  async #at(market: MarketView, slot: number): Promise<Rebuilt> {
    const key = marketKey(market);
    await this.#complete(key, slot);
    const name = `${key}/${slot}/${market.symbol}`;
    const known = this.#cache.get(name) ?? this.#rebuilding.get(name);
    if (known) return known;
    const rebuilding = this.#rebuild(key, slot, name);
    this.#rebuilding.set(name, rebuilding);
    return rebuilding;
  }

  /**
   * Resolves when the log contains a later slot of this market, which completes the slot. Rejects with slotAhead when none
   * arrives, and with slotGone when the market was never published.
   */
  async #complete(key: string, slot: number): Promise<void> {
    const reader = this.#reader;
    const isComplete = () => slot < (reader.receivedSlot(key) ?? 0);
    if (isComplete()) return;
    if (slot <= (reader.newestSlot ?? -1) && this.#waiting < COMPLETE_WAITING_MAX) {
      if (reader.receivedSlot(key) === null && reader.ready) throw new OrderbookError('slotGone');
      this.#waiting += 1;
      await new Promise<void>((resolve) => {
        const end = () => {
          clearTimeout(timer);
          unsubscribe();
          resolve();
        };
        const timer = setTimeout(end, COMPLETE_WAIT_MS);
        const unsubscribe = reader.onChange(() => {
          if (isComplete()) end();
        });
      });
      this.#waiting -= 1;
    }
    if (!isComplete()) throw this.#ahead(key);
  }

  async #rebuild(key: string, slot: number, name: string): Promise<Rebuilt> {
    try {
      return await this.#queue.run(async () => {
        const from = await this.#snapshots.at(key, slot);
        const book = await bookAt(this.#log, key, { slot, from, times: this.#times });
        if (book === 'ahead') throw this.#ahead(key);
        if (book === 'gone') throw await this.#gone(key);
        const rebuilt: Rebuilt = { book, l2: new Map(), l3: new Map() };
        this.#cache.set(name, rebuilt);
        return rebuilt;
      });
    } catch (error) {
      throw error instanceof QueueFullError ? new OrderbookError('slotBusy') : error;
    } finally {
      this.#rebuilding.delete(name);
    }
  }

  #ahead(key: string): OrderbookError {
    const slot = this.#reader.receivedSlot(key);
    return new OrderbookError('slotAhead', slot === null ? undefined : `; the newest complete slot is ${slot - 1}`);
  }

  async #gone(key: string): Promise<OrderbookError> {
    const offset = await earliestOffset(this.#log, key);
    const known = this.#earliest.get(key);
    const slot = known?.offset === offset ? known.slot : await earliestSlot(this.#log, key);
    if (slot !== null) this.#earliest.set(key, { offset, slot });
    return new OrderbookError('slotGone', slot === null ? undefined : `; the earliest slot available is ${slot}`);
  }
}
