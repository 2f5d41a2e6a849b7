// Steps of a simulated cluster.

import { setTimeout as sleep } from 'node:timers/promises';

const AT_ONCE_SLOTS = 5;
const PAUSE_MS = 5;

/** Advances a few slots at a time, so that updates arrive in between. */
export async function stepInTurns(net: { step(slots: number): Promise<unknown> }, slots: number): Promise<void> {
  for (let at = 0; at < slots; at += AT_ONCE_SLOTS) {
    await net.step(Math.min(AT_ONCE_SLOTS, slots - at));
    await sleep(PAUSE_MS);
  }
}
