// Follows `quotes` and lays fresh quotes over published books. Makes an overlay on a read and keeps it until the book or the
// quotes change. One timer for all markets expires quotes.

import { Counter } from 'prom-client';
import { type EventLog, type LogBatch, type Logger, type Registry, TopicFollower } from '../../platform/index.ts';
import { type IsPreferred, indicativeView, QuoteBoard } from '../../processors/book/index.ts';
import { decodeMessage, type MakerQuotes, marketKey, TOPICS } from '../../schemas/index.ts';
import { greatest } from '../http/units.ts';
import type { ServedBook } from './bodies.ts';
import { CatchUp, followAlways } from './follow.ts';
import { KnownQuoters } from './indicative-quoters.ts';
import type { PublishedBook } from './published-book.ts';

/** Records read back per partition at the start: more than makers send while a quote lives, which is one second. */
const LOOKBACK_RECORDS = 2000n;
/** Shortest interval of the timer. Reads use the exact expiry. */
const LAPSE_STEP_MS = 20;

export type QuoteListener = (marketKeys: ReadonlySet<string>) => void;

export interface IndicativeOptions {
  readonly log: EventLog;
  readonly logger: Logger;
  readonly metrics: Registry;
  /** Wall clock, milliseconds. */
  readonly clock: () => number;
  readonly isPreferred: IsPreferred;
}

interface Overlay {
  readonly bookVersion: number;
  readonly quotesVersion: number;
  readonly madeAtMs: number;
  readonly untilMs: number;
  readonly served: ServedBook;
}

interface Change {
  readonly version: number;
  readonly atMs: number;
}

const UNCHANGED: Change = { version: 0, atMs: 0 };

export class IndicativeQuotes {
  /** Keys that quoted within the retention of the topic. */
  readonly quoters = new KnownQuoters();
  readonly #options: IndicativeOptions;
  readonly #board: QuoteBoard;
  readonly #overlays = new WeakMap<PublishedBook, Overlay>();
  /** Newest change of the quotes, by market key. */
  readonly #changes = new Map<string, Change>();
  readonly #listeners = new Set<QuoteListener>();
  readonly #follower = new TopicFollower();
  readonly #catchUp = new CatchUp();
  readonly #sets: Counter<'outcome'>;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: IndicativeOptions) {
    this.#options = options;
    this.#board = new QuoteBoard(options.isPreferred);
    this.#sets = new Counter({
      name: 'slotbook_indicative_sets_total',
      help: 'Sets of indicative quotes read, by outcome: changed, same, full, unreadable',
      labelNames: ['outcome'],
      registers: [options.metrics],
    });
  }

  /** Resolves once following has started. */
  async start(): Promise<void> {
    const { log, logger } = this.#options;
    await log.ensureTopics([TOPICS.quotes]);
    const partitions: { partition: number; from: bigint; next: bigint }[] = [];
    for (let partition = 0; partition < TOPICS.quotes.partitions; partition += 1) {
      const { earliest, next } = await log.bounds(TOPICS.quotes, partition);
      partitions.push({ partition, from: greatest(earliest, next - LOOKBACK_RECORDS), next });
    }
    this.#catchUp.begin(partitions);
    const from = new Map(partitions.map(({ partition, from }) => [partition, from]));
    const take = (batch: LogBatch): void => this.#take(batch);
    followAlways(this.#follower, { log, logger, topic: TOPICS.quotes, from, take });
  }

  /** True once the quotes of the look-back are read. */
  get ready(): boolean {
    return this.#catchUp.isDone;
  }

  /** Settles when following ends. */
  get done(): Promise<void> {
    return this.#follower.done;
  }

  async stop(): Promise<void> {
    await this.#follower.stop();
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    this.#listeners.clear();
  }

  /** True if a market has room for quotes of this maker now. */
  hasRoom(key: string, maker: Uint8Array): boolean {
    return this.#board.hasRoom(key, maker, this.#options.clock());
  }

  /** Calls `listener` with the markets whose quotes changed or expired. Returns a function that unsubscribes. */
  onChange(listener: QuoteListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * The book with the fresh quotes, or the book itself without any. Returns the same object until something changes, so
   * renderings can be cached by it.
   */
  over(key: string, book: PublishedBook): ServedBook {
    const nowMs = this.#options.clock();
    const change = this.#changes.get(key);
    if (!change) return book;
    const known = this.#overlays.get(book);
    if (known && isValid(known, book.version, change.version, nowMs)) return known.served;
    const sets = this.#board.fresh(key, nowMs);
    const overlay: Overlay = {
      bookVersion: book.version,
      quotesVersion: change.version,
      madeAtMs: nowMs,
      untilMs: Math.min(...sets.map(({ lapsesAtMs }) => lapsesAtMs)),
      served: serve(book, indicativeView(book.view, sets) ?? book.view, change.atMs),
    };
    this.#overlays.set(book, overlay);
    return overlay.served;
  }

  #take(batch: LogBatch): void {
    const { partition, records } = batch;
    const nowMs = this.#options.clock();
    const changed = new Set<string>();
    for (const { value, offset } of records) {
      const quotes = this.#decode(value, `${TOPICS.quotes.name}/${partition}/${offset}`);
      if (!quotes) continue;
      const key = marketKey(quotes);
      const outcome = this.#board.put(quotes, nowMs);
      this.#sets.inc({ outcome });
      if (outcome !== 'full') this.quoters.record(key, quotes.maker, Math.min(quotes.receivedAtMs, nowMs));
      if (outcome === 'changed') changed.add(key);
    }
    this.#catchUp.advance(batch);
    this.#notify(changed, nowMs);
    this.#schedule(nowMs);
  }

  #lapse(): void {
    const nowMs = this.#options.clock();
    this.#notify(this.#board.lapse(nowMs), nowMs);
    this.#schedule(nowMs);
  }

  #notify(changed: ReadonlySet<string>, nowMs: number): void {
    if (changed.size === 0) return;
    for (const key of changed) {
      this.#changes.set(key, { version: (this.#changes.get(key) ?? UNCHANGED).version + 1, atMs: nowMs });
    }
    for (const listener of this.#listeners) listener(changed);
  }

  #schedule(nowMs: number): void {
    if (this.#timer || this.#follower.signal.aborted) return;
    const next = this.#board.nextLapseMs();
    if (next === null) return;
    this.#timer = setTimeout(
      () => {
        this.#timer = null;
        this.#lapse();
      },
      Math.max(next - nowMs, LAPSE_STEP_MS),
    );
  }

  #decode(bytes: Uint8Array, origin: string): MakerQuotes | null {
    try {
      const message = decodeMessage(bytes);
      if (message.name === 'MakerQuotes') return message.value;
    } catch (error) {
      this.#options.logger.warn({ origin, error: String(error) }, 'unreadable quotes');
    }
    this.#sets.inc({ outcome: 'unreadable' });
    return null;
  }
}

function isValid(overlay: Overlay, bookVersion: number, quotesVersion: number, nowMs: number): boolean {
  return (
    overlay.bookVersion === bookVersion &&
    overlay.quotesVersion === quotesVersion &&
    nowMs >= overlay.madeAtMs &&
    nowMs < overlay.untilMs
  );
}

// `ts` is the newer of the book's publication and the change of quotes, so it never goes back.
function serve(book: PublishedBook, view: ServedBook['view'], changedAtMs: number): ServedBook {
  if (view === book.view && changedAtMs <= book.publishedAtMs) return book;
  const { version, head, publishedAtMs } = book;
  return { version, head, publishedAtMs: Math.max(publishedAtMs, changedAtMs), view };
}
