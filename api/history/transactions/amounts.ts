// Reads decimal amounts as integers, digit by digit: a float would change them.

const U64_MAX = 2n ** 64n - 1n;
const PLAIN = /^(\d{1,20})(?:\.(\d{1,20}))?$/;

/**
 * The integer of a decimal text with `decimals` places. Null when the text is no plain decimal, has more places, is zero, or
 * does not fit into 64 bits. Zeros after the last place are allowed.
 */
export function parseAmount(text: string, decimals: number): bigint | null {
  const match = PLAIN.exec(text.trim());
  if (match === null) return null;
  const [, whole = '', fraction = ''] = match;
  const digits = fraction.replace(/0+$/, '');
  if (digits.length > decimals) return null;
  const value = BigInt(whole + digits.padEnd(decimals, '0'));
  return value > 0n && value <= U64_MAX ? value : null;
}
