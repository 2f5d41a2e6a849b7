// Shared clocks of the conflated streams: one timer per conflation, running only while something waits for it. Ticks lie
// at multiples of the conflation, so that streams of equal conflation leave together.

export class Ticks<T> {
  readonly #flush: (items: ReadonlySet<T>) => void;
  readonly #waiting = new Map<number, { readonly items: Set<T>; readonly timer: NodeJS.Timeout }>();

  /** `flush` gets what waited for one tick. */
  constructor(flush: (items: ReadonlySet<T>) => void) {
    this.#flush = flush;
  }

  /** Puts an item into the next tick; repeating changes nothing. */
  add(item: T, intervalMs: number): void {
    const waiting = this.#waiting.get(intervalMs);
    if (waiting) {
      waiting.items.add(item);
      return;
    }
    const delayMs = intervalMs - (performance.now() % intervalMs);
    const timer = setTimeout(() => this.#tick(intervalMs), delayMs);
    this.#waiting.set(intervalMs, { items: new Set([item]), timer });
  }

  stop(): void {
    for (const { timer } of this.#waiting.values()) clearTimeout(timer);
    this.#waiting.clear();
  }

  #tick(intervalMs: number): void {
    const waiting = this.#waiting.get(intervalMs);
    this.#waiting.delete(intervalMs);
    if (waiting) this.#flush(waiting.items);
  }
}
