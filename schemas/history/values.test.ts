import { describe, expect, it } from 'vitest';
import { fundingPercent1e9 } from './values.ts';

describe('funding in percent', () => {
  it('is per hour', () => {
    // 0.0000790517 of the price in an hour is 0.007905 percent (docs/internals/history-semantics.md, "Market summaries").
    expect(fundingPercent1e9(790_517n, 10_000_000n)).toBe(7_905_170n);
    expect(fundingPercent1e9(-790_517n, 10_000_000n)).toBe(-7_905_170n);
  });

  it('truncates toward zero, and is 0 without a price', () => {
    expect([fundingPercent1e9(1n, 3n), fundingPercent1e9(-1n, 3n), fundingPercent1e9(5n, 0n)]).toEqual([
      33_333_333n,
      -33_333_333n,
      0n,
    ]);
  });
});
