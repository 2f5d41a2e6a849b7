// Splits long work into slices of a millisecond, one per turn of the event loop, so that urgent work does not wait.

/** Length of a slice, milliseconds. */
const SLICE_MS = 1;

/** Runs queued work in order. All of it shares one slice per turn of the event loop. */
export class SlicedWork {
  readonly #clock: () => number;
  /** End of this turn's slice. */
  #untilMs = Number.NEGATIVE_INFINITY;
  #last: Promise<unknown> = Promise.resolve();

  /** `clock`: monotonic milliseconds. */
  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock;
  }

  /**
   * Resolves with the steps' result after all earlier work. Resolves with null when `isWanted`, called before each slice,
   * returns false. Rejects with a step's error; later work continues.
   */
  run<T>(steps: Generator<void, T>, isWanted: () => boolean = () => true): Promise<T | null> {
    const work = this.#last.then(() => this.#drive(steps, isWanted));
    this.#last = work.catch(() => {});
    return work;
  }

  /** Settles when all queued work is done or dropped. */
  async idle(): Promise<void> {
    await this.#last;
  }

  async #drive<T>(steps: Generator<void, T>, isWanted: () => boolean): Promise<T | null> {
    for (;;) {
      // The next work uses the rest of the slice.
      if (this.#clock() >= this.#untilMs) {
        await nextTurn();
        this.#untilMs = this.#clock() + SLICE_MS;
      }
      if (!isWanted()) return null;
      do {
        const step = steps.next();
        if (step.done === true) return step.value;
      } while (this.#clock() < this.#untilMs);
    }
  }
}

/** Limit of one turn of the event loop for all work that callers wait for, milliseconds. */
const HURRIED_MS = 2;
/** Works of `inTurns` under way. They share a turn, so a short one ends soon beside any number of long ones. */
let hurried = 0;

/** Runs work at once, one slice per turn of the loop. Code that runs between slices must not change its data. */
export async function inTurns<T>(steps: Generator<void, T>, clock: () => number = () => performance.now()): Promise<T> {
  hurried += 1;
  try {
    for (;;) {
      const untilMs = clock() + HURRIED_MS / hurried;
      do {
        const step = steps.next();
        if (step.done === true) return step.value;
      } while (clock() < untilMs);
      await nextTurn();
    }
  } finally {
    hurried -= 1;
  }
}

/** For asynchronous loops: call `rest` at each safe point; it lets the event loop run when the slice is over. */
export class Pace {
  readonly #clock: () => number;
  #untilMs: number;

  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock;
    this.#untilMs = clock() + SLICE_MS;
  }

  /** Whether the slice is over. */
  get isDue(): boolean {
    return this.#clock() >= this.#untilMs;
  }

  /** Resolves at once while the slice lasts. */
  async rest(): Promise<void> {
    if (!this.isDue) return;
    await nextTurn();
    this.#untilMs = this.#clock() + SLICE_MS;
  }
}

/** Resolves in the next turn of the event loop. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
