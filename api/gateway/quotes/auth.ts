// Proof that a maker holds its key: an Ed25519 signature over the nonce of this connection.

import { createPublicKey, randomBytes, verify } from 'node:crypto';
import bs58 from 'bs58';
import { SIGNATURE_BYTES } from '../../../schemas/index.ts';

const NONCE_BYTES = 32;

/** Text that the maker must sign; new for every connection. */
export function newNonce(): string {
  return bs58.encode(randomBytes(NONCE_BYTES));
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
