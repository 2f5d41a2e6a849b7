import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  appendedMsOf,
  countOf,
  decodeRecord,
  eachRecord,
  offsetOf,
  packed,
  RecordEncoder,
  recordKey,
  recordKeyOf,
} from './layout.ts';

const sliced = (bytes: Uint8Array, start: number, end: number) => bytes.slice(start, end);
const APPENDED_MS = 1_700_000_000_123;
/** Of lmdb, without the head. */
const PAGE_BYTES = 4_080;
const encoder = new RecordEncoder();

/** The records of a stored value that stands before other bytes. */
function recordsOf(stored: Uint8Array, last: bigint) {
  const bytes = Buffer.concat([stored, Buffer.of(1)]);
  const records: ReturnType<typeof decodeRecord>[] = [];
  eachRecord(bytes, stored.length, last, (value, place) => records.push(decodeRecord(3, value, place, sliced)));
  return records;
}

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
        const [read] = recordsOf(stored, 9n);
        expect({ ...read, value: null }).toEqual({ partition: 3, offset: 9n, key, value: null });
        expect(Buffer.compare(read?.value ?? new Uint8Array(0), bytes)).toBe(0);
        expect(countOf(stored)).toBe(1);
        expect(recordKeyOf(stored)).toBe(key);
        expect(appendedMsOf(stored)).toBe(APPENDED_MS);
      }),
      { numRuns: 60 },
    );
  });

  it('share values of a page at most, in their order, unless each must be alone', () => {
    const value = fc.oneof({ weight: 3, arbitrary: fc.nat(300) }, fc.nat(6_000)).map((bytes) => randomBytes(bytes));
    const record = fc.record({ key: fc.string({ maxLength: 60, unit: fc.constantFrom('a', '€') }), value });
    fc.assert(
      fc.property(fc.array(record, { minLength: 1, maxLength: 60 }), fc.boolean(), (records, isAlone) => {
        const stored = records.map(packed);
        const read: ReturnType<typeof decodeRecord>[] = [];
        for (let from = 0; from < stored.length; ) {
          const { count, bytes } = encoder.next(stored, from, APPENDED_MS, isAlone);
          from += count;
          expect(count).toBe(isAlone ? 1 : countOf(bytes));
          if (count > 1) expect(bytes.length).toBeLessThanOrEqual(PAGE_BYTES);
          expect(recordKeyOf(bytes)).toBe(count > 1 ? null : records[from - 1]?.key);
          expect(appendedMsOf(bytes)).toBe(APPENDED_MS);
          read.push(...recordsOf(Buffer.from(bytes), BigInt(from - 1)));
        }
        const expected = records.map(({ key, value }, offset) => ({
          partition: 3,
          offset: BigInt(offset),
          key,
          value,
        }));
        expect(read.map((one) => ({ ...one, value: Buffer.from(one.value) }))).toEqual(expected);
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
    stored[0] = 4;
    expect(() => recordsOf(stored, 0n)).toThrow(/layout 4/);
    expect(() => countOf(stored)).toThrow(/layout 4/);
  });
});
