// Reads all candles of a market as the client library does, backwards page by page, and compares them with the naive ones.

import { type NaiveCandle, naiveCandles, RESOLUTIONS, type Resolution } from './month-candles.ts';
import { getJson, type Outcome } from './month-paging.ts';
import { type MonthTruth, PERP_SYMBOLS } from './month-truth.ts';

const PAGE = 1_000;
/** One-minute candles of a month are many; all markets but two are compared in the newest pages only. */
const MINUTE_MARKETS = 2;
const MINUTE_PAGES = 3;

export interface ServedCandle extends NaiveCandle {
  readonly oracleOpen: number;
  readonly oracleHigh: number;
  readonly oracleLow: number;
  readonly oracleClose: number;
}

/** Newest first. The boundary candle of a page comes again on the next one, as both bounds are inclusive. */
export async function readCandles(
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
export async function checkCandles(base: string, truth: MonthTruth): Promise<readonly Outcome[]> {
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
        difference: differenceOf(truth, index, resolution, candles, whole),
      });
    }
  }
  return outcomes;
}

function differenceOf(
  truth: MonthTruth,
  marketIndex: number,
  resolution: Resolution,
  served: readonly ServedCandle[],
  whole: boolean,
): string | null {
  const newest = served[0];
  if (!newest) return 'no candles';
  const lastFill = truth.fills((data) => data.market_index === marketIndex).at(-1)?.ts ?? 0;
  if (newest.ts + 31 * 86_400 < lastFill) return `newest candle ${newest.ts} is older than the last fill ${lastFill}`;
  const naive = [...naiveCandles(truth, marketIndex, resolution, Math.max(newest.ts, lastFill))].reverse();
  if (whole ? naive.length !== served.length : naive.length < served.length) {
    return `${served.length} candles, expected ${naive.length}`;
  }
  for (const [index, candle] of served.entries()) {
    const wanted = naive[index];
    for (const name of Object.keys(wanted ?? {}) as (keyof NaiveCandle)[]) {
      if (wanted?.[name] !== candle[name]) {
        return `candle ${wanted?.ts} ${name}: expected ${wanted?.[name]}, got ${candle[name]}`;
      }
    }
    const prices = [candle.oracleOpen, candle.oracleLow, candle.oracleClose];
    if (!prices.every((price) => price >= candle.oracleLow && price <= candle.oracleHigh)) {
      return `candle ${candle.ts}: oracle prices outside of low and high`;
    }
  }
  return null;
}
