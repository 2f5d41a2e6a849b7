// Spreads what a slot sends over the time of the slot, as a node does that sends while it executes. The simulated chain makes a block
// at once.

const TICK_MS = 1;

interface Call {
  readonly run: () => void;
  readonly isSpaced: boolean;
}

export class Pace {
  readonly #slotMs: number;
  #waiting: Call[] = [];
  /** Spaced calls among those that wait. */
  #spaced = 0;
  #perMs = 0;
  #due = 0;
  #atMs = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(slotMs: number) {
    this.#slotMs = slotMs;
  }

  /** Calls in order. `isSpaced`: evenly over a slot, whose time what is left of the slot before shares; otherwise at once, after what waits. */
  add(calls: readonly (() => void)[], isSpaced: boolean): void {
    this.#waiting.push(...calls.map((run) => ({ run, isSpaced })));
    if (isSpaced) {
      this.#spaced += calls.length;
      this.#perMs = this.#spaced / this.#slotMs;
    }
    if (this.#timer !== null) return;
    this.#atMs = performance.now();
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#waiting = [];
    this.#spaced = 0;
    this.#due = 0;
  }

  #tick(): void {
    const nowMs = performance.now();
    this.#due += (nowMs - this.#atMs) * this.#perMs;
    this.#atMs = nowMs;
    let count = 0;
    for (const { isSpaced } of this.#waiting) {
      if (isSpaced && this.#due < 1) break;
      if (isSpaced) {
        this.#due -= 1;
        this.#spaced -= 1;
      }
      count += 1;
    }
    for (const { run } of this.#waiting.splice(0, count)) run();
    if (this.#waiting.length === 0) this.stop();
  }
}
