// Which parts of the history are complete: what is not built yet is refused, never answered with an empty list.

import { HistoryError } from '../errors.ts';
import type { HistoryStore } from './store.ts';

/** What the sinks report as built: events of the program, candles, samples of markets, states of vaults. */
export type ProjectionName = 'events' | 'candles' | 'samples' | 'vaults';

/** How long an answer of the store counts, milliseconds. */
const FRESH_MS = 1_000;

export class Projections {
  readonly #store: HistoryStore;
  readonly #nowMs: () => number;
  #built: ReadonlySet<string> = new Set();
  #readMs = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | null = null;

  constructor(store: HistoryStore, nowMs: () => number = () => performance.now()) {
    this.#store = store;
    this.#nowMs = nowMs;
  }

  /** Throws HistoryError: notBuilt when one of the projections is not, storeAway when the store cannot be asked. */
  async require(...names: readonly ProjectionName[]): Promise<void> {
    if (this.#nowMs() - this.#readMs >= FRESH_MS) await this.#read();
    if (!names.every((name) => this.#built.has(name))) throw new HistoryError('notBuilt');
  }

  /** One question at a time: requests that come together share its answer. */
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
