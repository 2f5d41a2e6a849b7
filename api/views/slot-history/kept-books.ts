// Rebuilt books kept for the next request: those used last, within a number of books and of orders in them.

interface Kept<T> {
  readonly value: T;
  readonly orders: number;
}

export class KeptBooks<T> {
  readonly #booksMax: number;
  readonly #ordersMax: number;
  /** Oldest use first. */
  readonly #kept = new Map<string, Kept<T>>();
  #orders = 0;

  constructor(booksMax: number, ordersMax: number) {
    this.#booksMax = booksMax;
    this.#ordersMax = ordersMax;
  }

  /** Counts as a use. */
  get(name: string): T | undefined {
    const kept = this.#kept.get(name);
    if (!kept) return undefined;
    this.#kept.delete(name);
    this.#kept.set(name, kept);
    return kept.value;
  }

  /** Keeps what was not known by this name, and lets go of the oldest uses that are too much beside it. */
  add(name: string, value: T, orders: number): void {
    this.#kept.set(name, { value, orders });
    this.#orders += orders;
    for (const [oldest, kept] of this.#kept) {
      if (oldest === name || (this.#kept.size <= this.#booksMax && this.#orders <= this.#ordersMax)) break;
      this.#kept.delete(oldest);
      this.#orders -= kept.orders;
    }
  }
}
