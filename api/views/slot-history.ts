// The book of a market exactly as it was published at an earlier slot, from snapshots and changes in `views.book`.
// A rebuild reads from the newest snapshot at or before the slot: at most about 150 slots of one partition.

import type { EventLog } from '../../platform/index.ts';
import { type MarketView, marketKey } from '../../schemas/index.ts';
import { OrderbookError } from '../errors.ts';
import { l2Json, l3Json } from './bodies.ts';
import type { BookReader } from './book-reader.ts';
import type { PublishedBook } from './published-book.ts';
import { KeptBooks } from './slot-history/kept-books.ts';
import { SnapshotPlaces } from './slot-history/places.ts';
import { PublishTimes } from './slot-history/publish-times.ts';
import { Busy, WorkQueue } from './slot-history/queue.ts';
import { bookAt, earliestOffset, earliestSlot } from './slot-history/replay.ts';

/** Rebuilds under way at once, and requests that may wait for one. */
const AT_ONCE = 2;
const WAITING_MAX = 64;
/** Rebuilt books kept for the next request, and how many orders they may hold together (about 300 bytes each). */
const KEPT_BOOKS = 16;
const KEPT_ORDERS = 200_000;
/** How long a request for the slot that is under way waits for its end (about two slots), and how many may. */
const COMPLETE_WAIT_MS = 1_000;
const COMPLETE_WAITING_MAX = 256;

interface Rebuilt {
  readonly book: PublishedBook;
  readonly l2: Map<number, string>;
  l3: string | null;
}

export class SlotHistory {
  readonly #log: EventLog;
  readonly #reader: BookReader;
  readonly #places: SnapshotPlaces;
  readonly #times = new PublishTimes();
  readonly #queue = new WorkQueue(AT_ONCE, WAITING_MAX);
  readonly #kept = new KeptBooks<Rebuilt>(KEPT_BOOKS, KEPT_ORDERS);
  readonly #rebuilding = new Map<string, Promise<Rebuilt>>();
  /** Earliest slot by market key, true as long as the log begins at this offset. */
  readonly #earliest = new Map<string, { readonly offset: bigint; readonly slot: number }>();
  #waiting = 0;

  constructor(log: EventLog, reader: BookReader) {
    this.#log = log;
    this.#reader = reader;
    this.#places = new SnapshotPlaces(log, () => reader.now());
    // What was published before this process began to listen has no time that it could tell.
    reader.onRecord(({ key, message }) => {
      const book = reader.isBehind(key) ? null : reader.bookByKey(key);
      if (book) this.#times.note(key, message.slot, book.publishedAtMs);
    });
  }

  /**
   * The body of /l2 as it was after the last change at or before the slot; `depth` levels per side. A slot that is under
   * way is waited for shortly. Rejects with an OrderbookError: slotAhead, slotGone, slotBusy.
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

  /** As `l2`, for the body of /l3. */
  async l3(market: MarketView, slot: number): Promise<string> {
    const rebuilt = await this.#at(market, slot);
    rebuilt.l3 ??= l3Json(rebuilt.book, market);
    return rebuilt.l3;
  }

  async #at(market: MarketView, slot: number): Promise<Rebuilt> {
    const key = marketKey(market);
    await this.#complete(key, slot);
    const name = `${key}/${slot}/${market.symbol}`;
    const known = this.#kept.get(name) ?? this.#rebuilding.get(name);
    if (known) return known;
    const rebuilding = this.#rebuild(key, slot, name);
    this.#rebuilding.set(name, rebuilding);
    return rebuilding;
  }

  /**
   * Resolves when something of a later slot of this market is in the log, which ends the slot. Rejects with slotAhead
   * when that does not come, slotGone when nothing of the market was ever published.
   */
  async #complete(key: string, slot: number): Promise<void> {
    const reader = this.#reader;
    const isComplete = () => slot < (reader.heardSlot(key) ?? 0);
    if (isComplete()) return;
    if (slot <= (reader.newestSlot ?? -1) && this.#waiting < COMPLETE_WAITING_MAX) {
      if (reader.heardSlot(key) === null && reader.ready) throw new OrderbookError('slotGone');
      this.#waiting += 1;
      await new Promise<void>((resolve) => {
        const end = () => {
          clearTimeout(timer);
          unlisten();
          resolve();
        };
        const timer = setTimeout(end, COMPLETE_WAIT_MS);
        const unlisten = reader.onChange(() => {
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
        const from = await this.#places.at(key, slot);
        const book = await bookAt(this.#log, key, { slot, from, times: this.#times });
        if (book === 'ahead') throw this.#ahead(key);
        if (book === 'gone') throw await this.#gone(key);
        const rebuilt = { book, l2: new Map(), l3: null };
        this.#kept.add(name, rebuilt, book.view.orderCount);
        return rebuilt;
      });
    } catch (error) {
      throw error instanceof Busy ? new OrderbookError('slotBusy') : error;
    } finally {
      this.#rebuilding.delete(name);
    }
  }

  #ahead(key: string): OrderbookError {
    const heard = this.#reader.heardSlot(key);
    return new OrderbookError('slotAhead', heard === null ? undefined : `; the newest complete slot is ${heard - 1}`);
  }

  async #gone(key: string): Promise<OrderbookError> {
    const offset = await earliestOffset(this.#log, key);
    const known = this.#earliest.get(key);
    const slot = known?.offset === offset ? known.slot : await earliestSlot(this.#log, key);
    if (slot !== null) this.#earliest.set(key, { offset, slot });
    return new OrderbookError('slotGone', slot === null ? undefined : `; the earliest slot available is ${slot}`);
  }
}
