// A token bucket: a burst at once, then a steady rate.

const SECOND_MS = 1000;

export interface Rate {
  /** Tokens of a full bucket. */
  readonly burst: number;
  /** Tokens regained each second. */
  readonly perSecond: number;
}

export class TokenBucket {
  readonly #rate: Rate;
  #tokens: number;
  #atMs = 0;

  constructor(rate: Rate) {
    this.#rate = rate;
    this.#tokens = rate.burst;
  }

  /** True when at least `amount` tokens are left. `nowMs` is monotonic. */
  has(amount: number, nowMs: number): boolean {
    this.#refill(nowMs);
    return this.#tokens >= amount;
  }

  /** Removes `cost` tokens, also below zero; false when there were fewer. */
  spend(cost: number, nowMs: number): boolean {
    this.#refill(nowMs);
    this.#tokens -= cost;
    return this.#tokens >= 0;
  }

  /** Removes one token if there is one. Unlike `spend` it never goes below zero. */
  take(nowMs: number): boolean {
    if (!this.has(1, nowMs)) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Milliseconds until one token is there; 0 when one is. */
  waitMs(nowMs: number): number {
    this.#refill(nowMs);
    return (Math.max(0, 1 - this.#tokens) / this.#rate.perSecond) * SECOND_MS;
  }

  #refill(nowMs: number): void {
    const { burst, perSecond } = this.#rate;
    this.#tokens = Math.min(burst, this.#tokens + ((nowMs - this.#atMs) / SECOND_MS) * perSecond);
    this.#atMs = nowMs;
  }
}
