import bs58 from 'bs58';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { signatureBytes, signatureText } from './signature-text.ts';

const signatures = fc
  .tuple(fc.nat(64), fc.uint8Array({ minLength: 64, maxLength: 64 }), fc.constantFrom(0, 0xff))
  .map(([zeros, bytes, fill]) => (fill === 0 ? bytes.fill(0, 0, zeros) : bytes.fill(fill, zeros)));

/** By the general library. */
const expectedBytes = (text: string) => {
  const bytes = bs58.decodeUnsafe(text);
  return bytes?.length === 64 ? Uint8Array.from(bytes) : null;
};

describe('the text of a signature', () => {
  it('is its base58', () => {
    fc.assert(
      fc.property(signatures, (bytes) => {
        expect(signatureText(bytes)).toBe(bs58.encode(bytes));
        expect(signatureBytes(signatureText(bytes))).toEqual(bytes);
      }),
      { numRuns: 2000 },
    );
  });

  it('is the base58 of the least and the greatest signature', () => {
    for (const byte of [0, 1, 0xff]) {
      const bytes = new Uint8Array(64).fill(byte);
      expect(signatureText(bytes)).toBe(bs58.encode(bytes));
      expect(signatureBytes(bs58.encode(bytes))).toEqual(bytes);
    }
  });
});

describe('another text', () => {
  it('is no signature: other lengths, other characters, a greater number, a leading zero more or less', () => {
    const byteLists = fc.uint8Array({ minLength: 0, maxLength: 70 }).map((bytes) => bs58.encode(bytes));
    const longest = signatures.map((bytes) => bs58.encode(bytes));
    const characters = fc.string({ unit: 'binary', minLength: 1, maxLength: 1 });
    const changed = fc
      .tuple(longest, fc.nat(90), fc.oneof(characters, fc.constantFrom('', '1', '11', 'z', '0', 'l')))
      .map(([text, at, piece]) => text.slice(0, at) + piece + text.slice(at + 1));
    const greater = fc.nat(57).map((digit) => `${'z'.repeat(87)}${bs58.encode([digit])}`);
    fc.assert(
      fc.property(fc.oneof(byteLists, changed, greater, fc.string()), (text) => {
        expect(signatureBytes(text)).toEqual(expectedBytes(text));
      }),
      { numRuns: 3000 },
    );
  });
});
