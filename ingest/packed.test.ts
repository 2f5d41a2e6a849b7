import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPackedAs, packText, packWords, peekText, unpackText, unpackWords } from './packed.ts';

/** Data of any length, mostly zeros. */
const sparse = fc
  .array(fc.tuple(fc.nat(3), fc.uint8Array({ maxLength: 40 })), { maxLength: 30 })
  .map((parts) => Buffer.concat(parts.flatMap(([zeros, bytes]) => [Buffer.alloc(zeros * 37), bytes])));

describe('packed account data', () => {
  it('come back as they were, as words and as text', () => {
    fc.assert(
      fc.property(sparse, (data) => {
        const words = packWords(data).slice();
        expect(unpackWords(words, 0)).toEqual(data);
        const text = packText(data);
        // Other data in between leave no trace.
        packText(Buffer.alloc(9_000, 7));
        expect(unpackText(text)).toEqual(data);
        expect(Buffer.from(peekText(text))).toEqual(data);
      }),
    );
  });

  it('equal only the same data', () => {
    fc.assert(
      fc.property(sparse, fc.nat(), (data, at) => {
        const text = packText(data);
        expect(isPackedAs(text, data)).toBe(true);
        expect(isPackedAs(text, Buffer.concat([data, Buffer.alloc(1)]))).toBe(false);
        if (data.length === 0) return;
        const other = Buffer.from(data);
        other[at % data.length] = (other[at % data.length] ?? 0) ^ 0x40;
        expect(isPackedAs(text, other)).toBe(false);
      }),
    );
  });

  it('take a fraction of the bytes of an account with empty entries', () => {
    const data = Buffer.alloc(4_600);
    for (let at = 0; at < 300; at++) data[at] = at;
    expect(packText(data).length).toBeLessThan(500);
  });
});
