// The book of a market exactly as it was published at an earlier slot, from snapshots and changes in `views.book`.
// A rebuild reads from the newest snapshot at or before the slot: at most about 150 slots of one partition.

import type { EventLog, LogRecord } from '../../platform/index.ts';
import {
  type BookViewDiff,
  type BookViewSnapshot,
  decodeMessage,
  type MarketView,
  marketKey,
  partitionOf,
  TOPICS,
} from '../../schemas/index.ts';
import { OrderbookError } from '../errors.ts';
import { l2Json, l3Json } from './bodies.ts';
import type { BookReader } from './book-reader.ts';
import { PublishedBook } from './published-book.ts';
import { SnapshotPlaces } from './slot-history/places.ts';
import { PublishTimes } from './slot-history/publish-times.ts';
import { Busy, WorkQueue } from './slot-history/queue.ts';

/** Rebuilds under way at once, and requests that may wait for one. */
const AT_ONCE = 2;
const WAITING_MAX = 64;
/** Rebuilt books kept for the next request, and how many orders they may hold together (about 300 bytes each). */
const KEPT_BOOKS = 16;
const KEPT_ORDERS = 200_000;
const PAGE_RECORDS = 1_000;
const SLOT = /^\d{1,15}$/;

interface Rebuilt {
  readonly book: PublishedBook;
  readonly symbol: string;
  readonly l2: Map<number, string>;
  l3: string | null;
}

/**
 * A `slot` parameter as a number. Throws OrderbookError when it is no whole number, or when the quotes of the past are
 * asked for, which are not kept.
 */
export function requestedSlot(text: string, includeIndicative: boolean): number {
  if (!SLOT.test(text)) throw new OrderbookError('slotMalformed');
  if (includeIndicative) throw new OrderbookError('slotIndicative');
  return Number(text);
}

export class SlotHistory {
  readonly #log: EventLog;
  readonly #reader: BookReader;
  readonly #places: SnapshotPlaces;
  readonly #times = new PublishTimes();
  readonly #queue = new WorkQueue(AT_ONCE, WAITING_MAX);
  /** Oldest use first. */
  readonly #kept = new Map<string, Promise<Rebuilt>>();
  readonly #orders = new Map<string, number>();

  constructor(log: EventLog, reader: BookReader) {
    this.#log = log;
    this.#reader = reader;
    this.#places = new SnapshotPlaces(log, () => reader.now());
    reader.onRecord(({ key, message }) => this.#times.note(key, message.slot, reader.now()));
  }

  /**
   * The body of /l2 as it was after the last change at or before the slot; `depth` levels per side. Rejects with an
   * OrderbookError: slotAhead, slotGone, slotBusy.
   */
  async l2(market: MarketView, slot: number, depth: number): Promise<string> {
    if (this.#isNow(market, slot)) return this.#reader.bodies.l2(market, depth, false);
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
    const now = this.#isNow(market, slot) ? this.#reader.bodies.l3(market, false) : null;
    if (now !== null) return now;
    const rebuilt = await this.#at(market, slot);
    rebuilt.l3 ??= l3Json(rebuilt.book, market);
    return rebuilt.l3;
  }

  /** True when nothing newer than the slot was published of the market. Throws OrderbookError for a slot not reached. */
  #isNow(market: MarketView, slot: number): boolean {
    const newest = this.#reader.newestSlot;
    if (newest === null || slot > newest) {
      throw new OrderbookError('slotAhead', newest === null ? undefined : `; the newest is ${newest}`);
    }
    const book = this.#reader.book(market);
    return book !== null && book.head.slot <= slot;
  }

  async #at(market: MarketView, slot: number): Promise<Rebuilt> {
    const key = marketKey(market);
    const name = `${key}/${slot}`;
    const known = this.#kept.get(name);
    const found = known && (await known.catch(() => null));
    if (found && found.symbol === market.symbol) {
      this.#use(name, Promise.resolve(found), found);
      return found;
    }
    const rebuilding = this.#rebuild(market, key, slot);
    this.#kept.set(name, rebuilding);
    try {
      const rebuilt = await rebuilding;
      this.#use(name, rebuilding, rebuilt);
      return rebuilt;
    } catch (error) {
      if (this.#kept.get(name) === rebuilding) this.#kept.delete(name);
      if (error instanceof Busy) throw new OrderbookError('slotBusy');
      throw error;
    }
  }

  /** Puts a book behind all others and lets go of what is too much. */
  #use(name: string, rebuilding: Promise<Rebuilt>, { book }: Rebuilt): void {
    this.#kept.delete(name);
    this.#kept.set(name, rebuilding);
    this.#orders.set(name, book.view.orderCount);
    let orders = 0;
    for (const count of this.#orders.values()) orders += count;
    for (const oldest of this.#orders.keys()) {
      if (oldest === name || (this.#orders.size <= KEPT_BOOKS && orders <= KEPT_ORDERS)) break;
      orders -= this.#orders.get(oldest) ?? 0;
      this.#orders.delete(oldest);
      this.#kept.delete(oldest);
    }
  }

  #rebuild(market: MarketView, key: string, slot: number): Promise<Rebuilt> {
    return this.#queue.run(async () => {
      const place = await this.#places.at(key, slot);
      if (!place) throw await this.#gone(key, null);
      const book = new PublishedBook();
      let first: number | null = null;
      for await (const message of this.#messages(key, place.offset)) {
        first ??= message.slot;
        if (message.slot > slot) break;
        book.take(message, this.#times.at(key, message.slot));
      }
      // Nothing is said of a book with a hole in it.
      if (book.version === 0 || book.view.isStale) throw await this.#gone(key, first);
      return { book, symbol: market.symbol, l2: new Map(), l3: null };
    });
  }

  async *#messages(key: string, from: bigint): AsyncGenerator<BookViewDiff | BookViewSnapshot> {
    const partition = partitionOf(TOPICS.bookViews, key);
    for (let next = from; ; ) {
      const records = await this.#log.read(TOPICS.bookViews, partition, next, PAGE_RECORDS);
      const last = records.at(-1);
      if (!last) return;
      for (const record of records) {
        const message = record.key === key ? bookMessage(record) : null;
        if (message) yield message;
      }
      next = last.offset + 1n;
    }
  }

  async #gone(key: string, first: number | null): Promise<OrderbookError> {
    const earliest = (await this.#places.oldest(key))?.slot ?? first;
    return new OrderbookError(
      'slotGone',
      earliest === null ? undefined : `; the earliest slot available is ${earliest}`,
    );
  }
}

/** Null for a record that cannot be read; the book then has a hole until its next snapshot. */
function bookMessage({ value }: LogRecord): BookViewDiff | BookViewSnapshot | null {
  try {
    const message = decodeMessage(value);
    return message.name === 'BookViewDiff' || message.name === 'BookViewSnapshot' ? message.value : null;
  } catch {
    return null;
  }
}
