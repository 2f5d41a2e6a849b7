// Keys as text, each encoded once.

import bs58 from 'bs58';

const known = new Map<string, string>();

export function base58(key: Uint8Array): string {
  const bytes = Buffer.from(key).toString('latin1');
  const text = known.get(bytes) ?? bs58.encode(key);
  known.set(bytes, text);
  return text;
}
