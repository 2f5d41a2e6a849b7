// Runs the shadow check beside the stream: reads all accounts now and then, hears which books differ, and puts what a
// turn found into words for log, metrics and quality.

import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { Counter } from 'prom-client';
import type { EventLog, Logger } from '../../platform/index.ts';
import { decodeMessage, marketKey, TOPICS } from '../../schemas/index.ts';
import type { Source } from '../source.ts';
import type { ShadowCheck, ShadowTurn } from './check.ts';
import type { IngestQuality } from './quality.ts';

/** Source of the rows in which the book role tells its comparisons. */
const BOOK_SOURCE = 'book';
const POLL_MS = 100;
const FOLLOW_AGAIN_MS = 1_000;

export interface ShadowParts {
  readonly check: ShadowCheck;
  readonly source: Source;
  readonly log: EventLog;
  readonly logger: Logger;
  readonly quality: IngestQuality;
  readonly differences: Counter<'market'>;
  readonly checks: Counter;
  /** Milliseconds from the beginning of one comparison to that of the next. */
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

  constructor(parts: ShadowParts) {
    this.#parts = parts;
    this.#clock = parts.clock ?? CLOCK;
  }

  /** Begins; settles when the signal aborts. Nothing that fails here stops ingest. */
  async run(): Promise<void> {
    await Promise.all([this.#readOnGrid(), this.#readAtOnce(), this.#compare(), this.#hearOfBooks()]);
  }

  /** See ShadowCheck.turn; tells what was found. */
  turn(slot: number): ShadowTurn | null {
    const turn = this.#parts.check.turn(slot);
    if (turn === null) return null;
    if (turn.readAgain) this.#readAgain = true;
    const { report } = turn;
    if (report === null) return turn;
    const { logger, quality, differences, checks } = this.#parts;
    quality.compared(report);
    // From zero, so that the first difference is an increase.
    for (const market of report.markets) differences.inc({ market: marketKey(market) }, 0);
    if (!turn.readAgain && report.markets.length > 0) checks.inc();
    if (report.repaired.size === 0 && report.differences.length > 0) {
      logger.warn({ slot, accounts: report.differences }, 'shadow check: accounts put right, no book was concerned');
    }
    for (const [market, found] of report.repaired) {
      // The book role has counted and logged what it found itself.
      if (found === 'accounts') differences.inc({ market });
      const accounts = report.differences.filter(
        ({ changes, books }) =>
          changes.some((one) => one.endsWith(` ${market}`)) || books.some((book) => book.market === market),
      );
      logger.error({ market, slot, found, accounts }, 'shadow check: a book is put right');
    }
    return turn;
  }

  /** Reads begin on a grid of their own, whatever the one before still waits for. */
  async #readOnGrid(): Promise<void> {
    const { everyMs, signal } = this.#parts;
    let nextMs = this.#clock.now() + everyMs;
    while (await this.#pause(nextMs - this.#clock.now())) {
      void this.#read(signal);
      // A loop that was held up goes on with the next point of the grid.
      const lateMs = this.#clock.now() - nextMs;
      nextMs += everyMs * (1 + Math.max(0, Math.floor(lateMs / everyMs)));
    }
  }

  /** A difference that must be confirmed, or a book that is to be put right, does not wait for the grid. */
  async #readAtOnce(): Promise<void> {
    const { check, signal } = this.#parts;
    while (await this.#pause(POLL_MS)) {
      if (!(this.#readAgain || check.wantsRead) || check.isBusy || this.#isReading) continue;
      this.#readAgain = false;
      await this.#read(signal);
    }
  }

  /** Compares in slices, between which the stream gets its turns. */
  async #compare(): Promise<void> {
    const { check } = this.#parts;
    while (await this.#pause(POLL_MS)) {
      try {
        while (check.step()) await nextTurn();
      } catch (error) {
        this.#parts.logger.error({ err: error }, 'shadow check: a comparison failed');
      }
    }
  }

  async #read(signal: AbortSignal): Promise<void> {
    const { source, check, logger } = this.#parts;
    if (!source.accounts) return;
    if (this.#isReading || !check.hasRoom) {
      logger.warn({ isReading: this.#isReading }, 'shadow check: the one before is not done, this one is left out');
      return;
    }
    this.#isReading = true;
    try {
      check.take(await source.accounts(signal));
    } catch (error) {
      if (!signal.aborted) logger.warn({ err: error }, 'shadow check: accounts not read');
    } finally {
      this.#isReading = false;
    }
  }

  /** Follows what the book role says of its comparisons, from now on. */
  async #hearOfBooks(): Promise<void> {
    const { log, check, signal, logger } = this.#parts;
    while (!signal.aborted) {
      try {
        const from = new Map([[0, 'latest' as const]]);
        for await (const { records } of log.follow({ topic: TOPICS.qualityViews, from, signal })) {
          for (const { value } of records) {
            const message = decodeMessage(value);
            if (message.name !== 'FeedQuality' || message.value.source !== BOOK_SOURCE) continue;
            const { checkResult, checkSlot } = message.value;
            if (checkResult === 'differs') check.wish(marketKey(message.value), checkSlot);
            else if (checkResult === 'equal') check.stood(marketKey(message.value), checkSlot);
          }
        }
      } catch (error) {
        if (signal.aborted) return;
        logger.warn({ err: error }, 'shadow check: what books say cannot be heard');
        await this.#pause(FOLLOW_AGAIN_MS);
      }
    }
  }

  /** False when the signal aborted. */
  async #pause(ms: number): Promise<boolean> {
    const { signal } = this.#parts;
    if (signal.aborted) return false;
    return this.#clock.pause(Math.max(0, ms), signal);
  }
}
