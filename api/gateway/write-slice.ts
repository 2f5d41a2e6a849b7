// Bounds the writing in one turn of the loop, so that more urgent work gets its turn. The bound is a time, not a count, because
// books of 100 and of 60,000 bytes take different times to write.

import { WRITE_SLICE_MS, WRITES_PER_CLOCK_READ } from './limits.ts';

/** Monotonic milliseconds. */
export type Clock = () => number;

export class WriteSlice {
  readonly #clock: Clock;
  readonly #untilMs: number;
  #writes = 0;

  /** The slice begins now. */
  constructor(clock: Clock) {
    this.#clock = clock;
    this.#untilMs = clock() + WRITE_SLICE_MS;
  }

  /** Call after each write: true when the rest must wait for the next turn. */
  isOver(): boolean {
    this.#writes += 1;
    return this.#writes % WRITES_PER_CLOCK_READ === 0 && this.#clock() >= this.#untilMs;
  }
}
