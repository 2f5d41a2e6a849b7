// Numbers the buckets of each resolution (docs/internals/history-semantics.md, "Candle buckets"): bucket n + 1 follows
// bucket n, so quiet times need no calendar. All in UTC; ts and starts are unix seconds.

import type { CandleResolution } from '../../schemas/index.ts';

const MINUTE_S = 60;
export const DAY_MINUTES = 1440;
const WEEK_DAYS = 7;
/** 1970-01-01 was a Thursday; weeks begin on Monday. */
const MONDAY_SHIFT_DAYS = 3;

const FIXED_MINUTES: Readonly<Record<Exclude<CandleResolution, 'W' | 'M'>, number>> = {
  '1': 1,
  '5': 5,
  '15': 15,
  '60': 60,
  '240': 240,
  D: DAY_MINUTES,
};

export function minuteOf(ts: number): number {
  return Math.floor(ts / MINUTE_S);
}

/** Number of the bucket that holds a minute (since 1970). */
export function bucketOf(resolution: CandleResolution, minute: number): number {
  if (resolution === 'M') return monthOf(Math.floor(minute / DAY_MINUTES));
  if (resolution === 'W') return Math.floor((Math.floor(minute / DAY_MINUTES) + MONDAY_SHIFT_DAYS) / WEEK_DAYS);
  return Math.floor(minute / FIXED_MINUTES[resolution]);
}

/** Start of a bucket, unix seconds. */
export function startOf(resolution: CandleResolution, bucket: number): number {
  return firstMinuteOf(resolution, bucket) * MINUTE_S;
}

/** Number of the first minute of a bucket. */
export function firstMinuteOf(resolution: CandleResolution, bucket: number): number {
  if (resolution === 'M') return firstDayOf(bucket) * DAY_MINUTES;
  if (resolution === 'W') return (bucket * WEEK_DAYS - MONDAY_SHIFT_DAYS) * DAY_MINUTES;
  return bucket * FIXED_MINUTES[resolution];
}

// Days and months of the Gregorian calendar by counting from 1 March of year 0, so that the leap day is a year's last.
// Source: H. Hinnant, "chrono-compatible low-level date algorithms" (days_from_civil, civil_from_days).
const DAYS_TO_1970 = 719_468;
const ERA_DAYS = 146_097;
const ERA_YEARS = 400;

/** Months since year 0 of the month that holds a day (since 1970). */
function monthOf(day: number): number {
  const shifted = day + DAYS_TO_1970;
  const era = Math.floor(shifted / ERA_DAYS);
  const ofEra = shifted - era * ERA_DAYS;
  const leaps = Math.floor(ofEra / 1460) - Math.floor(ofEra / 36_524) + Math.floor(ofEra / 146_096);
  const year = Math.floor((ofEra - leaps) / 365);
  const ofYear = ofEra - (365 * year + Math.floor(year / 4) - Math.floor(year / 100));
  const fromMarch = Math.floor((5 * ofYear + 2) / 153);
  return (era * ERA_YEARS + year) * 12 + fromMarch + 2;
}

/** Inverse of `monthOf`: the first day of the month. */
function firstDayOf(month: number): number {
  const fromMarch = month - 2;
  const year = Math.floor(fromMarch / 12);
  const era = Math.floor(year / ERA_YEARS);
  const ofEra = year - era * ERA_YEARS;
  const ofYear = Math.floor((153 * (fromMarch - year * 12) + 2) / 5);
  const days = 365 * ofEra + Math.floor(ofEra / 4) - Math.floor(ofEra / 100) + ofYear;
  return era * ERA_DAYS + days - DAYS_TO_1970;
}
