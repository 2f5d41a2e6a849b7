// Public keys and signatures as text. Large books repeat their makers, and a cache takes a fifteenth of the time of encoding
// (`npm run bench small-parts`).

import bs58 from 'bs58';
import { LRUCache } from 'lru-cache';
import { keyText, signatureText } from '../../schemas/index.ts';

/** More makers than any venue has active. */
const MAX_CACHED = 65_536;

const keys = new LRUCache<string, string>({ max: MAX_CACHED });
const signatures = new LRUCache<string, string>({ max: MAX_CACHED });

/** Base58 of a public key. */
export function base58(key: Uint8Array): string {
  return cached(keys, key, bs58.encode);
}

/** Base58 of a transaction signature. They have a cache of their own, because they pass while makers stay. */
export function signatureBase58(signature: Uint8Array): string {
  return cached(signatures, signature, signatureText);
}

function cached(cache: LRUCache<string, string>, key: Uint8Array, encode: (bytes: Uint8Array) => string): string {
  const bytes = keyText(key);
  const known = cache.get(bytes);
  if (known !== undefined) return known;
  const text = encode(key);
  cache.set(bytes, text);
  return text;
}
