// Candles as they are published: of the rows of a bucket and the close before it, and withdrawn ones.

import type { CandleView, WithdrawnCandle } from '../../schemas/index.ts';
import {
  amountOf,
  BASE_LOW,
  CLOSE,
  type FillSeries,
  type Floor,
  HIGH,
  LOW,
  ORDER,
  type OracleSeries,
  QUOTE_LOW,
  TIME,
  TRADES,
} from './rows.ts';

/** Which candle it is, and how new. */
export type CandleHead = Pick<CandleView, 'marketType' | 'marketIndex' | 'resolution' | 'ts' | 'slot' | 'version'>;

interface Bucket {
  readonly fills: FillSeries;
  readonly oracles: OracleSeries;
  readonly bucket: number;
}

/** The candle of a bucket, with or without rows. */
export function candleView(
  head: CandleHead,
  { fills, oracles, bucket }: Bucket,
  { fillOpen, oracleOpen }: { readonly fillOpen: number; readonly oracleOpen: number },
): CandleView {
  const oracle = ohlc(oracles, bucket, oracleOpen);
  const fill = ohlc(fills, bucket, fillOpen);
  const traded = fills.find(bucket);
  const { rows, at } = fills;
  const id = traded ? (rows[at + ORDER] ?? 0) : -1;
  return {
    ...head,
    fillOpen: BigInt(fillOpen),
    fillHigh: BigInt(fill.high),
    fillLow: BigInt(fill.low),
    fillClose: BigInt(fill.close),
    oracleOpen: BigInt(oracleOpen),
    oracleHigh: BigInt(oracle.high),
    oracleLow: BigInt(oracle.low),
    oracleClose: BigInt(oracle.close),
    quoteVolume: traded ? amountOf(rows, at + QUOTE_LOW) : 0n,
    baseVolume: traded ? amountOf(rows, at + BASE_LOW) : 0n,
    trades: traded ? (rows[at + TRADES] ?? 0) : 0,
    lastTradeTs: traded ? BigInt(rows[at + TIME] ?? 0) : null,
    lastFillRecordId: id >= 0 ? BigInt(id) : null,
  };
}

/** Takes the place of a published candle. */
export function withdrawnCandle(head: CandleHead): WithdrawnCandle {
  return {
    ...head,
    fillOpen: null,
    fillHigh: null,
    fillLow: null,
    fillClose: null,
    oracleOpen: null,
    oracleHigh: null,
    oracleLow: null,
    oracleClose: null,
    quoteVolume: 0n,
    baseVolume: 0n,
    trades: 0,
    lastTradeTs: null,
    lastFillRecordId: null,
  };
}

/** Close before a bucket: every bucket but the first has an earlier row, or a pruned one. */
export function closeBefore(series: FillSeries | OracleSeries, bucket: number, floor: Floor | null): number {
  if (series.findBefore(bucket)) return series.rows[series.at + CLOSE] ?? 0;
  return floor?.price ?? 0;
}

function ohlc(
  series: FillSeries | OracleSeries,
  bucket: number,
  open: number,
): Record<'high' | 'low' | 'close', number> {
  if (!series.find(bucket)) return { high: open, low: open, close: open };
  const { rows, at } = series;
  return {
    high: Math.max(open, rows[at + HIGH] ?? 0),
    low: Math.min(open, rows[at + LOW] ?? 0),
    close: rows[at + CLOSE] ?? 0,
  };
}
