// Shared clocks of the conflated streams: one timer per conflation, running only while something waits for it. Ticks lie
// at multiples of the conflation, so that streams of equal conflation leave together. What comes after a tick that brought
// nothing does not wait for the next one.

import { GATHER_MS } from './limits.ts';

interface Waiting<T> {
  readonly items: Set<T>;
  readonly timer: NodeJS.Timeout;
}

export class Ticks<T> {
  readonly #flush: (items: ReadonlySet<T>) => void;
  readonly #clock: () => number;
  readonly #waiting = new Map<number, Waiting<T>>();
  /** Number of the last tick that brought something, by conflation, in conflations since the clock began. */
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
    const current = Math.floor(nowMs / intervalMs);
    const told = this.#told.get(intervalMs) ?? -1;
    const tick = told < current ? current : told + 1;
    // A fraction of a millisecond would be cut off, and the tick come before its boundary.
    const waitMs = tick === current ? GATHER_MS : Math.ceil(tick * intervalMs - nowMs);
    const timer = setTimeout(() => this.#tick(intervalMs, tick), waitMs);
    this.#waiting.set(intervalMs, { items: new Set([item]), timer });
  }

  stop(): void {
    for (const { timer } of this.#waiting.values()) clearTimeout(timer);
    this.#waiting.clear();
  }

  #tick(intervalMs: number, tick: number): void {
    // A timer may fire a moment early: its boundary counts as over all the same. It may also be late by more than a tick.
    this.#told.set(intervalMs, Math.max(tick, Math.floor(this.#clock() / intervalMs)));
    const waiting = this.#waiting.get(intervalMs);
    this.#waiting.delete(intervalMs);
    if (waiting) this.#flush(waiting.items);
  }
}
