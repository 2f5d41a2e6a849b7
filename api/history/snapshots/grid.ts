// Times of the points of a snapshot series. The bucket of a point has the rows since the point before.

import { DAY_S, HOUR_S } from '../seconds.ts';
import type { Parameters } from '../store.ts';

export interface Grid {
  /** Oldest point, unix seconds. */
  readonly first: number;
  readonly step: number;
  /** Every point, oldest first; the last is now. */
  readonly times: readonly number[];
}

export type Frequency = 'hourly' | 'daily';

/** A single day has hourly points, more days have daily ones (docs/internals/history-semantics.md, "Snapshots"). */
export const frequencyOf = (days: number): Frequency => (days === 1 ? 'hourly' : 'daily');

/**
 * Points at the UTC hours or midnights within (now - days, now], and one at now. `days` is at least 1. Bucket 0 has rows up to
 * the first point; bucket k has rows after point k - 1 up to point k.
 */
export function gridOf(now: number, days: number, frequency: Frequency): Grid {
  const step = frequency === 'hourly' ? HOUR_S : DAY_S;
  const newest = Math.floor(now / step) * step;
  const count = (days * DAY_S) / step;
  const times = Array.from({ length: count }, (_, index) => newest - (count - 1 - index) * step);
  const first = times[0] ?? newest;
  return { first, step, times: newest === now ? times : [...times, now] };
}

/** SQL of a row's bucket. It needs `gridParameters` and rows with a time up to `{last:Int64}`. */
export const bucketSql = (ts: string): string =>
  `if(${ts} <= {first:Int64}, 0, intDiv(${ts} - {first:Int64} + {step:Int64} - 1, {step:Int64}))`;

export function gridParameters({ first, step, times }: Grid): Parameters {
  return { first, step, last: times.at(-1) ?? first };
}
