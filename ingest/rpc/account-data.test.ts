import { zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { decodeAccountData, openDecoder } from './account-data.ts';

const encoded = (bytes: Uint8Array): [string, string] => [zstdCompressSync(bytes).toString('base64'), 'base64+zstd'];
/** Mostly zeros, as accounts are. */
const account = fc
  .tuple(fc.nat({ max: 9_000 }), fc.array(fc.tuple(fc.nat(), fc.uint8Array({ maxLength: 200 })), { maxLength: 20 }))
  .map(([size, parts]) => {
    const bytes = Buffer.alloc(size);
    for (const [at, part] of parts) if (size > 0) Buffer.from(part).copy(bytes, at % size);
    return bytes;
  });

describe('data of an account', () => {
  beforeAll(openDecoder);

  it('is what was compressed, whatever size the node names', () => {
    fc.assert(
      fc.property(account, fc.option(fc.integer({ min: -1, max: 20_000 }), { nil: undefined }), (bytes, other) => {
        expect(decodeAccountData(encoded(bytes), bytes.length).equals(bytes)).toBe(true);
        expect(decodeAccountData(encoded(bytes), other).equals(bytes)).toBe(true);
      }),
    );
  });

  it('stays as it is while others are decoded', () => {
    const [first, second] = [Buffer.alloc(4_376, 1), Buffer.alloc(4_376, 2)];
    const kept = decodeAccountData(encoded(first), first.length);
    decodeAccountData(encoded(second), second.length);
    expect(kept.equals(first)).toBe(true);
  });

  it('may be large', () => {
    const bytes = Buffer.alloc(3_000_000, 'large');
    expect(decodeAccountData(encoded(bytes), bytes.length).equals(bytes)).toBe(true);
  });

  it('is refused when it is no zstd or has another encoding, and is short when it was cut', () => {
    const [text] = encoded(Buffer.alloc(4_376, 'abc'));
    const cut = Buffer.from(text, 'base64').subarray(0, -4).toString('base64');
    expect(() => decodeAccountData(['bm8genN0ZA==', 'base64+zstd'], 4_376)).toThrow();
    expect(() => decodeAccountData(['', 'base58'], 0)).toThrow('account data encoded as base58');
    expect(decodeAccountData([cut, 'base64+zstd'], 4_376).length).toBeLessThan(4_376);
  });

  it('may be empty, or plain base64', () => {
    expect(decodeAccountData(['', 'base64+zstd'], 0)).toHaveLength(0);
    expect(decodeAccountData(['YWJj', 'base64'], 3).toString()).toBe('abc');
  });
});
