// How much of something a client may do at once and for ever (a token bucket).

const SECOND_MS = 1000;

export interface Rate {
  /** At once. */
  readonly burst: number;
  /** For ever. */
  readonly perSecond: number;
}

export class Allowance {
  readonly #rate: Rate;
  #left: number;
  #atMs = 0;

  constructor(rate: Rate) {
    this.#rate = rate;
    this.#left = rate.burst;
  }

  /** True while so much is left. `nowMs` is monotonic. */
  has(amount: number, nowMs: number): boolean {
    this.#regain(nowMs);
    return this.#left >= amount;
  }

  /** Takes `cost` away; false when that is more than was left. */
  spend(cost: number, nowMs: number): boolean {
    this.#regain(nowMs);
    this.#left -= cost;
    return this.#left >= 0;
  }

  /** Takes one if there is one; unlike with `spend` nothing is owed for what was not there. */
  take(nowMs: number): boolean {
    if (!this.has(1, nowMs)) return false;
    this.#left -= 1;
    return true;
  }

  #regain(nowMs: number): void {
    const { burst, perSecond } = this.#rate;
    this.#left = Math.min(burst, this.#left + ((nowMs - this.#atMs) / SECOND_MS) * perSecond);
    this.#atMs = nowMs;
  }
}
