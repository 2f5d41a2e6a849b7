// The last 24 hours of a market by whole minutes (see MarketSummary): sums and extremes of its rows.

import type { MarketSummary } from '../../schemas/index.ts';
import { minuteOf } from './buckets.ts';
import {
  addAmount,
  amountOf,
  BASE_LOW,
  CLOSE,
  type FillSeries,
  type Floor,
  fillRow,
  HIGH,
  LOW,
  type OracleSeries,
  QUOTE_LOW,
  TIME,
  TRADES,
} from './rows.ts';

/** Minutes of the window; the newest contains `now`. */
const WINDOW_MINUTES = 1440;

export type Window = Pick<
  MarketSummary,
  | 'quoteVolume24h'
  | 'baseVolume24h'
  | 'trades24h'
  | 'lastFillPrice'
  | 'lastFillTs'
  | 'fillPrice24hAgo'
  | 'fillHigh24h'
  | 'fillLow24h'
  | 'oracleHigh24h'
  | 'oracleLow24h'
>;

interface Minutes {
  /** Fills that make candles. */
  readonly fills: FillSeries;
  /** Fills that count as volume only. */
  readonly others: FillSeries;
  readonly oracles: OracleSeries;
  readonly fillFloor: Floor | null;
}

/** First minute of the window that ends at a time, unix seconds. */
export function windowStart(ts: number): number {
  return minuteOf(ts) - WINDOW_MINUTES + 1;
}

export function windowOf({ fills, others, oracles, fillFloor }: Minutes, ts: number): Window {
  const from = windowStart(ts);
  const to = minuteOf(ts);
  const sum = fillRow();
  const add = (rows: Float64Array, at: number): void => {
    addAmount(sum, QUOTE_LOW, rows, at + QUOTE_LOW);
    addAmount(sum, BASE_LOW, rows, at + BASE_LOW);
    sum[TRADES] = (sum[TRADES] ?? 0) + (rows[at + TRADES] ?? 0);
  };
  others.forRange(from, to, add);
  const fill = extremes(fills, from, to, add);
  const oracle = extremes(oracles, from, to);
  const last = newestOf(fills, fillFloor);
  return {
    quoteVolume24h: amountOf(sum, QUOTE_LOW),
    baseVolume24h: amountOf(sum, BASE_LOW),
    trades24h: sum[TRADES] ?? 0,
    lastFillPrice: exact(last?.price ?? null),
    lastFillTs: last?.ts ?? null,
    fillPrice24hAgo: exact(priceBefore(fills, from, fillFloor)),
    fillHigh24h: exact(fill?.high ?? null),
    fillLow24h: exact(fill?.low ?? null),
    oracleHigh24h: exact(oracle?.high ?? null),
    oracleLow24h: exact(oracle?.low ?? null),
  };
}

/** Newest close and its time, pruned rows included. */
export function newestOf(series: FillSeries | OracleSeries, floor: Floor | null): Floor | null {
  if (!series.findNewest()) return floor;
  return { price: series.rows[series.at + CLOSE] ?? 0, ts: series.rows[series.at + TIME] ?? 0 };
}

function priceBefore(fills: FillSeries, minute: number, floor: Floor | null): number | null {
  return fills.findBefore(minute) ? (fills.rows[fills.at + CLOSE] ?? 0) : (floor?.price ?? null);
}

function extremes(
  series: FillSeries | OracleSeries,
  from: number,
  to: number,
  also?: (rows: Float64Array, at: number) => void,
): { readonly high: number; readonly low: number } | null {
  let high = Number.NEGATIVE_INFINITY;
  let low = Number.POSITIVE_INFINITY;
  series.forRange(from, to, (rows, at) => {
    high = Math.max(high, rows[at + HIGH] ?? 0);
    low = Math.min(low, rows[at + LOW] ?? 0);
    also?.(rows, at);
  });
  return high < low ? null : { high, low };
}

function exact(value: number | null): bigint | null {
  return value === null ? null : BigInt(value);
}
