// Candles from sums per traded bucket: opens carried from closes, quiet buckets filled flat (history reference 7.2). Pure.

import { greatest, least, wholeUnits } from '../units.ts';
import { type Resolution, shiftBucket } from './buckets.ts';

const PRICE_DECIMALS = 6;
const QUOTE_DECIMALS = 6;

/** Open, high, low and close of fills and oracle, prices 1e6. */
export interface Ohlc {
  readonly open: bigint;
  readonly high: bigint;
  readonly low: bigint;
  readonly close: bigint;
}

/** What the fills of one bucket alone say. */
export interface TradedBucket {
  /** Bucket start, unix seconds. */
  readonly ts: number;
  readonly fill: Ohlc;
  readonly oracle: Ohlc;
  /** 1e6. */
  readonly quoteVolume: bigint;
  /** In the market's base units. */
  readonly baseVolume: bigint;
}

/** Prices 1e6 at which the history before the first requested bucket ended. */
export interface PreviousClose {
  readonly fill: bigint;
  readonly oracle: bigint;
}

/** Human units, JSON numbers: the specified exception to raw integers. */
export interface Candle {
  readonly ts: number;
  readonly fillOpen: number;
  readonly fillHigh: number;
  readonly fillLow: number;
  readonly fillClose: number;
  readonly oracleOpen: number;
  readonly oracleHigh: number;
  readonly oracleLow: number;
  readonly oracleClose: number;
  readonly quoteVolume: number;
  readonly baseVolume: number;
}

export interface CandleRange {
  readonly resolution: Resolution;
  /** Start of the oldest and of the newest bucket wanted, unix seconds. */
  readonly oldest: number;
  readonly newest: number;
  readonly baseDecimals: number;
}

/**
 * One candle per bucket of the range, newest first. `traded` holds the buckets with fills, oldest first. Buckets before
 * a market's first fill have no candle; the first fill's price opens its bucket.
 */
export function buildCandles(
  { resolution, oldest, newest, baseDecimals }: CandleRange,
  traded: readonly TradedBucket[],
  previous: PreviousClose | null,
): readonly Candle[] {
  const byStart = new Map(traded.map((bucket) => [bucket.ts, bucket]));
  const candles: Candle[] = [];
  let fill = previous?.fill ?? null;
  let oracle = previous?.oracle ?? null;
  for (let ts = oldest; ts <= newest; ts = shiftBucket(resolution, ts, 1)) {
    const bucket = byStart.get(ts);
    if (!bucket && (fill === null || oracle === null)) continue;
    const fills = bucket ? opened(bucket.fill, fill) : flat(fill ?? 0n);
    const oracles = bucket ? opened(bucket.oracle, oracle) : flat(oracle ?? 0n);
    fill = fills.close;
    oracle = oracles.close;
    candles.push(candle(ts, fills, oracles, bucket ?? { quoteVolume: 0n, baseVolume: 0n }, baseDecimals));
  }
  return candles.reverse();
}

function opened(own: Ohlc, previousClose: bigint | null): Ohlc {
  const open = previousClose ?? own.open;
  return {
    open,
    high: greatest(open, own.high),
    low: least(open, own.low),
    close: own.close,
  };
}

function flat(price: bigint): Ohlc {
  return { open: price, high: price, low: price, close: price };
}

function candle(
  ts: number,
  fill: Ohlc,
  oracle: Ohlc,
  volumes: Pick<TradedBucket, 'quoteVolume' | 'baseVolume'>,
  baseDecimals: number,
): Candle {
  const price = (value: bigint) => wholeUnits(value, PRICE_DECIMALS);
  return {
    ts,
    fillOpen: price(fill.open),
    fillHigh: price(fill.high),
    fillLow: price(fill.low),
    fillClose: price(fill.close),
    oracleOpen: price(oracle.open),
    oracleHigh: price(oracle.high),
    oracleLow: price(oracle.low),
    oracleClose: price(oracle.close),
    quoteVolume: wholeUnits(volumes.quoteVolume, QUOTE_DECIMALS),
    baseVolume: wholeUnits(volumes.baseVolume, baseDecimals),
  };
}
