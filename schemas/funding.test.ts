import { describe, expect, it } from 'vitest';
import { fundingPercent1e9 } from './funding.ts';

describe('funding in percent', () => {
  it('is per hour as the reference works it out', () => {
    // 0.0000790517 of the price in an hour is shown as 0.007905 percent (reference 3.5.1).
    expect(fundingPercent1e9(790_517n, 10_000_000n)).toBe(7_905_170n);
    expect(fundingPercent1e9(-790_517n, 10_000_000n)).toBe(-7_905_170n);
  });

  it('is truncated toward zero, and 0 without a price', () => {
    expect([fundingPercent1e9(1n, 3n), fundingPercent1e9(-1n, 3n), fundingPercent1e9(5n, 0n)]).toEqual([
      33_333_333n,
      -33_333_333n,
      0n,
    ]);
  });
});
