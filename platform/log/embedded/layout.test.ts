import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { appendedMsOf, decodeRecord, offsetOf, packed, RecordEncoder, recordKey, recordKeyOf } from './layout.ts';

const sliced = (bytes: Uint8Array, start: number, end: number) => bytes.slice(start, end);
const APPENDED_MS = 1_700_000_000_123;
const encoder = new RecordEncoder();

describe('stored records', () => {
  it('store any key, value and time', () => {
    const value = fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc.nat(70_000).map((bytes) => new Uint8Array(bytes).fill(3)),
      fc.nat(3000).map((bytes) => new Uint8Array(randomBytes(bytes))),
    );
    fc.assert(
      fc.property(fc.string({ maxLength: 100, unit: fc.constantFrom('a', '€', '\0') }), value, (name, bytes) => {
        const key = Buffer.from(name).toString();
        const stored = encoder.record(packed({ key, value: bytes }), APPENDED_MS);
        const read = decodeRecord(3, 9n, Buffer.concat([stored, Buffer.of(1)]), stored.length, sliced);
        expect({ ...read, value: null }).toEqual({ partition: 3, offset: 9n, key, value: null });
        expect(Buffer.compare(read.value, bytes)).toBe(0);
        expect(recordKeyOf(stored)).toBe(key);
        expect(appendedMsOf(stored)).toBe(APPENDED_MS);
      }),
      { numRuns: 60 },
    );
  });

  it('are deflated only where that saves space', () => {
    const sizeOf = (value: Uint8Array) => encoder.record(packed({ key: 'k', value }), APPENDED_MS).length;
    expect(sizeOf(new Uint8Array(1023))).toBeGreaterThan(1023);
    expect(sizeOf(new Uint8Array(1024))).toBeLessThan(100);
    expect(sizeOf(new Uint8Array(65_536))).toBeLessThan(1000);
    expect(sizeOf(new Uint8Array(65_537))).toBeGreaterThan(65_537);
    expect(sizeOf(randomBytes(5000))).toBeGreaterThan(5000);
  });

  it('have the same key from an encoder, at any offset that a number holds', () => {
    for (const offset of [0, 1, 2 ** 32 - 1, 2 ** 32, 2 ** 40 + 5, Number.MAX_SAFE_INTEGER]) {
      const key = encoder.key(7, 300, offset);
      expect(key).toEqual(recordKey(7, 300, BigInt(offset)));
      expect(offsetOf(key)).toBe(BigInt(offset));
    }
  });

  it('with an unknown layout are refused', () => {
    const stored = encoder.record({ key: 'k', value: Buffer.from('v') }, APPENDED_MS);
    stored[0] = 3;
    expect(() => decodeRecord(0, 0n, stored, stored.length, sliced)).toThrow(/layout 3/);
  });
});
