// Candle buckets: where each resolution's buckets begin (history reference 7.1). Unix seconds, UTC. Pure.

const MINUTE_S = 60;
const DAY_S = 86_400;
const WEEK_S = 7 * DAY_S;
/** 1970-01-01 was a Thursday; weeks begin on Monday. */
const MONDAY_SHIFT_S = 3 * DAY_S;

export const RESOLUTIONS = ['1', '5', '15', '60', '240', 'D', 'W', 'M'] as const;
export type Resolution = (typeof RESOLUTIONS)[number];

const FIXED_STEP_S: Readonly<Record<Exclude<Resolution, 'W' | 'M'>, number>> = {
  '1': MINUTE_S,
  '5': 5 * MINUTE_S,
  '15': 15 * MINUTE_S,
  '60': 60 * MINUTE_S,
  '240': 240 * MINUTE_S,
  D: DAY_S,
};

/** Start of the bucket that holds `ts`. */
export function bucketStart(resolution: Resolution, ts: number): number {
  if (resolution === 'M') return monthStart(ts, 0);
  if (resolution === 'W') return Math.floor((ts + MONDAY_SHIFT_S) / WEEK_S) * WEEK_S - MONDAY_SHIFT_S;
  const step = FIXED_STEP_S[resolution];
  return Math.floor(ts / step) * step;
}

/** Start of the bucket `count` after (or, negative, before) the one that begins at `start`. */
export function shiftBucket(resolution: Resolution, start: number, count: number): number {
  if (resolution === 'M') return monthStart(start, count);
  return start + count * (resolution === 'W' ? WEEK_S : FIXED_STEP_S[resolution]);
}

function monthStart(ts: number, shift: number): number {
  const date = new Date(ts * 1000);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + shift, 1) / 1000;
}

/** The same rule as SQL over an integer column of unix seconds. */
export function bucketSql(resolution: Resolution, ts: string): string {
  if (resolution === 'M') {
    return `toInt64(toUnixTimestamp(toDateTime(toStartOfMonth(toDateTime(${ts}, 'UTC')), 'UTC')))`;
  }
  if (resolution === 'W') return `intDiv(${ts} + ${MONDAY_SHIFT_S}, ${WEEK_S}) * ${WEEK_S} - ${MONDAY_SHIFT_S}`;
  const step = FIXED_STEP_S[resolution];
  return `intDiv(${ts}, ${step}) * ${step}`;
}
