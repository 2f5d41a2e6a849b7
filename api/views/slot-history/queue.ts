// Runs a few tasks at once and lets a bounded number wait. A crowd costs time, not memory.

export class QueueFullError extends Error {
  override readonly name = 'QueueFullError';
}

export class WorkQueue {
  readonly #atOnce: number;
  readonly #waitingMax: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(atOnce: number, waitingMax: number) {
    this.#atOnce = atOnce;
    this.#waitingMax = waitingMax;
  }

  /** Runs `work` when its turn comes. Rejects with QueueFullError when too many wait already. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#atOnce) {
      if (this.#waiting.length >= this.#waitingMax) throw new QueueFullError('too many tasks are waiting');
      // The task that ends passes its place on, so `running` stays the same.
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else this.#running += 1;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running -= 1;
    }
  }
}
