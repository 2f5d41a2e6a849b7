// How long writing goes on in a turn of the loop, so that what is more urgent goes out between: a time and not a count,
// because a book of 100 bytes and one of 60,000 are not written equally fast.

import { WRITES_A_LOOK, WRITING_SLICE_MS } from './limits.ts';

/** Monotonic milliseconds. */
export type Clock = () => number;

export class WritingTurn {
  readonly #clock: Clock;
  readonly #untilMs: number;
  #writes = 0;

  /** Begins now. */
  constructor(clock: Clock) {
    this.#clock = clock;
    this.#untilMs = clock() + WRITING_SLICE_MS;
  }

  /** To be called after each write: true when the rest has to wait for the next turn. */
  isOver(): boolean {
    this.#writes += 1;
    return this.#writes % WRITES_A_LOOK === 0 && this.#clock() >= this.#untilMs;
  }
}
