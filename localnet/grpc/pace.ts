// Times of sending: a node sends the updates of a slot while it executes, spread over the time of the slot, and others at once.
// The simulated chain makes a block at once. A real node sends each stream from threads of its own, so a long run of calls at
// once leaves the event loop to the spaced ones.

const TICK_MS = 1;
/** Calls at once in one turn of the event loop: about a millisecond. */
const TURN_CALLS = 32;

type Call = () => void;

export class Pace {
  readonly #slotMs: number;
  #spaced: Call[] = [];
  #perMs = 0;
  #due = 0;
  #atMs = 0;
  #timer: NodeJS.Timeout | null = null;
  #prompt: Call[] = [];
  #turn: NodeJS.Immediate | null = null;

  constructor(slotMs: number) {
    this.#slotMs = slotMs;
  }

  /**
   * Calls in order. `isSpaced`: evenly over a slot, whose time they share with the rest of the slot before; otherwise at once.
   * Between calls of both kinds there is no order.
   */
  add(calls: readonly Call[], isSpaced: boolean): void {
    if (!isSpaced) {
      this.#prompt.push(...calls);
      this.#turn ??= setImmediate(() => this.#runPrompt());
      return;
    }
    this.#spaced.push(...calls);
    this.#perMs = this.#spaced.length / this.#slotMs;
    if (this.#timer !== null) return;
    this.#atMs = performance.now();
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  stop(): void {
    this.#rest();
    if (this.#turn !== null) clearImmediate(this.#turn);
    this.#turn = null;
    this.#prompt = [];
  }

  #tick(): void {
    const nowMs = performance.now();
    this.#due += (nowMs - this.#atMs) * this.#perMs;
    this.#atMs = nowMs;
    const count = Math.floor(this.#due);
    this.#due -= count;
    for (const run of this.#spaced.splice(0, count)) run();
    if (this.#spaced.length === 0) this.#rest();
  }

  #rest(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#spaced = [];
    this.#due = 0;
  }

  #runPrompt(): void {
    for (const run of this.#prompt.splice(0, TURN_CALLS)) run();
    this.#turn = this.#prompt.length > 0 ? setImmediate(() => this.#runPrompt()) : null;
  }
}
