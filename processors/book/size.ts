// Base amounts without loss: two float lanes (multiples of 2^32, and the rest) add up exactly where one double would not,
// and cost no allocation on the hot path. A lane sum stays exact for two million orders of any 64-bit size.

export const LANE = 4_294_967_296;
const LANE_BIG = 4_294_967_296n;
const LANE_MASK = 0xffff_ffffn;
const LANE_BITS = 32n;

/** Bound of every price, offset and slot kept as a number. */
export const NUMBER_BOUND = Number.MAX_SAFE_INTEGER;
export const NUMBER_BOUND_BIG = BigInt(Number.MAX_SAFE_INTEGER);

/** Value of two lanes (not necessarily normalised), base 1e9. */
export function lanesToBigint(high: number, low: number): bigint {
  const sum = high * LANE + low;
  return sum <= NUMBER_BOUND ? BigInt(sum) : BigInt(high) * LANE_BIG + BigInt(low);
}

/** High lane of a non-negative amount. */
export function highLane(value: bigint): number {
  return Number(value >> LANE_BITS);
}

/** Low lane of a non-negative amount. */
export function lowLane(value: bigint): number {
  return Number(value & LANE_MASK);
}

/** True when a 64-bit value may be kept as a number without loss. */
export function fitsNumber(value: bigint): boolean {
  return value <= NUMBER_BOUND_BIG && value >= -NUMBER_BOUND_BIG;
}
