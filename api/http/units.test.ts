import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decimalText, divideRounded, greatest, least, wholeUnits } from './units.ts';

describe('whole units', () => {
  it('prints every digit of the scale', () => {
    expect(decimalText(1_500_000_000n, 9)).toBe('1.500000000');
    expect(decimalText(-1n, 6)).toBe('-0.000001');
    expect(decimalText(0n, 6)).toBe('0.000000');
    expect(decimalText(42n, 0)).toBe('42');
  });

  it('gives the number whose text is the decimal, without drift', () => {
    expect(wholeUnits(300_000n, 6)).toBe(0.3);
    expect(wholeUnits(225_300_000n, 6)).toBe(225.3);
    expect(wholeUnits(-78_750n, 6)).toBe(-0.07875);
  });

  it('keeps every digit of a decimal text', () => {
    fc.assert(
      fc.property(fc.bigInt(), fc.integer({ min: 0, max: 18 }), (value, decimals) => {
        const text = decimalText(value, decimals);
        const digits = BigInt(text.replace('.', ''));
        expect(digits).toBe(value);
        expect(text.length - (text.includes('.') ? text.indexOf('.') + 1 : text.length)).toBe(decimals);
      }),
    );
  });
});

describe('whole units as numbers', () => {
  it('equal the parsed decimal texts at every size', () => {
    const limit = 2n ** 53n;
    const values = fc.oneof(fc.bigInt(), fc.bigInt({ min: -limit, max: limit }), fc.bigInt({ min: -9n, max: 9n }));
    fc.assert(
      fc.property(values, fc.integer({ min: 0, max: 24 }), (value, decimals) => {
        expect(wholeUnits(value, decimals)).toBe(Number(decimalText(value, decimals)));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('divideRounded', () => {
  it('rounds half away from zero on both sides', () => {
    expect([divideRounded(5n, 2n), divideRounded(-5n, 2n), divideRounded(5n, -2n), divideRounded(4n, 3n)]).toEqual([
      3n,
      -3n,
      -3n,
      1n,
    ]);
  });

  it('is never further than half a divisor away', () => {
    fc.assert(
      fc.property(fc.bigInt(), fc.bigInt({ min: 1n }), (a, b) => {
        const rest = a - divideRounded(a, b) * b;
        expect(2n * (rest < 0n ? -rest : rest) <= b).toBe(true);
      }),
    );
  });

  it('refuses a zero divisor', () => {
    expect(() => divideRounded(1n, 0n)).toThrow(RangeError);
  });
});

it('least and greatest compare bigints', () => {
  expect(least(3n, 1n, 2n)).toBe(1n);
  expect(greatest(3n, 1n, 4n)).toBe(4n);
});
