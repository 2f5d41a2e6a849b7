import bs58 from 'bs58';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { signatureText } from './signature-text.ts';

it('is the base58 of any signature', () => {
  const signature = fc
    .tuple(fc.nat(64), fc.uint8Array({ minLength: 64, maxLength: 64 }), fc.constantFrom(0, 0xff))
    .map(([zeros, bytes, fill]) => (fill === 0 ? bytes.fill(0, 0, zeros) : bytes.fill(fill, zeros)));
  fc.assert(
    fc.property(signature, (bytes) => {
      expect(signatureText(bytes)).toBe(bs58.encode(bytes));
    }),
    { numRuns: 2000 },
  );
});

it('is the base58 of the least and the greatest signature', () => {
  for (const byte of [0, 1, 0xff]) {
    const bytes = new Uint8Array(64).fill(byte);
    expect(signatureText(bytes)).toBe(bs58.encode(bytes));
  }
});
