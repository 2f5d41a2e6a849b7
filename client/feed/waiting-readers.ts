// The iterators of a subscription, each with its unread items.

import { Waiter } from './waiter.ts';

interface Reader<T> {
  waiting: T[];
  readonly waiter: Waiter;
}

export class WaitingReaders<T> {
  readonly #readers = new Set<Reader<T>>();
  #isClosed = false;

  /** Ends every iterator. */
  close(): void {
    this.#isClosed = true;
    for (const { waiter } of this.#readers) waiter.wake();
  }

  /** Gives what `first` returns at the first step, then everything that follows. */
  async *iterate(first: () => readonly T[]): AsyncGenerator<T, void, undefined> {
    const reader: Reader<T> = { waiting: [...first()], waiter: new Waiter() };
    this.#readers.add(reader);
    try {
      while (!this.#isClosed) {
        const next = reader.waiting.shift();
        if (next === undefined) await reader.waiter.wait();
        else yield next;
      }
    } finally {
      this.#readers.delete(reader);
    }
  }

  /** Adds an item for each reader. `shorten` gets the items of a reader that has more than `max`, and returns those that stay. */
  put(item: T, max: number, shorten: (waiting: T[]) => T[]): void {
    for (const reader of this.#readers) {
      reader.waiting.push(item);
      if (reader.waiting.length > max) reader.waiting = shorten(reader.waiting);
      reader.waiter.wake();
    }
  }
}
