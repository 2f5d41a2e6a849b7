// One short text for the state of many books, equal exactly when the books are equal. It proves a replay.

import { saveEngine } from '../../../../processors/book/checkpoint.ts';
import type { BookEngine } from '../../../../processors/book/engine.ts';
import { marketKey } from '../../../../schemas/index.ts';

const SEEDS = [0x9e3779b1, 0x85ebca6b, 0xc2b2ae35, 0x27d4eb2f] as const;
const HEX = 16;
const WORD_DIGITS = 8;

/** Hash of all books, in any order: 32 hex digits. Not cryptographic. */
export function hashBooks(engines: Iterable<BookEngine>): string {
  const books = [...engines].map((engine) => ({ key: marketKey(engine.ref), engine }));
  books.sort((left, right) => (left.key < right.key ? -1 : 1));
  const words = Int32Array.from(SEEDS);
  for (const { key, engine } of books) {
    mix(words, Buffer.from(key, 'utf8'));
    mix(words, saveEngine(engine));
  }
  return [...words].map((word) => (word >>> 0).toString(HEX).padStart(WORD_DIGITS, '0')).join('');
}

// Four chained multiply-xor words; each mixes every byte.
function mix(words: Int32Array, bytes: Uint8Array): void {
  let [a = 0, b = 0, c = 0, d = 0] = words;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0;
    a = Math.imul(a ^ byte, 0x01000193) ^ (d >>> 15);
    b = Math.imul(b ^ byte ^ a, 0x85ebca6b) ^ (a >>> 13);
    c = Math.imul(c ^ byte ^ b, 0xc2b2ae35) ^ (b >>> 16);
    d = Math.imul(d ^ byte ^ c, 0x27d4eb2f) ^ (c >>> 14);
  }
  words.set([a, b, c, d ^ bytes.length]);
}
