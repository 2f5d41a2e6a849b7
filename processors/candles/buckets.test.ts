import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CANDLE_RESOLUTIONS } from '../../schemas/index.ts';
import { bucketOf, minuteOf, startOf } from './buckets.ts';

const startsAt = (ts: number) =>
  CANDLE_RESOLUTIONS.map((resolution) => startOf(resolution, bucketOf(resolution, minuteOf(ts))));
const seconds = (date: string) => Date.parse(date) / 1000;

describe('candle buckets', () => {
  it('have the published check values', () => {
    expect(startsAt(1_732_588_401)).toEqual([
      1_732_588_380, 1_732_588_200, 1_732_588_200, 1_732_586_400, 1_732_579_200, 1_732_579_200, 1_732_492_800,
      1_730_419_200,
    ]);
  });
  it('begin weeks on Monday and months on the first, also in leap years', () => {
    expect(startsAt(seconds('2024-02-29T23:59:59Z')).slice(5)).toEqual(
      ['2024-02-29', '2024-02-26', '2024-02-01'].map(seconds),
    );
    expect(startsAt(seconds('2024-03-01T00:00:00Z')).slice(5)).toEqual(
      ['2024-03-01', '2024-02-26', '2024-03-01'].map(seconds),
    );
    expect(startsAt(seconds('2027-01-03T00:00:00Z')).slice(5)).toEqual(
      ['2027-01-03', '2026-12-28', '2027-01-01'].map(seconds),
    );
  });
  it('count months like the calendar', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 7_258_118_400 }), (ts) => {
        const date = new Date(ts * 1000);
        const month = bucketOf('M', minuteOf(ts));
        expect(startOf('M', month)).toBe(Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1) / 1000);
        expect(startOf('M', month + 1)).toBe(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1) / 1000);
      }),
    );
  });
  it('contain every second exactly once per resolution', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 4_000_000_000 }),
        fc.constantFrom(...CANDLE_RESOLUTIONS),
        (ts, resolution) => {
          const bucket = bucketOf(resolution, minuteOf(ts));
          expect(startOf(resolution, bucket)).toBeLessThanOrEqual(ts);
          expect(startOf(resolution, bucket + 1)).toBeGreaterThan(ts);
        },
      ),
    );
  });
});
