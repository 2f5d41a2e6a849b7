// Writes quote sets to the log. During an append a newer set of the same maker and market replaces the waiting one, so a slow
// log costs freshness, not memory.

import type { EventLog, Logger } from '../../../platform/index.ts';
import { QUOTE_FRESH_MS } from '../../../processors/book/index.ts';
import { encodeMessage, type MakerQuotes, marketKey, TOPICS } from '../../../schemas/index.ts';
import { MAX_WAITING_SETS, SETS_PER_APPEND } from './limits.ts';

/** The end of a set: in the log; a newer one took its place; it grew too old to count; the log refused it. */
export type QuoteOutcome = 'written' | 'superseded' | 'lapsed' | 'notStored';

interface WaitingSet {
  readonly quotes: MakerQuotes;
  readonly settle: (outcome: QuoteOutcome) => void;
}

export interface QuoteWriterOptions {
  readonly log: EventLog;
  readonly logger: Logger;
  /** Wall clock, milliseconds. */
  readonly clock: () => number;
}

export class QuoteWriter {
  readonly #options: QuoteWriterOptions;
  /** By maker and market. */
  readonly #waiting = new Map<string, WaitingSet>();
  #writing: Promise<void> | null = null;

  constructor(options: QuoteWriterOptions) {
    this.#options = options;
  }

  /** Queues a set; false when too many wait. `settle` gets the outcome of a queued one, unless the writer stops first. */
  put(quotes: MakerQuotes, settle: (outcome: QuoteOutcome) => void = () => {}): boolean {
    const name = `${Buffer.from(quotes.maker).toString('latin1')}/${marketKey(quotes)}`;
    if (this.#waiting.size >= MAX_WAITING_SETS && !this.#waiting.has(name)) return false;
    this.#waiting.get(name)?.settle('superseded');
    this.#waiting.set(name, { quotes, settle });
    this.#writing ??= this.#write().finally(() => {
      this.#writing = null;
    });
    return true;
  }

  /** Drops waiting sets; resolves after the current append. */
  async stop(): Promise<void> {
    this.#waiting.clear();
    await this.#writing;
  }

  async #write(): Promise<void> {
    const { log, logger } = this.#options;
    // Sets that arrive in the same turn share one append.
    await Promise.resolve();
    while (this.#waiting.size > 0) {
      const next = this.#next();
      const records = next.map(({ quotes }) => ({
        key: marketKey(quotes),
        value: encodeMessage('MakerQuotes', quotes),
      }));
      if (records.length === 0) continue;
      let outcome: QuoteOutcome = 'notStored';
      try {
        await log.append(TOPICS.quotes, records);
        outcome = 'written';
      } catch (error) {
        logger.warn({ sets: records.length, error: String(error) }, 'quotes not written');
      }
      for (const { settle } of next) settle(outcome);
    }
  }

  /** Up to SETS_PER_APPEND sets, without sets that have lapsed while waiting. */
  #next(): WaitingSet[] {
    const tooOldMs = this.#options.clock() - QUOTE_FRESH_MS;
    const next: WaitingSet[] = [];
    for (const [name, waiting] of this.#waiting) {
      if (next.length >= SETS_PER_APPEND) break;
      this.#waiting.delete(name);
      if (waiting.quotes.receivedAtMs > tooOldMs) next.push(waiting);
      else waiting.settle('lapsed');
    }
    return next;
  }
}
