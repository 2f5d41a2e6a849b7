// Time for the parts that wait: real time in production, a virtual clock in simulations.

import { setTimeout as delay } from 'node:timers/promises';

export interface Clock {
  /** Monotonic milliseconds. */
  now(): number;
  /** Rejects when the signal aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
  /** At least 0, below 1: spreads retries of several processes. */
  chance(): number;
}

export const REAL_CLOCK: Clock = {
  now: () => performance.now(),
  wait: async (ms, signal) => {
    await delay(ms, undefined, { signal });
  },
  chance: () => Math.random(),
};
