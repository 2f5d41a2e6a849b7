// Shared clocks of the conflated streams: one timer per conflation, running only while a stream waits for it. Ticks lie at
// multiples of the conflation. The first change after a quiet tick does not wait for the next one.

import { FIRST_CHANGE_WAIT_MS } from './limits.ts';

interface PendingTick<T> {
  readonly items: Set<T>;
  readonly timer: NodeJS.Timeout;
}

export class Ticks<T> {
  readonly #flush: (items: ReadonlySet<T>) => void;
  readonly #clock: () => number;
  readonly #pending = new Map<number, PendingTick<T>>();
  /** Number of the last tick with items, by conflation, counted from 0 of the clock. */
  readonly #lastTick = new Map<number, number>();

  /** `flush` gets the items of one tick; `clock` gives monotonic milliseconds. */
  constructor(flush: (items: ReadonlySet<T>) => void, clock: () => number) {
    this.#flush = flush;
    this.#clock = clock;
  }

  /** Adds an item to the next tick; repeating changes nothing. */
  add(item: T, intervalMs: number): void {
    const pending = this.#pending.get(intervalMs);
    if (pending) {
      pending.items.add(item);
      return;
    }
    const nowMs = this.#clock();
    const current = Math.floor(nowMs / intervalMs);
    const last = this.#lastTick.get(intervalMs) ?? -1;
    const tick = last < current ? current : last + 1;
    // Rounded up: timers cut off fractions and would fire before the boundary.
    const waitMs = tick === current ? FIRST_CHANGE_WAIT_MS : Math.ceil(tick * intervalMs - nowMs);
    const timer = setTimeout(() => this.#tick(intervalMs, tick), waitMs);
    this.#pending.set(intervalMs, { items: new Set([item]), timer });
  }

  stop(): void {
    for (const { timer } of this.#pending.values()) clearTimeout(timer);
    this.#pending.clear();
  }

  #tick(intervalMs: number, tick: number): void {
    // A timer may fire slightly before its boundary, or more than a tick late.
    this.#lastTick.set(intervalMs, Math.max(tick, Math.floor(this.#clock() / intervalMs)));
    const pending = this.#pending.get(intervalMs);
    this.#pending.delete(intervalMs);
    if (pending) this.#flush(pending.items);
  }
}
