import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FUNDING_RECORDS, type FundingView, fundingPercent1e9 } from '../../schemas/index.ts';
import { FundingRates } from './funding.ts';

const percentOf = ({ fundingRateLong, oraclePriceTwap }: FundingView): bigint =>
  fundingPercent1e9(fundingRateLong, oraclePriceTwap);

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
        const sum = newest.reduce((total, id) => total + percentOf(recordOf(id)), 0n);
        expect(rates.percentSum1e9).toBe(sum);
      }),
    );
  });

  it('with the id of a dropped record take its place, in either order', () => {
    const dropped = recordOf(8);
    const again = { ...recordOf(8), ts: dropped.ts + 1, fundingRate: 5n };
    for (const order of [
      [dropped, again, recordOf(7)],
      [again, recordOf(7), dropped],
    ]) {
      const rates = new FundingRates();
      for (const record of order) rates.add(record);
      expect([rates.count, rates.newest]).toEqual([2, again]);
    }
  });
});
