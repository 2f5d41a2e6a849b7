// Public keys as text: those that clients send, and lists of them in settings.

import bs58 from 'bs58';
import { ConfigError } from './config.ts';

const KEY_BYTES = 32;
/** Longest base58 text of 32 bytes. */
const KEY_TEXT_MAX = 44;

/** The 32 bytes of a base58 key; null when it is not one. */
export function readKey(text: string): Uint8Array | null {
  if (text.length > KEY_TEXT_MAX) return null;
  const bytes = bs58.decodeUnsafe(text);
  return bytes?.length === KEY_BYTES ? bytes : null;
}

/** The keys of a setting, separated by commas; empty text is none. Throws ConfigError that names the first that is no key. */
export function publicKeys(name: string, text: string): readonly Uint8Array[] {
  const parts = text.split(',').map((part) => part.trim());
  return parts
    .filter((part) => part !== '')
    .map((part) => {
      const key = readKey(part);
      if (!key) throw new ConfigError(`${name} must be public keys separated by commas; "${part}" is none`);
      return key;
    });
}
