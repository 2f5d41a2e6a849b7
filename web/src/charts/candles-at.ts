// Candles at an earlier slot: the last one ends with that slot.

import { history } from '../services.ts';
import { fromHistory, type HistoryTrade } from '../state/trades.ts';
import { type Candle, candlePage, type Resolution } from './candle-data.ts';

const TRADE_PAGE = 50;
const FILLS_MAX = 1_000;
const MINUTE = 60;
const HOUR = 3600;

export interface Moment {
  readonly slot: number;
  /** Unix seconds. */
  readonly ts: number;
  readonly oracle: number | null;
  readonly baseDecimals: number;
}

/** The candles that were complete at a moment, and the one that had begun, with the fills up to the slot alone. */
export async function candlesAt(
  market: string,
  resolution: Resolution,
  moment: Moment,
  signal: AbortSignal,
): Promise<readonly Candle[]> {
  const page = await candlePage(market, resolution, moment.ts, signal);
  const last = page.at(-1);
  if (!last) return [];
  const begun = await begunCandle(market, last.ts, moment, signal);
  return begun ? [...page.slice(0, -1), begun] : page.slice(0, -1);
}

/** The candle that began at `from`, made of whole hours, whole minutes, and the fills of the last minute. */
async function begunCandle(market: string, from: number, moment: Moment, signal: AbortSignal): Promise<Candle | null> {
  const hour = Math.max(from, moment.ts - (moment.ts % HOUR));
  const minute = Math.max(from, moment.ts - (moment.ts % MINUTE));
  const [hours, minutes, fills] = await Promise.all([
    hour > from ? candlesIn(market, '60', from, hour, signal) : [],
    minute > hour ? candlesIn(market, '1', hour, minute, signal) : [],
    fillsOf(market, minute, moment, signal),
  ]);
  return summed(from, [...hours, ...minutes, ...fills], moment.oracle);
}

async function candlesIn(
  market: string,
  resolution: Resolution,
  from: number,
  to: number,
  signal: AbortSignal,
): Promise<readonly Candle[]> {
  const params = { symbol: market, resolution, from, to };
  return (await history.get('/market/{symbol}/candles/{resolution}/bulk', params, { signal })).records;
}

/** Each fill from `from` to the slot as a candle of its own, oldest first. */
async function fillsOf(
  market: string,
  from: number,
  { slot, ts, baseDecimals }: Moment,
  signal: AbortSignal,
): Promise<readonly Candle[]> {
  const fills: HistoryTrade[] = [];
  const params = { symbol: market, startTs: from, endTs: ts + 1, limit: TRADE_PAGE };
  for await (const record of history.records('/market/{symbol}/trades', params, { signal })) {
    if (record.slot <= slot) fills.push(record);
    if (fills.length === FILLS_MAX) break;
  }
  return fills.toReversed().map((fill) => {
    const { price, size } = fromHistory(fill, baseDecimals);
    return {
      ...{ ts: fill.ts, fillOpen: price, fillHigh: price, fillLow: price, fillClose: price },
      ...{ oracleOpen: 0, oracleHigh: 0, oracleLow: 0, oracleClose: 0, baseVolume: size, quoteVolume: size * price },
    };
  });
}

/** One candle of the parts, oldest first; null without a part. `oracle` is the newest oracle price. */
export function summed(ts: number, parts: readonly Candle[], oracle: number | null): Candle | null {
  const [first] = parts;
  const last = parts.at(-1);
  if (!first || !last) return null;
  const sum = (pick: (part: Candle) => number) => parts.reduce((total, part) => total + pick(part), 0);
  const oracles = parts.flatMap(({ oracleHigh, oracleLow }) => (oracleLow > 0 ? [oracleHigh, oracleLow] : []));
  if (oracle !== null) oracles.push(oracle);
  return {
    ts,
    fillOpen: first.fillOpen,
    fillHigh: Math.max(...parts.map(({ fillHigh }) => fillHigh)),
    fillLow: Math.min(...parts.map(({ fillLow }) => fillLow)),
    fillClose: last.fillClose,
    oracleOpen: first.oracleOpen || (oracle ?? 0),
    oracleHigh: Math.max(0, ...oracles),
    oracleLow: oracles.length === 0 ? 0 : Math.min(...oracles),
    oracleClose: oracle ?? last.oracleClose,
    baseVolume: sum(({ baseVolume }) => baseVolume),
    quoteVolume: sum(({ quoteVolume }) => quoteVolume),
  };
}
