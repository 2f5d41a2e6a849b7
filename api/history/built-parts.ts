// Which parts of the history are complete. The service refuses a part that is not built; it never answers with an empty list.

import { HistoryError } from '../http/errors.ts';
import type { HistoryStore } from './store.ts';

/** Parts that the sinks report as built: program events, candles, market samples, vault states, notifications. */
export type HistoryPart = 'events' | 'candles' | 'samples' | 'vaults' | 'notifications' | 'notificationMarks';

/** How long an answer of the store stays valid. */
const FRESH_MS = 1_000;

export class BuiltParts {
  readonly #store: HistoryStore;
  readonly #nowMs: () => number;
  #built: ReadonlySet<string> = new Set();
  #readMs = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | null = null;

  constructor(store: HistoryStore, nowMs: () => number = () => performance.now()) {
    this.#store = store;
    this.#nowMs = nowMs;
  }

  /** Throws HistoryError: notBuilt when one of the parts is not built, storeAway when the store does not answer. */
  async require(...names: readonly HistoryPart[]): Promise<void> {
    if (this.#nowMs() - this.#readMs >= FRESH_MS) await this.#read();
    if (!names.every((name) => this.#built.has(name))) throw new HistoryError('notBuilt');
  }

  /** Runs one query at a time; concurrent requests share its answer. */
  #read(): Promise<void> {
    this.#reading ??= this.#ask().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  async #ask(): Promise<void> {
    const rows = await this.#store.rows<{ name: string }>('SELECT DISTINCT name FROM {db:Identifier}.projection', {});
    this.#built = new Set(rows.map(({ name }) => name));
    this.#readMs = this.#nowMs();
  }
}
