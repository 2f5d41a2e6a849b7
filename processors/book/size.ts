// Exact sums of base amounts without allocation: two floats (high: multiples of 2^32; low: the rest) add up exactly where
// one double would not. A sum stays exact for two million orders of any 64-bit size.

export const WORD = 4_294_967_296;
const WORD_BASE = 4_294_967_296n;
const WORD_MASK = 0xffff_ffffn;
const WORD_BITS = 32n;
/** Sizes are u64 on the wire. No honest level comes near the bound, and a dishonest one must not stop the market. */
const SIZE_BOUND = 2n ** 64n - 1n;

/** Limit of every price, offset and slot stored as a number. */
export const NUMBER_BOUND = Number.MAX_SAFE_INTEGER;
const NUMBER_BOUND_BIG = BigInt(Number.MAX_SAFE_INTEGER);

// One 64-bit cell, read as a bigint or as two words (little-endian, like every platform of Node). This conversion costs a few
// nanoseconds; `Number()` and `BigInt()` cost tens and a call.
const cell = new BigInt64Array(1);
const words = new Uint32Array(cell.buffer);
const signedWords = new Int32Array(cell.buffer);

/** A value below 2^64 as a number: exact up to 2^53, and above 2^53 whenever the value is. */
export function unsignedNumber(value: bigint): number {
  cell[0] = value;
  return (words[1] as number) * WORD + (words[0] as number);
}

/** A signed 64-bit value as a number: exact up to 2^53 either way, and beyond it whenever the value is. */
export function signedNumber(value: bigint): number {
  cell[0] = value;
  return (signedWords[1] as number) * WORD + (words[0] as number);
}

/** Value of a high and a low word (not necessarily normalised), base 1e9; a sum above 64 bits becomes the largest size. */
export function wordsToBigint(high: number, low: number): bigint {
  const sum = high * WORD + low;
  if (sum > NUMBER_BOUND) {
    const exact = BigInt(high) * WORD_BASE + BigInt(low);
    return exact > SIZE_BOUND ? SIZE_BOUND : exact;
  }
  words[1] = Math.floor(sum / WORD);
  words[0] = sum;
  return cell[0] as bigint;
}

/** High word of a non-negative amount. */
export function highWord(value: bigint): number {
  return Number(value >> WORD_BITS);
}

/** Low word of a non-negative amount. */
export function lowWord(value: bigint): number {
  return Number(value & WORD_MASK);
}

/** True when a number can represent a 64-bit value exactly. */
export function fitsNumber(value: bigint): boolean {
  return value <= NUMBER_BOUND_BIG && value >= -NUMBER_BOUND_BIG;
}
