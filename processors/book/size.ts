// Base amounts without loss: two float lanes (multiples of 2^32, and the rest) add up exactly where one double would not,
// and cost no allocation on the hot path. A lane sum stays exact for two million orders of any 64-bit size.

export const LANE = 4_294_967_296;
const LANE_BIG = 4_294_967_296n;
const LANE_MASK = 0xffff_ffffn;
const LANE_BITS = 32n;
/** Sizes are u64 on the wire. No honest level comes near it, and a dishonest one must not stop the market. */
const SIZE_BOUND = 2n ** 64n - 1n;

/** Bound of every price, offset and slot kept as a number. */
export const NUMBER_BOUND = Number.MAX_SAFE_INTEGER;
const NUMBER_BOUND_BIG = BigInt(Number.MAX_SAFE_INTEGER);

// One 64-bit cell seen as a bigint and as two words (little-endian, as every platform of Node is): crossing between
// bigint and number here costs a few nanoseconds, where `Number()` and `BigInt()` cost tens and a call.
const cell = new BigInt64Array(1);
const words = new Uint32Array(cell.buffer);
const signedWords = new Int32Array(cell.buffer);

/** A value below 2^64 as a number: exact up to 2^53, and above 2^53 whenever the value is. */
export function unsignedNumber(value: bigint): number {
  cell[0] = value;
  return (words[1] as number) * LANE + (words[0] as number);
}

/** A signed 64-bit value as a number: exact up to 2^53 either way, and beyond it whenever the value is. */
export function signedNumber(value: bigint): number {
  cell[0] = value;
  return (signedWords[1] as number) * LANE + (words[0] as number);
}

/** Value of two lanes (not necessarily normalised), base 1e9; a sum beyond 64 bits is published as the largest size. */
export function lanesToBigint(high: number, low: number): bigint {
  const sum = high * LANE + low;
  if (sum > NUMBER_BOUND) {
    const exact = BigInt(high) * LANE_BIG + BigInt(low);
    return exact > SIZE_BOUND ? SIZE_BOUND : exact;
  }
  words[1] = Math.floor(sum / LANE);
  words[0] = sum;
  return cell[0] as bigint;
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
