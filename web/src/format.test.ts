// Numbers are exact, whatever their scale.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { amount, decimalsNeeded, decimalText, duration, shortKey } from './format.ts';

it('writes integers of any scale exactly', () => {
  expect(decimalText(1_500_000n, 6)).toBe('1.500000');
  expect(decimalText(-5n, 3)).toBe('-0.005');
  expect(decimalText(12n, 0)).toBe('12');
  fc.assert(
    fc.property(fc.bigInt(), fc.nat(18), (value, scale) => {
      const [whole = '', part = ''] = decimalText(value, scale).replace('-', '').split('.');
      expect(part).toHaveLength(scale);
      expect(BigInt(whole + part)).toBe(value < 0n ? -value : value);
    }),
  );
});

it('keeps every digit of an amount beyond 2^53', () => {
  expect(amount(9_007_199_254_740_993_123_456n, 6).replaceAll(/[^\d.]/g, '')).toBe('9007199254740993.123456');
});

it('finds the decimals that a price needs', () => {
  expect(decimalsNeeded(152_247_500n, 6)).toBe(4);
  expect(decimalsNeeded(152_000_000n, 6)).toBe(0);
  expect(decimalsNeeded(1n, 6)).toBe(6);
});

it('writes durations in words', () => {
  expect([0.26, 12.4, 240, 7_500].map(duration)).toEqual(['0.3 s', '12 s', '4 min', '2 h 5 min']);
});

it('shortens keys', () => {
  expect(shortKey('796atssRxYRiw4hBb6EHgWC3PsL9dTZFbRQNBVKxoUkB')).toBe('796a…oUkB');
});
