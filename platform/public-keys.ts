// Public keys as text, from clients and from lists in settings.

import bs58 from 'bs58';
import { PUBKEY_BYTES } from '../schemas/index.ts';
import { ConfigError } from './config.ts';

/** Longest base58 text of 32 bytes. */
const KEY_TEXT_MAX = 44;

/** The 32 bytes of a base58 key; null for other text. The time to decode a text grows with the square of its length. */
export function readKey(text: string): Uint8Array | null {
  if (text.length > KEY_TEXT_MAX) return null;
  const bytes = bs58.decodeUnsafe(text);
  return bytes?.length === PUBKEY_BYTES ? bytes : null;
}

/** Parses keys separated by commas; empty text has none. Throws ConfigError that names the first invalid key. */
export function publicKeys(name: string, text: string): readonly Uint8Array[] {
  const parts = text.split(',').map((part) => part.trim());
  return parts
    .filter((part) => part !== '')
    .map((part) => {
      const key = readKey(part);
      if (!key) throw new ConfigError(`${name} must be public keys separated by commas; "${part}" is not one`);
      return key;
    });
}
