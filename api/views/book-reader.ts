// Keeps the book of every market for REST and the gateway: follows `views.markets` and `views.book`, and reports which books
// changed.

import { Counter } from 'prom-client';
import {
  type Config,
  type EventLog,
  type LogBatch,
  type Logger,
  type LogRecord,
  type MarketFilter,
  marketFilter,
  Pace,
  type Registry,
  SlicedWork,
  TopicFollower,
} from '../../platform/index.ts';
import { BOOK_GROUP, newestSnapshots, type PublishedDifference, type Steps } from '../../processors/book/index.ts';
import {
  type BookViewDiff,
  type BookViewHead,
  type BookViewSnapshot,
  bookViewHead,
  decodeMessage,
  type MarketRef,
  marketKey,
  messageName,
  partitionOf,
  TOPICS,
} from '../../schemas/index.ts';
import { greatest, least } from '../http/units.ts';
import type { ServedBook } from './bodies.ts';
import { CatchUp, followAlways } from './follow.ts';
import { BookBodies } from './indicative-bodies.ts';
import { IndicativeQuotes } from './indicative-quotes.ts';
import { MarketFollower } from './market-follower.ts';
import { PublishedBook } from './published-book.ts';
import { preferredMakers } from './quote-makers.ts';
import type { MarketRegistry } from './registry.ts';
import { registerSlotMetrics } from './slot-metrics.ts';

export type BookListener = (marketKeys: ReadonlySet<string>) => void;

/** A message that just changed a book, with its log record. */
export interface AppliedRecord {
  readonly key: string;
  readonly message: BookViewDiff | BookViewSnapshot;
  readonly bytes: Uint8Array;
  /** In the market's partition of `views.book`. */
  readonly offset: bigint;
}
export type RecordListener = (record: AppliedRecord) => void;

export interface ReaderOptions {
  readonly log: EventLog;
  readonly logger: Logger;
  readonly metrics: Registry;
  readonly config: Pick<Config, 'quoteMakers' | 'perpMarketsToLoad' | 'spotMarketsToLoad'>;
  /** Wall clock, milliseconds. Dates publications and measures the staleness of the slot. */
  readonly clock?: () => number;
}

export class BookReader {
  /** Indicative quotes of market makers. Plain books never contain them. */
  readonly indicative: IndicativeQuotes;
  /** REST bodies of these books, rendered once per change. */
  readonly bodies = new BookBodies(this);
  readonly #isServed: MarketFilter;
  readonly #markets: MarketFollower;
  readonly #options: ReaderOptions;
  readonly #clock: () => number;
  readonly #books = new Map<string, PublishedBook>();
  readonly #listeners = new Set<BookListener>();
  readonly #recordListeners = new Set<RecordListener>();
  readonly #follower = new TopicFollower();
  readonly #catchUp = new CatchUp();
  /** Runs comparisons with snapshots in slices. */
  readonly #comparing = new SlicedWork();
  readonly #unreadable: Counter;
  readonly #gaps: Counter;
  readonly #differences: Counter<'market'>;
  #newestSlot: number | null = null;
  #slotAdvancedAtMs: number;

