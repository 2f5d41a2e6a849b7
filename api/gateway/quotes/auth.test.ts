import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TestKey } from '../../../test/support/api/quote-maker.ts';
import { isSigned, newNonce } from './auth.ts';

describe('a signature', () => {
  const key = new TestKey();
  const nonce = newNonce();

  it('proves the key over the text of the nonce', () => {
    expect(isSigned(nonce, key.bytes, key.sign(nonce))).toBe(true);
  });

  it('proves nothing over another nonce or by another key', () => {
    expect(isSigned(newNonce(), key.bytes, key.sign(nonce))).toBe(false);
    expect(isSigned(nonce, new TestKey().bytes, key.sign(nonce))).toBe(false);
  });

  it('of any other form is refused without a throw', () => {
    fc.assert(
      fc.property(fc.string(), fc.uint8Array({ minLength: 32, maxLength: 32 }), (text, bytes) => {
        expect(isSigned(nonce, bytes, text)).toBe(false);
        expect(isSigned(nonce, bytes, key.sign(nonce))).toBe(false);
      }),
    );
  });

  it('is over a nonce that each connection gets anew', () => {
    expect(new Set(Array.from({ length: 100 }, newNonce)).size).toBe(100);
  });
});
