// Long work a little at a time: each piece a moment in a turn of the loop, so that nothing urgent waits for all of it.

/** How long work goes on in a turn of the loop, milliseconds. */
const SLICE_MS = 1;

/** Does one piece of work after another: however many wait, they share one slice of each turn. */
export class SlicedWork {
  readonly #clock: () => number;
  /** Until when this turn's slice lasts. */
  #untilMs = Number.NEGATIVE_INFINITY;
  #last: Promise<unknown> = Promise.resolve();

  /** `clock`: monotonic milliseconds. */
  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock;
  }

  /**
   * What the steps return, when the work before them is done; null when nobody wants it any more, which is asked before each
   * slice. Rejects with what a step throws; later work goes on all the same.
   */
  run<T>(steps: Generator<void, T>, isWanted: () => boolean = () => true): Promise<T | null> {
    const work = this.#last.then(() => this.#drive(steps, isWanted));
    this.#last = work.catch(() => {});
    return work;
  }

  /** Settles when all work given so far is done or was dropped. */
  async idle(): Promise<void> {
    await this.#last;
  }

  async #drive<T>(steps: Generator<void, T>, isWanted: () => boolean): Promise<T | null> {
    for (;;) {
      // Work that follows goes on in what is left of the slice.
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

/** How long work that others wait for goes on before it lets the loop have a turn, milliseconds. */
const HURRIED_SLICE_MS = 2;

/** Does work now, a slice in each turn. What it yields to may not touch what the work is on. */
export async function inTurns<T>(steps: Generator<void, T>, clock: () => number = () => performance.now()): Promise<T> {
  for (;;) {
    const untilMs = clock() + HURRIED_SLICE_MS;
    do {
      const step = steps.next();
      if (step.done === true) return step.value;
    } while (clock() < untilMs);
    await nextTurn();
  }
}

/** For work that waits now and then anyway: told where it may rest, it lets the loop have a turn when its slice is over. */
export class Pace {
  readonly #clock: () => number;
  #untilMs: number;

  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock;
    this.#untilMs = clock() + SLICE_MS;
  }

  /** Resolves at once while the slice lasts. */
  async rest(): Promise<void> {
    if (this.#clock() < this.#untilMs) return;
    await nextTurn();
    this.#untilMs = this.#clock() + SLICE_MS;
  }
}

/** Resolves in the next turn of the loop. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
