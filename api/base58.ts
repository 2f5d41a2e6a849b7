// Public keys as text. Encoding one costs microseconds, and a large book shows the same makers again and again, so what
// was encoded is remembered within a bound.

import bs58 from 'bs58';

/** More makers than a venue has active; the memory is emptied when it is full. */
const MAX_REMEMBERED = 65_536;

const remembered = new Map<string, string>();

/** Base58 of a public key. */
export function base58(key: Uint8Array): string {
  const bytes = Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString('latin1');
  const known = remembered.get(bytes);
  if (known !== undefined) return known;
  const text = bs58.encode(key);
  if (remembered.size >= MAX_REMEMBERED) remembered.clear();
  remembered.set(bytes, text);
  return text;
}
