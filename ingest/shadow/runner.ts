// Runs the shadow check beside the stream: reads accounts at an interval, follows the book role's comparisons, and reports
// results to log, metrics and quality. Most reads cover the changes since the last one.

import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { Counter } from 'prom-client';
import { type EventLog, followTopic, type LogBatch, type Logger } from '../../platform/index.ts';
import { marketKey, readableMessage, TOPICS } from '../../schemas/index.ts';
import { type AccountsRead, type AccountsWanted, RESUME_MARGIN_SLOTS, type Source } from '../source.ts';
import type { ShadowCheck, ShadowStep } from './check.ts';
import type { IngestQuality } from './quality.ts';

/** Time between two reads on the grid, as a multiple of the last read's own time: a slow node is not read all the time. */
const REST_TIMES = 2;
/** Time between a comparison and the next read on the grid, as a multiple of the comparison's own time: 5 % of one core. */
const COMPARISON_REST_TIMES = 19;
/** Partial reads between two reads of all accounts, which alone find accounts that closed or appeared unseen: five minutes. */
export const PARTIAL_READS_MAX = 29;
/** Slots by which a partial read overlaps the one before: answers of two nodes differ by less (RESUME_MARGIN_SLOTS). */
const OVERLAP_SLOTS = RESUME_MARGIN_SLOTS;
/** Accounts of a read by keys: 20 requests. */
const KEYS_PER_READ = 2_000;
/** Source name of the quality rows that the book role writes. */
const BOOK_SOURCE = 'book';
const POLL_MS = 100;

export interface ShadowParts {
  readonly check: ShadowCheck;
  readonly source: Source;
  readonly log: EventLog;
  readonly logger: Logger;
  readonly quality: IngestQuality;
  readonly differences: Counter<'market'>;
  readonly checks: Counter;
  /** Milliseconds between the starts of two reads. */
  readonly everyMs: number;
  readonly signal: AbortSignal;
  /** Replaced in tests. */
  readonly clock?: ShadowClock;
}

export interface ShadowClock {
  /** Monotonic milliseconds. */
  now(): number;
  /** False when the signal aborted. */
  pause(ms: number, signal: AbortSignal): Promise<boolean>;
}

const CLOCK: ShadowClock = {
  now: () => performance.now(),
  pause: (ms, signal) => delay(ms, true, { signal, ref: false }).catch(() => false),
};

export class ShadowRunner {
  readonly #parts: ShadowParts;
  readonly #clock: ShadowClock;
  #isReading = false;
  #readAgain = false;
  /** No read on the grid begins before this time. */
  #restToMs = 0;
  /** Time of the running comparison so far. */
  #compareMs = 0;
  /** Slot of the last read without an open question; null before it. */
  #comparedSlot: number | null = null;
  #partialReads = 0;
  /** A read of all accounts found a difference: another one must confirm it. */
  #isWholeWanted = false;

  constructor(parts: ShadowParts) {
    this.#parts = parts;
    this.#clock = parts.clock ?? CLOCK;
  }

