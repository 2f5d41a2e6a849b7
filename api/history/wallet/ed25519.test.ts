import { createPublicKey, verify } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TestKey } from '../../../test/support/api/quote-maker.ts';
import { isStrictlySigned } from './ed25519.ts';

const PRIME = (1n << 255n) - 19n;
const ORDER = (1n << 252n) + 27742317777372353535851937790883648493n;
const SIGN_BIT = 1n << 255n;
/** y of the points of order 8, as the literature prints their bytes. */
const ORDER_8 = [
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
];

const bytesOf = (value: bigint) => Buffer.from(value.toString(16).padStart(64, '0'), 'hex').reverse();
const numberOf = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);

/** The check of the platform alone. */
function isLaxlySigned(message: Uint8Array, key: Uint8Array, signature: Uint8Array): boolean {
  const x = Buffer.from(key).toString('base64url');
  return verify(null, message, createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' }), signature);
}

/** Signature with the neutral element as commitment and scalar 0. It fits a key of small order for some messages. */
const NOTHING = Buffer.concat([bytesOf(1n), bytesOf(0n)]);

describe('a strict signature', () => {
  it('is accepted from its holder, over its message only', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.nat(), (message, at) => {
        const key = new TestKey();
        const signature = key.signBytes(message);
        expect(isStrictlySigned(message, key.bytes, signature)).toBe(true);
        const changed = Uint8Array.from(signature);
        changed[at % 64] = (changed[at % 64] ?? 0) ^ (1 << (at % 8));
        expect(isStrictlySigned(message, key.bytes, changed)).toBe(false);
        expect(isStrictlySigned(Buffer.concat([message, Buffer.of(0)]), key.bytes, signature)).toBe(false);
      }),
      { numRuns: 50 },
    );
  });

  it('is refused when malleated: with the group order added to its scalar', () => {
    const key = new TestKey();
    const message = Buffer.from('a message');
    const signature = key.signBytes(message);
    const scalar = numberOf(signature.subarray(32));
    for (let added = scalar + ORDER; added < 1n << 256n; added += ORDER) {
      const malleated = Buffer.concat([signature.subarray(0, 32), bytesOf(added)]);
      expect(isStrictlySigned(message, key.bytes, malleated)).toBe(false);
    }
  });

  it('is refused for every key of small order, in all encodings, although the platform accepts some forgeries', () => {
    const ys = [0n, 1n, PRIME - 1n, ...ORDER_8.map((hex) => numberOf(Buffer.from(hex, 'hex')))];
    const canonical = ys.flatMap((y) => [y, y | SIGN_BIT]);
    const others = [PRIME, PRIME + 1n].flatMap((y) => [y, y | SIGN_BIT]);
    let forgeries = 0;
    for (const key of [...canonical, ...others].map(bytesOf)) {
      for (let at = 0; at < 100; at += 1) {
        const message = Buffer.from(`message ${at}`);
        if (isLaxlySigned(message, key, NOTHING)) forgeries += 1;
        expect(isStrictlySigned(message, key, NOTHING)).toBe(false);
      }
    }
    // Without the rules, a forged signature passes: the attack is real.
    expect(forgeries).toBeGreaterThan(100);
  });

  it('is refused for a second encoding of a key, for bytes that are no point, and for other lengths', () => {
    const message = Buffer.from('m');
    const random = new TestKey().signBytes(message);
    for (let y = PRIME; y < SIGN_BIT; y += 1n) expect(isStrictlySigned(message, bytesOf(y), random)).toBe(false);
    expect(isStrictlySigned(message, bytesOf(2n), random)).toBe(false); // y = 2 has no x
    const key = new TestKey();
    expect(isStrictlySigned(message, key.bytes.subarray(1), key.signBytes(message))).toBe(false);
    expect(isStrictlySigned(message, key.bytes, key.signBytes(message).subarray(1))).toBe(false);
  });
});
