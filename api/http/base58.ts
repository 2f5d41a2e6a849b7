// Public keys as text. A bounded cache holds the results: encoding costs microseconds, and large books repeat their makers.

import bs58 from 'bs58';
import { signatureText } from '../../schemas/index.ts';

/** More makers than any venue has active. Emptying a full cache costs less than the bookkeeping of an LRU on each hit. */
const MAX_CACHED = 65_536;

const keys = new Map<string, string>();
const signatures = new Map<string, string>();

/** Base58 of a public key. */
export function base58(key: Uint8Array): string {
  return cached(keys, key, bs58.encode);
}

/** Base58 of a transaction signature. They have a cache of their own, because they pass while makers stay. */
export function signatureBase58(signature: Uint8Array): string {
  return cached(signatures, signature, signatureText);
}

function cached(cache: Map<string, string>, key: Uint8Array, encode: (bytes: Uint8Array) => string): string {
  const bytes = Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString('latin1');
  const known = cache.get(bytes);
  if (known !== undefined) return known;
  const text = encode(key);
  if (cache.size >= MAX_CACHED) cache.clear();
  cache.set(bytes, text);
  return text;
}
