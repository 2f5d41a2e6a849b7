// Whole units from scaled integers: divided as integers, printed with the scale's decimals and only then made a number,
// so that no drift can appear (history reference 7.4).

/** `1500000000n` with 9 decimals is the text `1.500000000`. */
export function decimalText(value: bigint, decimals: number): string {
  const sign = value < 0n ? '-' : '';
  const digits = (value < 0n ? -value : value).toString().padStart(decimals + 1, '0');
  if (decimals === 0) return sign + digits;
  return `${sign}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

/** Powers of ten up to this one are doubles exactly. */
const MAX_EXACT_DECIMALS = 22;

/**
 * The JSON number nearest to value / 10^decimals, of an integer or its decimal text. Where both are doubles exactly, their
 * quotient is rounded once, as the text would be when it is read, and costs a tenth.
 */
export function wholeUnits(value: bigint | string, decimals: number): number {
  const number = Number(value);
  const exact = Number.isSafeInteger(number) && decimals <= MAX_EXACT_DECIMALS;
  return exact ? number / 10 ** decimals : Number(decimalText(BigInt(value), decimals));
}

/** a / b rounded half away from zero. Throws a RangeError when b is 0. */
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
