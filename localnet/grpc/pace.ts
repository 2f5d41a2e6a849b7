// Spreads what a slot sends over the time of the slot, as a node does that sends while it executes. The simulated chain makes a block
// at once.

const TICK_MS = 1;

export class Pace {
  readonly #slotMs: number;
  #waiting: (() => void)[] = [];
  #perMs = 0;
  #due = 0;
  #atMs = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(slotMs: number) {
    this.#slotMs = slotMs;
  }

  /** Calls in order, evenly over a slot. What is left of the slot before shares its time. */
  add(calls: readonly (() => void)[]): void {
    this.#waiting.push(...calls);
    this.#perMs = this.#waiting.length / this.#slotMs;
    if (this.#timer !== null) return;
    this.#atMs = performance.now();
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#waiting = [];
  }

  #tick(): void {
    const nowMs = performance.now();
    this.#due += (nowMs - this.#atMs) * this.#perMs;
    this.#atMs = nowMs;
    const count = Math.min(this.#waiting.length, Math.floor(this.#due));
    this.#due -= count;
    for (const call of this.#waiting.splice(0, count)) call();
    if (this.#waiting.length === 0) {
      this.#due = 0;
      this.stop();
    }
  }
}
