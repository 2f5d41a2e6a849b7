// Strict Ed25519. OpenSSL accepts keys of small order and keys with a second encoding, for which one signature fits many
// messages. These rules leave each holder exactly one key, and each message exactly the signatures that the holder made.

import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { PUBKEY_BYTES, SIGNATURE_BYTES } from '../../../schemas/index.ts';

/** The highest bit of a point is the sign of x; the others are y. */
const SIGN_BIT = 1n << 255n;
/** Prime of the field (RFC 8032, 5.1). */
const PRIME = (1n << 255n) - 19n;
/** Order of the base point (RFC 8032, 5.1). */
const ORDER = (1n << 252n) + 27742317777372353535851937790883648493n;
/** y of a point of order 8. The other one is its negative. */
const ORDER_8_Y = 0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd83d3d706a17c7n;
/** y of all points whose order divides 8: orders 4, 1, 2 and 8. */
const SMALL_ORDER_Y: ReadonlySet<bigint> = new Set([0n, 1n, PRIME - 1n, ORDER_8_Y, PRIME - ORDER_8_Y]);

/**
 * Whether `signature` (64 bytes) of `message` belongs to `key` (32 bytes). False for a key that is no point, and for a scalar of
 * at least the group order. Also false where key or commitment has a small order, or a y of at least the prime.
 */
export function isStrictlySigned(message: Uint8Array, key: Uint8Array, signature: Uint8Array): boolean {
  if (key.length !== PUBKEY_BYTES || signature.length !== SIGNATURE_BYTES) return false;
  if (!isStrictPoint(key) || !isStrictPoint(signature.subarray(0, PUBKEY_BYTES))) return false;
  if (littleEndian(signature.subarray(PUBKEY_BYTES)) >= ORDER) return false;
  const publicKey = keyObject(key);
  return publicKey !== null && verify(null, message, publicKey, signature);
}

/** Whether 32 bytes are the one encoding of y, and no point of small order. Does not check that the point exists. */
function isStrictPoint(bytes: Uint8Array): boolean {
  const y = littleEndian(bytes) & (SIGN_BIT - 1n);
  return y < PRIME && !SMALL_ORDER_Y.has(y);
}

function littleEndian(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
}

function keyObject(key: Uint8Array): KeyObject | null {
  try {
    return createPublicKey({
      key: { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(key).toString('base64url') },
      format: 'jwk',
    });
  } catch {
    return null;
  }
}
