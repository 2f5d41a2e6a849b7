// Chain time per slot. A fast clock gives a slot more time than the 400 ms of a real chain and may group slots in bursts.
// Then months pass in minutes, with busy minutes and quiet hours.

/** Length of a slot on a real chain, the unit of order lifetimes and of the price walk. */
export const USUAL_SLOT_MS = 400;
/** Slot of the genesis, before the first block. */
export const GENESIS_SLOT = 1_000;
/** Inside a burst, time grows with this power of the slots: many slots at once, then few. */
const BURST_POWER = 4;
/** Limit of price walk steps per slot. */
const WALK_STEPS_MAX = 16;

export interface Clock {
  /** Unix seconds of the first block. */
  readonly genesisTime: number;
  /** Average chain time per slot. */
  readonly slotMs: number;
  /** Slots per burst; 1 spaces all slots evenly. */
  readonly slotBurst: number;
}

/** Unix seconds of a slot, which may be fractional. */
export function timeOfSlot(clock: Clock, slot: number): number {
  const passed = slot - GENESIS_SLOT - 1;
  const bursts = Math.floor(passed / clock.slotBurst);
  const part = passed / clock.slotBurst - bursts;
  const slots = clock.slotBurst === 1 ? passed : clock.slotBurst * (bursts + part ** BURST_POWER);
  return clock.genesisTime + Math.floor((slots * clock.slotMs) / 1000);
}

/** Unix seconds after as many slots as a real chain makes in `seconds`: the expiry of an order with that lifetime. */
export function timeAfter(now: { readonly clock: Clock; readonly slot: number }, seconds: number): number {
  return timeOfSlot(now.clock, now.slot + (seconds * 1000) / USUAL_SLOT_MS);
}

/** Number of price walk steps per slot. */
export function walkSteps(clock: Clock): number {
  return Math.min(WALK_STEPS_MAX, Math.max(1, clock.slotMs / USUAL_SLOT_MS));
}

/** Whether chain time passes faster than on the real chain. */
export function isFast(clock: Clock): boolean {
  return clock.slotMs > USUAL_SLOT_MS;
}
