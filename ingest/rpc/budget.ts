// A token bucket per node: bounds the requests a second, and the share that background reads may take of them.

import { beforeAbort } from '../../platform/index.ts';
import type { Clock } from './clock.ts';

/** Share of the budget that background reads may use. */
const BACKGROUND_SHARE = 0.25;

class TokenBucket {
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #clock: Clock;
  #tokens: number;
  #filledAtMs: number;
  #queue: Promise<void> = Promise.resolve();

  constructor(perSecond: number, clock: Clock) {
    this.#perSecond = perSecond;
    this.#burst = Math.max(1, perSecond);
    this.#clock = clock;
    this.#tokens = this.#burst;
    this.#filledAtMs = clock.now();
  }

  /** Waits in order of the calls, until the signal aborts. A call above the burst size waits for a full bucket and leaves a debt. */
  take(cost: number, signal: AbortSignal): Promise<void> {
    const turn = this.#queue.then(() => this.#wait(cost, signal));
    this.#queue = turn.catch(() => {});
    return beforeAbort(turn, signal);
  }

  async #wait(cost: number, signal: AbortSignal): Promise<void> {
    const wanted = Math.min(cost, this.#burst);
    for (;;) {
      signal.throwIfAborted();
      const nowMs = this.#clock.now();
      this.#tokens = Math.min(this.#burst, this.#tokens + ((nowMs - this.#filledAtMs) * this.#perSecond) / 1000);
      this.#filledAtMs = nowMs;
      if (this.#tokens >= wanted) break;
      await this.#clock.wait(Math.ceil(((wanted - this.#tokens) * 1000) / this.#perSecond), signal);
    }
    this.#tokens -= cost;
  }
}

export class RequestBudget {
  readonly #all: TokenBucket | null;
  readonly #background: TokenBucket | null;

  /** `perSecond` 0: no limit. */
  constructor(perSecond: number, clock: Clock) {
    this.#all = perSecond > 0 ? new TokenBucket(perSecond, clock) : null;
    this.#background = perSecond > 0 ? new TokenBucket(perSecond * BACKGROUND_SHARE, clock) : null;
  }

  /** Resolves when `cost` requests fit into the budget. Rejects when the signal aborts. */
  async take(cost: number, signal: AbortSignal, isBackground = false): Promise<void> {
    if (isBackground) await this.#background?.take(cost, signal);
    await this.#all?.take(cost, signal);
  }
}
