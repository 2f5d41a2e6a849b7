// Shared clocks of the conflated streams: one timer per conflation, running only while something waits for it. Ticks lie
// at multiples of the conflation, so that streams of equal conflation leave together.

export class Ticks<T> {
  readonly #flush: (items: ReadonlySet<T>) => void;
  readonly #clock: () => number;
  readonly #waiting = new Map<number, { readonly items: Set<T>; readonly timer: NodeJS.Timeout }>();

  /** Newest boundary that was told of, by conflation, in conflations since the clock began. */
  readonly #told = new Map<number, number>();

  /** `flush` gets what waited for one tick; `clock` is in monotonic milliseconds. */
  constructor(flush: (items: ReadonlySet<T>) => void, clock: () => number) {
    this.#flush = flush;
    this.#clock = clock;
  }

  /** Puts an item into the next tick; repeating changes nothing. */
  add(item: T, intervalMs: number): void {
    const waiting = this.#waiting.get(intervalMs);
    if (waiting) {
      waiting.items.add(item);
      return;
    }
    const nowMs = this.#clock();
    // A timer may fire a moment early: its boundary counts as over all the same.
    const boundary = Math.max(Math.floor(nowMs / intervalMs), this.#told.get(intervalMs) ?? 0) + 1;
    // A fraction of a millisecond would be cut off, and the tick come before its boundary.
    const timer = setTimeout(() => this.#tick(intervalMs, boundary), Math.ceil(boundary * intervalMs - nowMs));
    this.#waiting.set(intervalMs, { items: new Set([item]), timer });
  }

  stop(): void {
    for (const { timer } of this.#waiting.values()) clearTimeout(timer);
    this.#waiting.clear();
  }

  #tick(intervalMs: number, boundary: number): void {
    this.#told.set(intervalMs, boundary);
    const waiting = this.#waiting.get(intervalMs);
    this.#waiting.delete(intervalMs);
    if (waiting) this.#flush(waiting.items);
  }
}
