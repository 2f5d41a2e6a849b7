import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bucketStart, RESOLUTIONS, shiftBucket } from './buckets.ts';

describe('candle buckets', () => {
  it('begin where the reference says for its check time', () => {
    const starts = RESOLUTIONS.map((resolution) => bucketStart(resolution, 1_732_588_401));
    expect(starts).toEqual([
      1_732_588_380, 1_732_588_200, 1_732_588_200, 1_732_586_400, 1_732_579_200, 1_732_579_200, 1_732_492_800,
      1_730_419_200,
    ]);
  });

  it('cover time without holes: a time lies between its start and the next one', () => {
    const times = fc.integer({ min: 0, max: 4_000_000_000 });
    fc.assert(
      fc.property(fc.constantFrom(...RESOLUTIONS), times, (resolution, ts) => {
        const start = bucketStart(resolution, ts);
        const next = shiftBucket(resolution, start, 1);
        expect(start <= ts && ts < next).toBe(true);
        expect(bucketStart(resolution, next)).toBe(next);
        expect(bucketStart(resolution, next - 1)).toBe(start);
        expect(shiftBucket(resolution, next, -1)).toBe(start);
      }),
    );
  });
});
