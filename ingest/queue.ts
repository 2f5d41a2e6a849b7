// Passes updates from event handlers to one reader in batches, and reports when the reader falls too far behind.

import { nextTurn } from '../platform/index.ts';
import { packed } from './packed-update.ts';
import type { SourceUpdate } from './source.ts';

/** Account updates beyond so many wait packed: 100,000 user accounts in some 100 MB instead of 450, for some microseconds each. */
const PLAIN_MAX = 4_096;

export class UpdateQueue {
  readonly #limit: number;
  #pending: SourceUpdate[] = [];
  #wake: (() => void) | null = null;
  #ended = false;
  #failure: unknown = null;
  #drained: (() => void)[] = [];
  /** Whether the source was asked to pause since the reader took the last batch. */
  #askedPause = false;

  /** `limit` is the number of waiting updates at which the queue is full. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get isFull(): boolean {
    return this.#pending.length >= this.#limit;
  }

  /**
   * Whether the source should pause until the queue is drained. Packing the queue and reading on meanwhile would take more time
   * than the reader has left. True once for each batch: when the reader stands still, updates wait here.
   */
  asksForPause(): boolean {
    if (this.#askedPause || this.#pending.length < PLAIN_MAX) return false;
    this.#askedPause = true;
    return true;
  }

  /** True when nobody takes further updates. */
  get hasEnded(): boolean {
    return this.#ended;
  }

  push(update: SourceUpdate): void {
    const isMany = this.#pending.length >= PLAIN_MAX;
    this.#pending.push(isMany && update.kind === 'account' ? packed(update) : update);
    this.#notify();
  }

  /** Resolves when the queue is empty or has ended. */
  drained(): Promise<void> {
    if (this.#pending.length === 0 || this.#ended) return Promise.resolve();
    return new Promise((resolve) => this.#drained.push(resolve));
  }

  /** Ends the queue. The reader receives the waiting updates, then the end or the failure. */
  end(failure: unknown = null): void {
    this.#ended = true;
    this.#failure ??= failure;
    this.#notify();
    this.#release();
  }

  /** Yields everything that arrived since the last batch. */
  async *batches(): AsyncGenerator<readonly SourceUpdate[]> {
    while (true) {
      if (this.#pending.length > 0) {
        const batch = this.#pending;
        this.#pending = [];
        this.#askedPause = false;
        this.#release();
        yield batch;
        // A full queue must not keep the event loop from its turn.
        await nextTurn();
      } else if (this.#ended) {
        if (this.#failure !== null) throw this.#failure;
        return;
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        // Updates of one turn of the event loop belong to one batch.
        await nextTurn();
      }
    }
  }

  #notify(): void {
    this.#wake?.();
    this.#wake = null;
  }

  #release(): void {
    for (const resolve of this.#drained) resolve();
    this.#drained = [];
  }
}
