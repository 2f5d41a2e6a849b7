// Text forms of bytes: base58 keys, base64 account data and log lines, padded names.

import bs58 from 'bs58';
import { paddedText } from '../../schemas/portable.ts';

/** Base58 of a key. */
export function toBase58(key: Uint8Array): string {
  return bs58.encode(key);
}

/** Bytes of a base58 key. Throws an Error for other text. */
export function fromBase58(text: string): Uint8Array {
  return bs58.decode(text);
}

/** Text of a decoded `name`, without its padding. */
export function nameText(name: readonly number[] | Uint8Array): string {
  return paddedText(Uint8Array.from(name));
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const DIGITS = new Map([...ALPHABET].map((character, digit) => [character.charCodeAt(0), digit]));

/** Bytes of base64 text. Stops at the first character that is none, because log lines may be cut off. */
export function fromBase64(text: string): Uint8Array {
  const bytes = new Uint8Array((text.length * 3) >> 2);
  let count = 0;
  let bits = 0;
  let held = 0;
  for (let index = 0; index < text.length; index += 1) {
    const digit = DIGITS.get(text.charCodeAt(index));
    if (digit === undefined) break;
    held = ((held << 6) | digit) & 0xffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes[count] = (held >> bits) & 0xff;
    count += 1;
  }
  return bytes.subarray(0, count);
}
