// Base58 of signatures. Every transaction needs it, because nodes list signatures as text. The general library takes five times
// as long, because it takes a digit at a time (`npm run bench small-parts`).

import { SIGNATURE_BYTES } from './keys.ts';

const ALPHABET = Buffer.from('123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz');
/** Five digits to a limb: a limb times a word of 16 bits stays below 2^53. */
const DIGITS = 5;
const LIMB = 58 ** DIGITS;
const WORD = 2 ** 16;
/** 58^90 is above 2^512. */
const LIMBS = 18;
// They carry nothing from one call to the next. New ones for each call make it a fifth slower, and reading a third.
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

const WORDS = SIGNATURE_BYTES / 2;
/** As `limbs`. */
const words = new Float64Array(WORDS);
const NO_DIGIT = -1;
const CODE_UNITS = 2 ** 16;
/** Value of each code unit of a text. */
const VALUES = new Int8Array(CODE_UNITS).fill(NO_DIGIT);
for (const [value, character] of ALPHABET.entries()) VALUES[character] = value;
const DIGIT_0 = '1';

/** The 64 bytes of a signature; null for a text that is not the base58 of 64 bytes. */
export function signatureBytes(signature: string): Uint8Array | null {
  if (signature.length > LIMBS * DIGITS) return null;
  words.fill(0);
  let used = 0;
  for (let at = 0, end = signature.length % DIGITS || DIGITS; at < signature.length; end += DIGITS) {
    let carry = 0;
    for (; at < end; at++) {
      const digit = VALUES[signature.charCodeAt(at)] as number;
      if (digit === NO_DIGIT) return null;
      carry = carry * 58 + digit;
    }
    for (let word = 0; word < used || carry > 0; word++) {
      if (word === WORDS) return null;
      const value = (words[word] as number) * LIMB + carry;
      carry = Math.floor(value / WORD);
      words[word] = value - carry * WORD;
      if (word >= used) used = word + 1;
    }
  }
  const bytes = new Uint8Array(SIGNATURE_BYTES);
  for (let word = 0; word < WORDS; word++) {
    const value = words[word] as number;
    bytes[SIGNATURE_BYTES - 1 - 2 * word] = value % 256;
    bytes[SIGNATURE_BYTES - 2 - 2 * word] = Math.floor(value / 256);
  }
  // Each leading zero byte is one leading digit 0.
  let zeros = 0;
  while (zeros < SIGNATURE_BYTES && bytes[zeros] === 0) zeros += 1;
  let leading = 0;
  while (signature[leading] === DIGIT_0) leading += 1;
  return zeros === leading ? bytes : null;
}