  constructor(options: ReaderOptions) {
    this.#options = options;
    this.#isServed = marketFilter(options.config);
    this.#markets = new MarketFollower({ ...options, isServed: this.#isServed });
    this.#clock = options.clock ?? Date.now;
    this.indicative = new IndicativeQuotes({
      ...options,
      clock: this.#clock,
      isPreferred: preferredMakers(options.config.quoteMakers),
    });
    this.#slotAdvancedAtMs = this.#clock();
    this.#unreadable = new Counter({
      name: 'slotbook_reader_unreadable_records_total',
      help: 'Records of view topics that this reader could not decode',
      registers: [options.metrics],
    });
    this.#gaps = new Counter({
      name: 'slotbook_reader_gaps_total',
      help: 'Holes found in the sequence of a published book',
      registers: [options.metrics],
    });
    this.#differences = new Counter({
      name: 'slotbook_reader_differences_total',
      help: 'Differences found between a book kept from changes and a published snapshot of it',
      labelNames: ['market'],
      registers: [options.metrics],
    });
    registerSlotMetrics(options.metrics, this.markets, (key) => this.bookByKey(key)?.head ?? null);
  }

  /** Reads the registry, finds the newest snapshots and starts to follow. Resolves before the books have caught up. */
  async start(): Promise<void> {
    await this.#markets.start();
    await this.#options.log.ensureTopics([TOPICS.bookViews]);
    const from = await this.#bookStart();
    await this.indicative.start();
    const { log, logger } = this.#options;
    const take = (batch: LogBatch): Promise<void> => this.#applyBatch(batch);
    followAlways(this.#follower, { log, logger, topic: TOPICS.bookViews, from, take });
  }

  /** Settles when following ends. Rejects when a book fails to apply a message. */
  get done(): Promise<void> {
    const all = Promise.all([this.#markets.done, this.indicative.done, this.#follower.done]).then(() => undefined);
    all.catch(() => {}); // As in `TopicFollower.done`.
    return all;
  }

  async stop(): Promise<void> {
    await Promise.all([this.#markets.stop(), this.indicative.stop(), this.#follower.stop()]);
  }

  /** The markets of the exchange. */
  get markets(): MarketRegistry {
    return this.#markets.registry;
  }

  /** The published book of a market; null before its first message. */
  book(market: MarketRef): PublishedBook | null {
    return this.bookByKey(marketKey(market));
  }

  /** `book` by market key. */
  bookByKey(key: string): PublishedBook | null {
    const book = this.#books.get(key);
    return book && book.version > 0 ? book : null;
  }

  /** Newest slot of any message of a market, applied or not; null before the first. */
  receivedSlot(key: string): number | null {
    return this.#books.get(key)?.receivedSlot ?? null;
  }

  /** True until the reader has passed the end that the market's partition had at the start. */
  isBehind(key: string): boolean {
    return this.#catchUp.isBehind(partitionOf(TOPICS.bookViews, key));
  }

  /** The book for a client, optionally with the present indicative quotes; null before its first message. */
  served(market: MarketRef, includeIndicative: boolean): ServedBook | null {
    const book = this.book(market);
    return book && includeIndicative ? this.indicative.over(marketKey(market), book) : book;
  }

  /** Newest slot of any published book; null before the first. */
  get newestSlot(): number | null {
    return this.#newestSlot;
  }

  /**
   * Newest slot of the book that is furthest behind; null before the first. Every book publishes every slot. A book with a
   * hole in its sequence counts by its newest message.
   */
  get oldestBookSlot(): number | null {
    let oldest: number | null = null;
    for (const { receivedSlot } of this.#books.values()) {
      if (receivedSlot >= 0) oldest = Math.min(oldest ?? receivedSlot, receivedSlot);
    }
    return oldest;
  }

  /** Wall-clock milliseconds at which the newest slot arrived, or at which the reader was created. */
  get slotAdvancedAtMs(): number {
    return this.#slotAdvancedAtMs;
  }

  /**
   * True once a slot is known and everything published before the start is read, including quotes. The book role must also
   * have loaded every market completely.
   */
  get ready(): boolean {
    if (this.#newestSlot === null || !this.#catchUp.isDone || !this.indicative.ready) return false;
    for (const key of this.#books.keys()) if (!this.markets.isLoaded(key)) return false;
    return true;
  }

  /** Wall clock of this reader, milliseconds. */
  now(): number {
    return this.#clock();
  }

  /** Calls `listener` after each batch that changed books. Returns a function that unsubscribes. */
  onChange(listener: BookListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Calls `listener` after each message that changed a book, before the next message. Returns a function that unsubscribes. */
  onRecord(listener: RecordListener): () => void {
    this.#recordListeners.add(listener);
    return () => this.#recordListeners.delete(listener);
  }

  /**
   * First offset to read in each partition: the oldest of its markets' newest snapshots, or the earliest record while one
   * of the markets has no snapshot.
   */
  async #bookStart(): Promise<Map<number, bigint>> {
    const { log } = this.#options;
    const { state } = await log.load(BOOK_GROUP, 'reader');
    const snapshots = newestSnapshots(state);
    for (const market of this.markets.list()) {
      const key = marketKey(market);
      if (!snapshots.has(key)) snapshots.set(key, 0n);
    }
    const oldest = new Map<number, bigint>();
    for (const [key, offset] of snapshots) {
      const partition = partitionOf(TOPICS.bookViews, key);
      oldest.set(partition, least(offset, oldest.get(partition) ?? offset));
    }
    const partitions: { partition: number; from: bigint; next: bigint }[] = [];
    for (let partition = 0; partition < TOPICS.bookViews.partitions; partition += 1) {
      const { earliest, next } = await log.bounds(TOPICS.bookViews, partition);
      partitions.push({ partition, from: least(greatest(oldest.get(partition) ?? earliest, earliest), next), next });
    }
    this.#catchUp.begin(partitions);
    return new Map(partitions.map(({ partition, from }) => [partition, from]));
  }

  /** A long batch is applied in parts, each with its own change, so that other books do not wait for all of it. */
  async #applyBatch(batch: LogBatch): Promise<void> {
    const { partition, records } = batch;
    const pace = new Pace();
    let changed = new Set<string>();
    for (const { value, offset } of records) {
      const origin = `${TOPICS.bookViews.name}/${partition}/${offset}`;
      this.#applyRecord({ value, offset }, origin, changed);
      if (!pace.isDue) continue;
      this.#announce(changed);
      changed = new Set();
      await pace.rest();
      if (this.#follower.signal.aborted) return;
    }
    this.#catchUp.advance(batch);
    this.#announce(changed);
  }

  #applyRecord({ value, offset }: Pick<LogRecord, 'value' | 'offset'>, origin: string, changed: Set<string>): void {
    const nowMs = this.#clock();
    const message = this.#isSkippable(value, origin, nowMs) ? null : this.#decode(value, origin);
    if (message?.name !== 'BookViewDiff' && message?.name !== 'BookViewSnapshot') return;
    if (!this.#applyBook(message.value, nowMs, changed) || this.#recordListeners.size === 0) return;
    const record = { key: marketKey(message.value), message: message.value, bytes: value, offset };
    for (const listener of this.#recordListeners) listener(record);
  }

  #announce(changed: ReadonlySet<string>): void {
    if (changed.size > 0) for (const listener of this.#listeners) listener(changed);
  }

  #applyBook(message: BookViewDiff | BookViewSnapshot, nowMs: number, changed: Set<string>): boolean {
    const { epoch, seq, slot } = message;
    if (!this.#isServed(message)) {
      this.#reached(slot, nowMs);
      return false;
    }
    const key = marketKey(message);
    const book = this.#books.get(key) ?? this.#newBook(key);
    const result = book.take(message, nowMs);
    if (result === 'hole') {
      this.#gaps.inc();
      this.#options.logger.warn({ market: key, epoch, seq }, 'hole in a published book');
    }
    if (result !== 'changed') return false;
    changed.add(key);
    this.#reached(slot, nowMs);
    return true;
  }

  #newBook(key: string): PublishedBook {
    const book = new PublishedBook();
    this.#books.set(key, book);
    this.#differences.inc({ market: key }, 0);
    return book;
  }

  /** True for a snapshot that needs not be decoded: of a book that is not served, or that has come as far. */
  #isSkippable(bytes: Uint8Array, origin: string, nowMs: number): boolean {
    let head: BookViewHead;
    try {
      if (messageName(bytes) !== 'BookViewSnapshot') return false;
      head = bookViewHead(bytes);
    } catch {
      return false; // `#decode` reports the reason
    }
    if (!this.#isServed(head)) {
      this.#reached(head.slot, nowMs);
      return true;
    }
    const key = marketKey(head);
    const book = this.#books.get(key);
    if (!book || book.isBehind(head)) return false;
    const steps = book.compareSnapshot(head, bytes);
    if (steps) void this.#compare(key, head, steps, origin);
    return true;
  }

  async #compare(
    key: string,
    head: BookViewHead,
    steps: Steps<PublishedDifference | null>,
    origin: string,
  ): Promise<void> {
    let difference: PublishedDifference | null;
    try {
      difference = await this.#comparing.run(steps, () => !this.#follower.signal.aborted);
    } catch (error) {
      this.#reportUnreadable(origin, error);
      return;
    }
    if (difference === null) return;
    const { epoch, seq, slot } = head;
    this.#differences.inc({ market: key });
    this.#options.logger.error({ market: key, epoch, seq, slot, ...difference }, 'a book differed from its snapshot');
    // No record listener runs: the published sequence already contains this state.
    for (const listener of this.#listeners) listener(new Set([key]));
  }

  #reached(slot: number, nowMs: number): void {
    if (this.#newestSlot !== null && slot <= this.#newestSlot) return;
    this.#newestSlot = slot;
    this.#slotAdvancedAtMs = nowMs;
  }

  #decode(bytes: Uint8Array, origin: string): ReturnType<typeof decodeMessage> | null {
    try {
      return decodeMessage(bytes);
    } catch (error) {
      this.#reportUnreadable(origin, error);
      return null;
    }
  }

  #reportUnreadable(origin: string, error: unknown): void {
    this.#unreadable.inc();
    this.#options.logger.warn({ origin, error: String(error) }, 'unreadable view record');
  }
}
