// Base58 of signatures. Every transaction needs it, because nodes list signatures as text. The general library takes about 10 µs
// for one: it divides a digit at a time.

import { SIGNATURE_BYTES } from './keys.ts';

const ALPHABET = Buffer.from('123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz');
/** Five digits to a limb: a limb times a word of 16 bits stays below 2^53. */
const DIGITS = 5;
const LIMB = 58 ** DIGITS;
const WORD = 2 ** 16;
/** 58^90 is above 2^512. */
const LIMBS = 18;
const limbs = new Float64Array(LIMBS);
const text = Buffer.alloc(LIMBS * DIGITS);

/** Base58 text of 64 bytes. */
export function signatureText(bytes: Uint8Array): string {
  limbs.fill(0);
  let highest = LIMBS - 1;
  for (let at = 0; at < SIGNATURE_BYTES; at += 2) {
    let carry = (bytes[at] as number) * 256 + (bytes[at + 1] as number);
    for (let limb = LIMBS - 1; limb >= highest || carry > 0; limb--) {
      const value = (limbs[limb] as number) * WORD + carry;
      carry = Math.floor(value / LIMB);
      limbs[limb] = value - carry * LIMB;
      if (limb < highest) highest = limb;
    }
  }
  for (let limb = 0; limb < LIMBS; limb++) {
    let rest = limbs[limb] as number;
    for (let digit = DIGITS - 1; digit >= 0; digit--) {
      text[limb * DIGITS + digit] = ALPHABET[rest % 58] as number;
      rest = Math.floor(rest / 58);
    }
  }
  // Each leading zero byte is one leading digit 0.
  let from = 0;
  while (from < text.length && text[from] === ALPHABET[0]) from += 1;
  for (let at = 0; at < SIGNATURE_BYTES && bytes[at] === 0; at++) from -= 1;
  return text.toString('latin1', from);
}
