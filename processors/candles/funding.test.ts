import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FUNDING_RECORDS, type FundingView, fundingPercent1e9 } from '../../schemas/index.ts';
import { FundingRates } from './funding.ts';
import { encodeJson } from './json.ts';

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
          rates.add(recordOf(id), id);
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
    const dropped = [recordOf(8), 100] as const;
    const older = [recordOf(7), 90] as const;
    for (const seconds of [0, 1]) {
      const again = [{ ...recordOf(8), ts: recordOf(8).ts + seconds, fundingRate: 5n }, 101] as const;
      for (const order of [
        [dropped, again, older],
        [again, older, dropped],
      ]) {
        const rates = new FundingRates();
        for (const [record, slot] of order) rates.add(record, slot);
        expect([rates.count, rates.newest]).toEqual([2, again[0]]);
      }
    }
  });

  it('of a state without slots are replaced by the records that the log repeats', () => {
    const rates = new FundingRates();
    rates.restore(encodeJson([recordOf(8), recordOf(7)]));
    expect(rates.newest).toEqual(recordOf(8));
    expect(rates.add({ ...recordOf(8), fundingRate: 5n }, 100)).toBe(true);
    expect([rates.count, rates.newest?.fundingRate]).toEqual([2, 5n]);
  });
});
