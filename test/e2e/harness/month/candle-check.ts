// Reads all candles of a market as the client library does, backwards page by page, and compares them with the naive ones.

import {
  type NaiveCandle,
  type NaiveOracle,
  naiveCandles,
  naiveOracles,
  RESOLUTIONS,
  type Resolution,
} from './candles.ts';
import { getJson, type Outcome } from './paging.ts';
import type { Sample } from './stored-samples.ts';
import { type MonthTruth, PERP_SYMBOLS } from './truth.ts';

const PAGE = 1_000;
/** A month has many one-minute candles, so all markets but one are compared in the newest pages only. */
const MINUTE_MARKETS = 1;
const MINUTE_PAGES = 3;

export type ServedCandle = NaiveCandle & NaiveOracle;

/** Newest first. Both bounds are inclusive, so the next page repeats the boundary candle. */
async function readCandles(
  base: string,
  symbol: string,
  resolution: Resolution,
  pagesMax = Infinity,
): Promise<{ readonly candles: readonly ServedCandle[]; readonly requests: number }> {
  const candles: ServedCandle[] = [];
  for (let requests = 1; ; requests += 1) {
    const oldest = candles.at(-1)?.ts;
    const bound = oldest === undefined ? '' : `&startTs=${oldest}`;
    const url = `${base}/market/${symbol}/candles/${resolution}?limit=${PAGE}${bound}`;
    const { records } = await getJson<{ records: readonly ServedCandle[] }>(url);
    const older = records.filter(({ ts }) => oldest === undefined || ts < oldest);
    candles.push(...older);
    if (older.length === 0 || records.length < PAGE || requests >= pagesMax) return { candles, requests };
  }
}

/** One outcome per market and resolution. */
export async function checkCandles(
  base: string,
  truth: MonthTruth,
  samples: readonly Sample[],
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const [index, symbol] of PERP_SYMBOLS.entries()) {
    for (const resolution of RESOLUTIONS) {
      const whole = resolution !== '1' || index < MINUTE_MARKETS;
      const { candles, requests } = await readCandles(base, symbol, resolution, whole ? Infinity : MINUTE_PAGES);
      outcomes.push({
        endpoint: `/market/{symbol}/candles/${resolution}`,
        path: `/market/${symbol}/candles/${resolution}`,
        rows: candles.length,
        requests,
        difference: differenceOf(truth, samples, index, resolution, candles, whole),
      });
    }
  }
  return outcomes;
}

function differenceOf(
  truth: MonthTruth,
  samples: readonly Sample[],
  marketIndex: number,
  resolution: Resolution,
  served: readonly ServedCandle[],
  whole: boolean,
): string | null {
  const newest = served[0];
  if (!newest) return 'no candles';
  const lastFill = truth.fills((data) => data.market_index === marketIndex).at(-1)?.ts ?? 0;
  if (newest.ts + 31 * 86_400 < lastFill) return `newest candle ${newest.ts} is older than the last fill ${lastFill}`;
  const until = Math.max(newest.ts, lastFill);
  const oracles = naiveOracles(truth, samples, marketIndex, resolution, until);
  const naive = [...naiveCandles(truth, marketIndex, resolution, until)].reverse();
  if (whole ? naive.length !== served.length : naive.length < served.length) {
    return `${served.length} candles, expected ${naive.length}`;
  }
  for (const [index, candle] of served.entries()) {
    const fills = naive[index];
    const wanted: Readonly<Record<string, number>> = { ...fills, ...oracles.get(fills?.ts ?? 0) };
    if (Object.keys(wanted).length < 11) return `candle ${candle.ts} is not expected`;
    for (const [name, value] of Object.entries(wanted)) {
      const got = candle[name as keyof ServedCandle];
      if (value !== got) return `candle ${fills?.ts} ${name}: expected ${value}, got ${got}`;
    }
  }
  return null;
}
