// Hands updates from event handlers to one reader in batches, and says when the reader has fallen too far behind.

import type { SourceUpdate } from './source.ts';

export class UpdateQueue {
  readonly #limit: number;
  #pending: SourceUpdate[] = [];
  #wake: (() => void) | null = null;
  #ended = false;
  #failure: unknown = null;
  #drained: (() => void)[] = [];

  /** `limit` is how many updates may wait before `isFull`. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get isFull(): boolean {
    return this.#pending.length >= this.#limit;
  }

  push(update: SourceUpdate): void {
    this.#pending.push(update);
    this.#notify();
  }

  /** Resolves when nothing waits any more, or the queue has ended. */
  drained(): Promise<void> {
    if (this.#pending.length === 0 || this.#ended) return Promise.resolve();
    return new Promise((resolve) => this.#drained.push(resolve));
  }

  /** No more updates: the reader gets what waits, then the end, or the failure when there is one. */
  end(failure: unknown = null): void {
    this.#ended = true;
    this.#failure ??= failure;
    this.#notify();
    this.#release();
  }

  /** Batches of all that came in while the reader was away. */
  async *batches(): AsyncGenerator<readonly SourceUpdate[]> {
    while (true) {
      if (this.#pending.length > 0) {
        const batch = this.#pending;
        this.#pending = [];
        this.#release();
        yield batch;
      } else if (this.#ended) {
        if (this.#failure !== null) throw this.#failure;
        return;
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
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
