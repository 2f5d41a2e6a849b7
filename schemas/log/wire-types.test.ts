import avro, { type Type } from 'avsc';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseSchema } from './parse-schema.ts';

const long = (logicalType: string) => parseSchema({ type: 'long', logicalType });
const i64 = long('i64');
const u64 = long('u64');
const u53 = long('u53');
const u32 = long('u32');
const wide = (logicalType: string) => parseSchema({ type: 'fixed', name: 'Wide', size: 16, logicalType });
const plainLong = avro.Type.forSchema('long');

const I64_MIN = -(2n ** 63n);
const I64_MAX = 2n ** 63n - 1n;
const U64_MAX = 2n ** 64n - 1n;

function trip(type: Type, value: unknown): unknown {
  return type.fromBuffer(type.toBuffer(value));
}

/** avsc's long doubles the number in floating point, so it is no reference near 2^53. */
function isExactInAvsc(value: number): boolean {
  return Math.abs(value) < 2 ** 51;
}

function edges(min: bigint, max: bigint): bigint[] {
  const near = [0n, 1n, -1n, 63n, 64n, -64n, -65n, 2n ** 31n, -(2n ** 31n), 2n ** 32n, 2n ** 53n, 2n ** 63n, min, max];
  return near.flatMap((value) => [value - 1n, value, value + 1n]).filter((value) => value >= min && value <= max);
}

describe('64-bit integers', () => {
  it('survive exactly, limits included', () => {
    for (const value of edges(I64_MIN, I64_MAX)) expect(trip(i64, value)).toBe(value);
    for (const value of edges(0n, U64_MAX)) expect(trip(u64, value)).toBe(value);
    fc.assert(fc.property(fc.bigInt(I64_MIN, I64_MAX), (value) => trip(i64, value) === value));
    fc.assert(fc.property(fc.bigInt(0n, U64_MAX), (value) => trip(u64, value) === value));
  });

  it('are a plain Avro long to any other reader', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger().filter(isExactInAvsc), (value) => {
        expect(i64.toBuffer(BigInt(value))).toEqual(plainLong.toBuffer(value));
        expect(i64.fromBuffer(plainLong.toBuffer(value))).toBe(BigInt(value));
      }),
    );
    expect(u64.toBuffer(U64_MAX)).toEqual(plainLong.toBuffer(-1));
  });

  it('accept the number of a narrower definition, and refuse values out of range', () => {
    expect(trip(i64, -5)).toBe(-5n);
    for (const value of [I64_MAX + 1n, I64_MIN - 1n, 0.5, 2 ** 60, '1', null, undefined]) {
      expect(() => i64.toBuffer(value)).toThrow(RangeError);
    }
    for (const value of [-1n, U64_MAX + 1n]) expect(() => u64.toBuffer(value)).toThrow(RangeError);
  });
});

describe('128-bit integers', () => {
  it('survive exactly as little-endian two’s complement', () => {
    const u128 = wide('u128');
    const i128 = wide('i128');
    for (const value of edges(0n, 2n ** 128n - 1n)) expect(trip(u128, value)).toBe(value);
    for (const value of edges(-(2n ** 127n), 2n ** 127n - 1n)) expect(trip(i128, value)).toBe(value);
    fc.assert(fc.property(fc.bigInt(-(2n ** 127n), 2n ** 127n - 1n), (value) => trip(i128, value) === value));
    fc.assert(fc.property(fc.bigInt(0n, 2n ** 128n - 1n), (value) => trip(u128, value) === value));
    expect(i128.toBuffer(-2n).toString('hex')).toBe(`fe${'ff'.repeat(15)}`);
    expect(u128.toBuffer(2n ** 64n + 258n).toString('hex')).toBe('02010000000000000100000000000000');
  });

  it('refuse values out of range', () => {
    expect(() => wide('u128').toBuffer(-1n)).toThrow(RangeError);
    expect(() => wide('u128').toBuffer(2n ** 128n)).toThrow(RangeError);
    expect(() => wide('i128').toBuffer(2n ** 127n)).toThrow(RangeError);
    expect(() => wide('i128').toBuffer(-(2n ** 127n) - 1n)).toThrow(RangeError);
  });
});

describe('small integers', () => {
  const bounds: [string, 'int' | 'long', number, number][] = [
    ['u8', 'int', 0, 255],
    ['i8', 'int', -128, 127],
    ['u16', 'int', 0, 65_535],
    ['i16', 'int', -32_768, 32_767],
    ['i32', 'int', -2_147_483_648, 2_147_483_647],
    ['u32', 'long', 0, 4_294_967_295],
    ['u53', 'long', 0, Number.MAX_SAFE_INTEGER],
  ];

  it.each(bounds)('%s stays a number within its bounds', (logicalType, plain, min, max) => {
    const type = parseSchema({ type: plain, logicalType });
    const plainType = avro.Type.forSchema(plain);
    fc.assert(
      fc.property(
        fc.oneof(
          fc.integer({ min: Math.max(min, -(2 ** 31)), max: Math.min(max, 2 ** 31 - 1) }),
          fc.constantFrom(min, max),
        ),
        (value) => {
          expect(trip(type, value)).toBe(value);
          if (isExactInAvsc(value)) expect(type.toBuffer(value)).toEqual(plainType.toBuffer(value));
        },
      ),
    );
    for (const value of [min - 1, max + 1, 1.5, Number.NaN, '1', 1n, null, undefined]) {
      expect(() => type.toBuffer(value)).toThrow(RangeError);
    }
  });

  it('refuse a stored value that is out of bounds', () => {
    expect(() => u32.fromBuffer(plainLong.toBuffer(2 ** 40))).toThrow(RangeError);
    expect(() => u53.fromBuffer(plainLong.toBuffer(-1000))).toThrow(RangeError);
    expect(() => parseSchema({ type: 'int', logicalType: 'u8' }).fromBuffer(plainLong.toBuffer(-3))).toThrow(
      RangeError,
    );
  });
});

