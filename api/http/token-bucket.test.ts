import { expect, it } from 'vitest';
import { TokenBucket } from './token-bucket.ts';

it('gives the burst, then the steady rate, and never holds more than the burst', () => {
  const bucket = new TokenBucket({ burst: 10, perSecond: 2 });
  expect(bucket.spend(10, 1000)).toBe(true);
  expect(bucket.has(1, 1000)).toBe(false);
  expect(bucket.has(1, 1499)).toBe(false);
  expect(bucket.spend(1, 1500)).toBe(true);
  expect(bucket.spend(10, 3_600_000)).toBe(true);
  expect(bucket.spend(1, 3_600_000)).toBe(false);
});

it('goes into no debt for refused tokens', () => {
  const bucket = new TokenBucket({ burst: 1, perSecond: 1 });
  expect([bucket.take(0), bucket.take(0), bucket.take(0)]).toEqual([true, false, false]);
  expect([bucket.take(1000), bucket.take(1000)]).toEqual([true, false]);
});
