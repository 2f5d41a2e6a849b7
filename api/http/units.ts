// Whole units from scaled integers, without drift: integer division first, one rounding to a double last.
// Source: docs/internals/history-semantics.md, "Numbers".

/** `1500000000n` with 9 decimals is the text `1.500000000`. */
export function decimalText(value: bigint, decimals: number): string {
  const sign = value < 0n ? '-' : '';
  const digits = (value < 0n ? -value : value).toString().padStart(decimals + 1, '0');
  if (decimals === 0) return sign + digits;
  return `${sign}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

/** Powers of ten up to this exponent are exact doubles. */
const MAX_EXACT_DECIMALS = 22;

/**
 * The JSON number nearest to value / 10^decimals, from an integer or its decimal text. The quotient of two exact doubles has
 * one rounding, like parsing the decimal text, and costs a tenth of it.
 */
export function wholeUnits(value: bigint | string, decimals: number): number {
  const number = Number(value);
  const exact = Number.isSafeInteger(number) && decimals <= MAX_EXACT_DECIMALS;
  return exact ? number / 10 ** decimals : Number(decimalText(BigInt(value), decimals));
}

/** a / b, rounded half away from zero. Throws a RangeError when b is 0. */
export function divideRounded(a: bigint, b: bigint): bigint {
  if (b === 0n) throw new RangeError('division by zero');
  const negative = a < 0n !== b < 0n;
  const [x, y] = [a < 0n ? -a : a, b < 0n ? -b : b];
  const quotient = (2n * x + y) / (2n * y);
  return negative ? -quotient : quotient;
}

/** Smallest of the values. */
export function least(first: bigint, ...others: readonly bigint[]): bigint {
  let found = first;
  for (const value of others) if (value < found) found = value;
  return found;
}

/** Largest of the values. */
export function greatest(first: bigint, ...others: readonly bigint[]): bigint {
  let found = first;
  for (const value of others) if (value > found) found = value;
  return found;
}
