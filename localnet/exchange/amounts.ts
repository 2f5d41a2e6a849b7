// Integer arithmetic of the program: scales, truncating division, and balances of spot markets.

export { ceilDiv, magnitude as abs } from '../../schemas/index.ts';

export const BASE_SCALE = 1_000_000_000n;
/** Funding rates are price 1e6 times a buffer of 1e3. */
export const FUNDING_BUFFER = 1_000n;
export const INTEREST_SCALE = 10_000_000_000n;

export function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

export function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

export function clamp(value: bigint, low: bigint, high: bigint): bigint {
  return min(max(value, low), high);
}

/** Rounds down to a multiple of `step`. */
export function floorTo(value: bigint, step: bigint): bigint {
  return value - (value % step);
}

/** Quote (1e6) of a base size (1e9) at a price (1e6). */
export function quoteOf(base: bigint, price: bigint): bigint {
  return (base * price) / BASE_SCALE;
}

/** A share of an amount in parts per million. */
export function ppm(value: bigint, parts: number): bigint {
  return (value * BigInt(Math.trunc(parts))) / 1_000_000n;
}