describe('bytes and names', () => {
  const key = parseSchema({ type: 'fixed', name: 'Pubkey', size: 32, logicalType: 'raw' });
  const raw = parseSchema({ type: 'bytes', logicalType: 'raw' });
  const variant = parseSchema({ type: 'string', logicalType: 'variant' });

  it('fixed bytes keep their length and are a copy', () => {
    const value = new Uint8Array(32).map((_, index) => index);
    const stored = key.toBuffer(value);
    const read = key.fromBuffer(stored) as Uint8Array;
    stored.fill(0);
    expect(read).toEqual(value);
    expect(() => key.toBuffer(new Uint8Array(31))).toThrow(RangeError);
    expect(() => key.toBuffer([1, 2])).toThrow(RangeError);
    expect(() => key.fromBuffer(Buffer.alloc(31))).toThrow(/truncated/);
  });

  it('bytes of any length survive, as plain Avro bytes', () => {
    const plain = avro.Type.forSchema('bytes');
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 3000 }), (value) => {
        expect(trip(raw, value)).toEqual(value);
        expect(raw.toBuffer(value)).toEqual(plain.toBuffer(Buffer.from(value)));
      }),
    );
    expect(() => raw.fromBuffer(Buffer.from('fa01', 'hex'))).toThrow(/truncated/);
  });

  it('variant names survive, also when two share a slot of the table of known names', () => {
    const plain = avro.Type.forSchema('string');
    const names = Array.from({ length: 5000 }, (_, index) => `unknown(${index})`);
    for (const name of [...names, ...names, '']) {
      expect(trip(variant, name)).toBe(name);
      expect(variant.toBuffer(name)).toEqual(plain.toBuffer(name));
    }
    expect(() => variant.toBuffer('é')).toThrow(RangeError);
    expect(() => variant.toBuffer('x'.repeat(64))).toThrow(RangeError);
    expect(variant.fromBuffer(plain.toBuffer('é'.repeat(100)))).toBe('é'.repeat(100));
  });
});

describe('nullable values', () => {
  const type = parseSchema(['null', { type: 'long', logicalType: 'u64' }]);

  it('distinguish null from zero', () => {
    expect(trip(type, null)).toBeNull();
    expect(trip(type, 0n)).toBe(0n);
    expect(type.toBuffer(null).toString('hex')).toBe('00');
    expect(type.toBuffer(0n).toString('hex')).toBe('0200');
  });

  it('refuse a missing value and an unknown branch', () => {
    expect(() => type.toBuffer(undefined)).toThrow(RangeError);
    expect(() => type.fromBuffer(Buffer.from('04', 'hex'))).toThrow(RangeError);
  });

  it('detect truncated bytes', () => {
    expect(() => type.fromBuffer(Buffer.alloc(0))).toThrow(/truncated/);
  });
});

describe('reading an older version', () => {
  const record = (fields: unknown[]) => parseSchema({ type: 'record', name: 'R', fields });
  const field = (name: string, type: unknown, more = {}) => ({ name, type, ...more });
  const a = field('a', { type: 'long', logicalType: 'u64' });

  it('fills an appended field with null, and drops a removed one', () => {
    const older = record([a, field('gone', { type: 'int', logicalType: 'u8' })]);
    const newer = record([a, field('b', ['null', { type: 'long', logicalType: 'i64' }], { default: null })]);
    const resolver = newer.createResolver(older);
    expect(newer.fromBuffer(older.toBuffer({ a: 5n, gone: 1 }), resolver)).toEqual({ a: 5n, b: null });
  });

  it('reads a field that became nullable, and a narrower integer', () => {
    const older = record([a, field('n', { type: 'int', logicalType: 'u8' })]);
    const newer = record([field('a', ['null', a.type]), field('n', { type: 'int', logicalType: 'u16' })]);
    expect(newer.fromBuffer(older.toBuffer({ a: 5n, n: 200 }), newer.createResolver(older))).toEqual({ a: 5n, n: 200 });
  });

  it('refuses an incompatible change', () => {
    const signed = record([field('a', { type: 'long', logicalType: 'i64' })]);
    expect(() => record([a]).createResolver(signed)).toThrow();
    expect(() => record([a, field('b', 'string')]).createResolver(record([a]))).toThrow();
  });
});
