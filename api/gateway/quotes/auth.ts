// Proof that a maker holds its key: an Ed25519 signature over the nonce of this connection.

import { createPublicKey, randomBytes, verify } from 'node:crypto';
import bs58 from 'bs58';
import { readKey } from '../../../platform/index.ts';
import { SIGNATURE_BYTES } from '../../../schemas/index.ts';

const NONCE_BYTES = 32;

/** Text that the maker must sign; new for every connection. */
export function newNonce(): string {
  return bs58.encode(randomBytes(NONCE_BYTES));
}

/** Element of the setting that admits every key. */
const ANYBODY = '*';

/** Keys that may quote. */
export interface AllowedMakers {
  /** Base58 keys, preferred where places are scarce. */
  readonly listed: ReadonlySet<string>;
  /** Whether all other keys may quote too. */
  readonly others: boolean;
}

/** Reads the setting: base58 keys and `*`, separated by commas. Empty text admits every key. Throws RangeError. */
export function readAllowedMakers(setting: string): AllowedMakers {
  const names = setting
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const listed = new Set(names.filter((name) => name !== ANYBODY));
  for (const name of listed) if (!readKey(name)) throw new RangeError(`quoteMakers: not a public key: ${name}`);
  return { listed, others: names.length === 0 || names.includes(ANYBODY) };
}

/** Whether the setting names a maker, which then gets a place first. Throws RangeError. */
export function preferredMakers(setting: string): (maker: Uint8Array) => boolean {
  const { listed } = readAllowedMakers(setting);
  return (maker) => listed.size > 0 && listed.has(bs58.encode(maker));
}

/** True when `signature` (base64) is the key holder's over the UTF-8 bytes of `nonce`. */
export function isSigned(nonce: string, key: Uint8Array, signature: string): boolean {
  const bytes = Buffer.from(signature, 'base64');
  if (bytes.length !== SIGNATURE_BYTES) return false;
  const x = Buffer.from(key).toString('base64url');
  try {
    const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    return verify(null, Buffer.from(nonce, 'utf8'), publicKey, bytes);
  } catch {
    return false; // The 32 bytes are no point of the curve.
  }
}
