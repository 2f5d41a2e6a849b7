import { describe, expect, it } from 'vitest';
import { gridOf } from './grid.ts';
import { byBucket, CarriedForward } from './series.ts';

const NOON = Date.UTC(2026, 5, 15, 12, 0, 30) / 1000;
const MIDNIGHT = Date.UTC(2026, 5, 15) / 1000;
const DAY = 86_400;

describe('points of snapshots', () => {
  it('are at the midnights of the days and now', () => {
    expect(gridOf(NOON, 2, 'daily').times).toEqual([MIDNIGHT - DAY, MIDNIGHT, NOON]);
    expect(gridOf(MIDNIGHT, 2, 'daily').times).toEqual([MIDNIGHT - DAY, MIDNIGHT]);
  });

  it('are at the 24 hours of one day and now', () => {
    const { times, step } = gridOf(NOON, 1, 'hourly');
    expect([times.length, step, times[0], times.at(-2), times.at(-1)]).toEqual([
      25,
      3600,
      NOON - 30 - 23 * 3600,
      NOON - 30,
      NOON,
    ]);
  });

  it('carry values forward to later points', () => {
    const rows = [
      { bucket: '2', name: 'b', value: 3 },
      { bucket: '1', name: 'a', value: 1 },
      { bucket: '3', name: 'a', value: 2 },
    ];
    const series = CarriedForward.of(
      rows,
      4,
      ({ name }) => name,
      ({ value }) => value,
    );
    expect([0, 1, 2, 3].map((point) => series.at('a', point))).toEqual([null, 1, 1, 2]);
    expect([series.at('b', 3), series.at('c', 3)]).toEqual([3, null]);
    expect(byBucket(rows, 4).map((bucket) => bucket.length)).toEqual([0, 1, 1, 1]);
  });
});
