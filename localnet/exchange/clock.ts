// When a slot happens. A fast clock lets more chain time pass per slot than the 400 ms of a real one, and may let slots
// come in bursts, so that months pass in minutes and still some minutes are busy and some hours quiet.

import type { World } from './world.ts';

/** Length of a slot of the real chain; lifetimes and the price walk are given in its terms. */
export const USUAL_SLOT_MS = 400;
/** Slot of the block before the first. */
export const GENESIS_SLOT = 1_000;
/** Inside a burst the time passed goes with this power of the slots passed: many slots at once, then hours of few. */
const BURST_POWER = 4;
/** A slot moves prices by at most as much as so many usual ones would. */
const WALK_STEPS_MAX = 16;

export interface Clock {
  /** Unix seconds of the first block. */
  readonly genesisTime: number;
  /** Chain time per slot on average. */
  readonly slotMs: number;
  /** Slots of one burst; 1 spaces all slots evenly. */
  readonly slotBurst: number;
}

/** Unix seconds of a slot, which need not be whole. */
export function timeOfSlot(clock: Clock, slot: number): number {
  const passed = slot - GENESIS_SLOT - 1;
  const bursts = Math.floor(passed / clock.slotBurst);
  const part = passed / clock.slotBurst - bursts;
  const slots = clock.slotBurst === 1 ? passed : clock.slotBurst * (bursts + part ** BURST_POWER);
  return clock.genesisTime + Math.floor((slots * clock.slotMs) / 1000);
}

/** Unix seconds when as many slots have passed as `seconds` hold on the real chain: how long an order means to live. */
export function timeAfter(world: World, seconds: number): number {
  return timeOfSlot(world.clock, world.slot + (seconds * 1000) / USUAL_SLOT_MS);
}

/** How many steps of the price walk one slot stands for. */
export function walkSteps(clock: Clock): number {
  return Math.min(WALK_STEPS_MAX, Math.max(1, clock.slotMs / USUAL_SLOT_MS));
}

/** Whether chain time passes faster than on the real chain. */
export function isFast(clock: Clock): boolean {
  return clock.slotMs > USUAL_SLOT_MS;
}
