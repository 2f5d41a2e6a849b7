import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAmount } from './amounts.ts';

describe('decimal amounts', () => {
  it('are read exactly, digit by digit', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }), fc.integer({ min: 0, max: 9 }), (value, decimals) => {
        const digits = String(value).padStart(decimals + 1, '0');
        const at = digits.length - decimals;
        const text = decimals === 0 ? digits : `${digits.slice(0, at)}.${digits.slice(at)}`;
        expect(parseAmount(text, decimals)).toBe(value);
      }),
    );
    expect(parseAmount('0.1', 9)).toBe(100_000_000n);
    expect(parseAmount('9007199254.740993', 6)).toBe(9_007_199_254_740_993n);
    expect(parseAmount(' 1.50000000000 ', 6)).toBe(1_500_000n);
  });

  it.each([
    '',
    '0',
    '0.000',
    '-1',
    '+1',
    '1e3',
    '1,5',
    '.5',
    '5.',
    '0x10',
    'NaN',
    'Infinity',
    '1 000',
    '0.0000001',
    '18446744073710',
  ])('refuse %j', (text) => {
    expect(parseAmount(text, 6)).toBeNull();
  });
});
