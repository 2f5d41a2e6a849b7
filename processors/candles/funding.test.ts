import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FundingView } from '../../schemas/index.ts';
import { FUNDING_RECORDS, FundingRates, fundingPercent1e9 } from './funding.ts';

const recordOf = (recordId: number): FundingView => ({
  recordId: BigInt(recordId),
  ts: 1_733_004_000 + recordId * 3600,
  fundingRate: BigInt(recordId),
  fundingRateLong: BigInt(recordId * 1000) * (recordId % 2 === 0 ? -1n : 1n),
  fundingRateShort: 0n,
  oraclePriceTwap: 150_000_000n,
});

describe('funding rates', () => {
  it('are the newest of a set, whatever the order, repeats and restarts', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(60), { maxLength: 120 }), fc.integer({ min: 1, max: 20 }), (list, every) => {
        let rates = new FundingRates();
        for (const [index, id] of list.entries()) {
          rates.add(recordOf(id));
          if (index % every !== 0) continue;
          const bytes = rates.encode();
          rates = new FundingRates();
          rates.restore(bytes);
        }
        const newest = [...new Set(list)].sort((left, right) => right - left).slice(0, FUNDING_RECORDS);
        expect(rates.count).toBe(newest.length);
        expect(rates.newest).toEqual(newest[0] === undefined ? null : recordOf(newest[0]));
        const sum = newest.reduce((total, id) => total + fundingPercent1e9(recordOf(id)), 0n);
        expect(rates.percentSum1e9).toBe(sum);
      }),
    );
  });

  it('are percent per hour as the reference works them out', () => {
    // 0.0000790517 of the price in an hour is shown as 0.007905 percent (reference 3.5.1).
    const record = { ...recordOf(1), fundingRateLong: 790_517n, oraclePriceTwap: 10_000_000n };
    expect(fundingPercent1e9(record)).toBe(7_905_170n);
    expect(fundingPercent1e9({ ...record, fundingRateLong: -790_517n })).toBe(-7_905_170n);
    expect(fundingPercent1e9({ ...record, oraclePriceTwap: 0n })).toBe(0n);
  });
});
