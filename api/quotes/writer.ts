// Writes sets of quotes to the log. While an append is under way, a newer set of the same maker and market replaces the
// one that waits, so that a slow log costs freshness and not memory.

import type { EventLog, Logger } from '../../platform/index.ts';
import { QUOTE_FRESH_MS } from '../../processors/book/index.ts';
import { encodeMessage, type MakerQuotes, marketKey, TOPICS } from '../../schemas/index.ts';
import { MAX_WAITING_SETS, SETS_PER_APPEND } from './limits.ts';

export interface QuoteWriterOptions {
  readonly log: EventLog;
  readonly logger: Logger;
  /** Wall clock, milliseconds. */
  readonly clock: () => number;
}

export class QuoteWriter {
  readonly #options: QuoteWriterOptions;
  /** By maker and market. */
  readonly #waiting = new Map<string, MakerQuotes>();
  #writing: Promise<void> | null = null;

  constructor(options: QuoteWriterOptions) {
    this.#options = options;
  }

  /** Takes a set in; false when too many wait. */
  put(quotes: MakerQuotes): boolean {
    const name = `${Buffer.from(quotes.maker).toString('latin1')}/${marketKey(quotes)}`;
    if (this.#waiting.size >= MAX_WAITING_SETS && !this.#waiting.has(name)) return false;
    this.#waiting.set(name, quotes);
    this.#writing ??= this.#write().finally(() => {
      this.#writing = null;
    });
    return true;
  }

  /** Resolves when nothing is being written any more; what still waits is dropped. */
  async stop(): Promise<void> {
    this.#waiting.clear();
    await this.#writing;
  }

  async #write(): Promise<void> {
    const { log, logger } = this.#options;
    // The sets that came in the same turn go together.
    await Promise.resolve();
    while (this.#waiting.size > 0) {
      const records = this.#next().map((quotes) => ({
        key: marketKey(quotes),
        value: encodeMessage('MakerQuotes', quotes),
      }));
      if (records.length === 0) continue;
      try {
        await log.append(TOPICS.quotes, records);
      } catch (error) {
        logger.warn({ sets: records.length, error: String(error) }, 'quotes not written');
      }
    }
  }

  /** Up to SETS_PER_APPEND sets, without those that would come too late for anybody. */
  #next(): MakerQuotes[] {
    const tooOldMs = this.#options.clock() - QUOTE_FRESH_MS;
    const next: MakerQuotes[] = [];
    for (const [name, quotes] of this.#waiting) {
      if (next.length >= SETS_PER_APPEND) break;
      this.#waiting.delete(name);
      if (quotes.receivedAtMs > tooOldMs) next.push(quotes);
    }
    return next;
  }
}