  /** Runs until the signal aborts. No failure here stops ingest. */
  async run(): Promise<void> {
    await Promise.all([this.#readOnGrid(), this.#readAtOnce(), this.#compare(), this.#followBooks()]);
  }

  /** See ShadowCheck.advance; also reports the result. */
  advance(slot: number): ShadowStep | null {
    const step = this.#parts.check.advance(slot);
    if (step === null) return null;
    if (step.readAgain) this.#readAgain = true;
    if (step.read !== null) this.#compared(step.read, step.readAgain);
    const { report } = step;
    if (report === null) return step;
    const { logger, quality, differences, checks } = this.#parts;
    quality.compared(report);
    // A series that starts at zero shows its first difference as an increase.
    for (const market of report.markets) differences.inc({ market: marketKey(market) }, 0);
    if (!step.readAgain && report.markets.length > 0) checks.inc();
    if (report.repaired.size === 0 && report.differences.length > 0) {
      logger.warn({ slot, accounts: report.differences }, 'shadow check: accounts repaired, no book affected');
    }
    for (const [market, found] of report.repaired) {
      // The book role counts and logs its own findings.
      if (found === 'accounts') differences.inc({ market });
      const accounts = report.differences.filter(
        ({ changes, books }) =>
          changes.some((one) => one.endsWith(` ${market}`)) || books.some((book) => book.market === market),
      );
      logger.error({ market, slot, found, accounts }, 'shadow check: a book is repaired');
    }
    return step;
  }

  #compared({ slot, isWhole }: AccountsRead, readAgain: boolean): void {
    this.#isWholeWanted = readAgain && isWhole;
    if (!readAgain) this.#comparedSlot = slot;
    this.#restToMs = Math.max(this.#restToMs, this.#clock.now() + this.#compareMs * COMPARISON_REST_TIMES);
    this.#compareMs = 0;
  }

  /** The accounts of the next read; undefined: all accounts. */
  #wanted(): AccountsWanted | undefined {
    const { check } = this.#parts;
    const isDue = this.#isWholeWanted || check.needsRead || this.#partialReads >= PARTIAL_READS_MAX;
    if (this.#comparedSlot === null || isDue) return undefined;
    return {
      changedSince: Math.max(0, this.#comparedSlot - OVERLAP_SLOTS),
      keys: () => check.nextKeys(KEYS_PER_READ),
    };
  }

  /** Starts reads on a fixed grid, even while an earlier read waits for its comparison. */
  async #readOnGrid(): Promise<void> {
    const { everyMs, signal } = this.#parts;
    let nextMs = this.#clock.now() + everyMs;
    while (await this.#pause(nextMs - this.#clock.now())) {
      if (this.#clock.now() >= this.#restToMs) void this.#read(signal);
      // A delayed loop continues with the next point of the grid.
      const lateMs = this.#clock.now() - nextMs;
      nextMs += everyMs * (1 + Math.max(0, Math.floor(lateMs / everyMs)));
    }
  }

  /** Reads without waiting for the grid, to confirm a difference or to repair a book. */
  async #readAtOnce(): Promise<void> {
    const { check, signal } = this.#parts;
    while (await this.#pause(POLL_MS)) {
      if (!(this.#readAgain || check.needsRead) || check.isBusy || this.#isReading) continue;
      this.#readAgain = false;
      await this.#read(signal);
    }
  }

  /** Compares in slices, between which the stream continues. */
  async #compare(): Promise<void> {
    const { check } = this.#parts;
    while (await this.#pause(POLL_MS)) {
      try {
        while (this.#timed(() => check.step())) await nextTurn();
      } catch (error) {
        this.#parts.logger.error({ err: error }, 'shadow check: a comparison failed');
      }
    }
  }

  #timed(step: () => boolean): boolean {
    const startMs = this.#clock.now();
    const goesOn = step();
    this.#compareMs += this.#clock.now() - startMs;
    return goesOn;
  }

  async #read(signal: AbortSignal): Promise<void> {
    const { source, check, logger } = this.#parts;
    if (!source.accounts) return;
    if (this.#isReading || !check.hasRoom) {
      logger.warn({ isReading: this.#isReading }, 'shadow check: a read is still running, this one is skipped');
      return;
    }
    this.#isReading = true;
    const startMs = this.#clock.now();
    try {
      const read = await source.accounts(signal, this.#wanted());
      this.#partialReads = read.isWhole ? 0 : this.#partialReads + 1;
      check.take(read);
    } catch (error) {
      if (!signal.aborted) logger.warn({ err: error }, 'shadow check: accounts not read');
    } finally {
      this.#isReading = false;
      const endMs = this.#clock.now();
      this.#restToMs = endMs + (endMs - startMs) * REST_TIMES;
    }
  }

  /** Follows the book role's comparison results, starting with the next one. */
  async #followBooks(): Promise<void> {
    const { log, signal, logger } = this.#parts;
    const onLogFailure = (error: unknown) =>
      logger.warn({ err: error }, 'shadow check: results of the book role not received');
    const from = new Map([[0, 'latest' as const]]);
    const take = (batch: LogBatch) => this.#takeBooks(batch);
    await followTopic({ log, topic: TOPICS.qualityViews, from, take, onLogFailure }, signal);
  }

  #takeBooks({ records }: LogBatch): void {
    const { check } = this.#parts;
    for (const { value } of records) {
      const quality = readableMessage('FeedQuality', value);
      if (quality?.source !== BOOK_SOURCE) continue;
      const { checkResult, checkSlot } = quality;
      if (checkResult === 'differs') check.requestRepair(marketKey(quality), checkSlot);
      else if (checkResult === 'equal') check.confirmMatch(marketKey(quality), checkSlot);
    }
  }

  /** False when the signal aborted. */
  async #pause(ms: number): Promise<boolean> {
    const { signal } = this.#parts;
    if (signal.aborted) return false;
    return this.#clock.pause(Math.max(0, ms), signal);
  }
}
