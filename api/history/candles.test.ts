import { describe, expect, it } from 'vitest';
import { buildCandles, type Ohlc, type TradedBucket } from './candles.ts';

const price = (human: number): bigint => BigInt(Math.round(human * 1e6));
const ohlc = (open: number, high: number, low: number, close: number): Ohlc => ({
  open: price(open),
  high: price(high),
  low: price(low),
  close: price(close),
});
const bucket = (ts: number, fill: Ohlc): TradedBucket => ({
  ts,
  fill,
  oracle: fill,
  quoteVolume: 225_300_000n,
  baseVolume: 1_500_000_000n,
});
const range = { resolution: '1', oldest: 0, newest: 240, baseDecimals: 9 } as const;
const fillOf = (candle: { fillOpen: number; fillHigh: number; fillLow: number; fillClose: number }) => [
  candle.fillOpen,
  candle.fillHigh,
  candle.fillLow,
  candle.fillClose,
];

describe('candles', () => {
  it('begin with the first fill, open at the previous close and fill quiet buckets flat, newest first', () => {
    const traded = [bucket(60, ohlc(10, 12, 9, 11)), bucket(180, ohlc(13, 14, 12.5, 13.5))];
    const candles = buildCandles(range, traded, null);
    expect(candles.map(({ ts }) => ts)).toEqual([240, 180, 120, 60]);
    expect(candles.map(fillOf)).toEqual([
      [13.5, 13.5, 13.5, 13.5],
      [11, 14, 11, 13.5],
      [11, 11, 11, 11],
      [10, 12, 9, 11],
    ]);
    expect(candles.map(({ quoteVolume, baseVolume }) => [quoteVolume, baseVolume])).toEqual([
      [0, 0],
      [225.3, 1.5],
      [0, 0],
      [225.3, 1.5],
    ]);
    expect(candles[0]).toMatchObject({ oracleOpen: 13.5, oracleClose: 13.5 });
  });

  it('continue from the close before the range', () => {
    const candles = buildCandles(range, [bucket(60, ohlc(10, 12, 9, 11))], { fill: price(20), oracle: price(21) });
    expect(candles).toHaveLength(5);
    expect(fillOf(candles[4] ?? candles[0] ?? never())).toEqual([20, 20, 20, 20]);
    expect(fillOf(candles[3] ?? never())).toEqual([20, 20, 9, 11]);
    expect(candles[4]?.oracleOpen).toBe(21);
  });

  it('are none for a market that never traded', () => {
    expect(buildCandles(range, [], null)).toEqual([]);
  });
});

function never(): never {
  throw new Error('a candle is missing');
}
