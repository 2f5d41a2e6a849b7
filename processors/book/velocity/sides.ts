// Both spreads of a vAMM under construction: whole numbers, shares of 1e6.

import type { AmmState } from '../../../schemas/index.ts';
import { ceilDiv, greater } from '../whole.ts';

/** 100 %. */
export const ONE = 1_000_000n;
const PERCENT = 100n;

/** `long` is the spread of the asks, `short` that of the bids. */
export interface Sides {
  readonly long: bigint;
  readonly short: bigint;
}

export type SpreadSide = keyof Sides;

export const NO_SPREADS: Sides = { long: 0n, short: 0n };

/** The side whose fills add to the inventory; null without one. */
export function inventorySide({ baseAssetAmountWithAmm: inventory }: AmmState): SpreadSide | null {
  if (inventory === 0n) return null;
  return inventory > 0n ? 'long' : 'short';
}

/** `spreads` with one of them replaced. */
export function withSide(spreads: Sides, side: SpreadSide, spread: bigint): Sides {
  return side === 'long' ? { long: spread, short: spreads.short } : { long: spreads.long, short: spread };
}

/** Both sides, each with the result of `one`. */
export function eachSide(one: (side: SpreadSide) => bigint): Sides {
  return { long: one('long'), short: one('short') };
}

/** Scales both sides by a signed percentage, rounded up, never below their floor nor below 1. Zero percent changes nothing. */
export function byPercent(spreads: Sides, percent: number, floors: Sides): Sides {
  if (percent === 0) return spreads;
  const part = BigInt(Math.abs(percent));
  return eachSide((side) => {
    const spread = spreads[side];
    const changed = percent < 0 ? spread - (spread * part) / PERCENT : spread + ceilDiv(spread * part, PERCENT);
    return greater(greater(changed, 1n), floors[side]);
  });
}
