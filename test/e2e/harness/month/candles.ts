// Candles, volumes and averages recomputed naively from what the chain emitted (docs/internals/history-semantics.md, "Candles"). The
// reducer's tests have a model of their own, of messages in any order: test/support/processors/candles/naive.ts.

import { fillPrice } from './rows.ts';
import type { Sample } from './stored-samples.ts';
import { big, type MonthEvent, type MonthTruth } from './truth.ts';

export const RESOLUTIONS = ['1', '5', '15', '60', '240', 'D', 'W', 'M'] as const;
export type Resolution = (typeof RESOLUTIONS)[number];
const DAY_SECONDS = 86_400;
const PERP_BASE_DECIMALS = 9;

export interface NaiveCandle {
  readonly ts: number;
  readonly fillOpen: number;
  readonly fillHigh: number;
  readonly fillLow: number;
  readonly fillClose: number;
  readonly quoteVolume: number;
  readonly baseVolume: number;
}

/** An integer of so many decimals as a JSON number: exact digits, then parsed. */
export function human(value: bigint, decimals: number): number {
  const digits = (value < 0n ? -value : value).toString().padStart(decimals + 1, '0');
  const text = `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
  return Number(value < 0n ? `-${text}` : text);
}

/** First second of the bucket that holds `ts`, by the calendar. */
function bucketOf(resolution: Resolution, ts: number): number {
  const date = new Date(ts * 1000);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  if (resolution === 'M') return Date.UTC(year, month, 1) / 1000;
  if (resolution === 'D') return Date.UTC(year, month, day) / 1000;
  if (resolution === 'W') return Date.UTC(year, month, day - ((date.getUTCDay() + 6) % 7)) / 1000;
  const minutes = Number(resolution);
  const ofDay = date.getUTCHours() * 60 + date.getUTCMinutes();
  return Date.UTC(year, month, day, 0, ofDay - (ofDay % minutes)) / 1000;
}

function nextBucket(resolution: Resolution, start: number): number {
  if (resolution === 'M') return bucketOf('M', start + 32 * DAY_SECONDS);
  if (resolution === 'W') return start + 7 * DAY_SECONDS;
  return start + (resolution === 'D' ? DAY_SECONDS : Number(resolution) * 60);
}

const NO_MARKET_PRICE: ReadonlySet<unknown> = new Set(['liquidation', 'transferPerpPosition']);

/** Fills that make candles of a perp market, by fill record id. */
export function candleFills(truth: MonthTruth, marketIndex: number): readonly MonthEvent[] {
  return [
    ...truth.fills((data) => data.market_index === marketIndex && !NO_MARKET_PRICE.has(data.action_explanation)),
  ].sort((a, b) => Number(big(a.data.fill_record_id) - big(b.data.fill_record_id)));
}

/** Every candle from the first fill's to the one of `until`, oldest first. */
export function naiveCandles(
  truth: MonthTruth,
  marketIndex: number,
  resolution: Resolution,
  until: number,
): readonly NaiveCandle[] {
  const byBucket = new Map<number, MonthEvent[]>();
  for (const fill of candleFills(truth, marketIndex)) {
    const start = bucketOf(resolution, fill.ts);
    byBucket.set(start, [...(byBucket.get(start) ?? []), fill]);
  }
  const candles: NaiveCandle[] = [];
  let close: bigint | null = null;
  const first = Math.min(...byBucket.keys());
  for (let start = first; start <= until; start = nextBucket(resolution, start)) {
    const fills = byBucket.get(start) ?? [];
    const prices: bigint[] = fills.flatMap(({ data }) => fillPrice(data) ?? []);
    const open: bigint = close ?? prices[0] ?? 0n;
    const all = [open, ...prices];
    close = all.at(-1) ?? open;
    const total = (member: string): bigint => fills.reduce((sum, { data }) => sum + big(data[member]), 0n);
    candles.push({
      ts: start,
      fillOpen: human(open, 6),
      fillHigh: human(
        extreme(all, (a, b) => a > b),
        6,
      ),
      fillLow: human(
        extreme(all, (a, b) => a < b),
        6,
      ),
      fillClose: human(close, 6),
      quoteVolume: human(total('quote_asset_amount_filled'), 6),
      baseVolume: human(total('base_asset_amount_filled'), PERP_BASE_DECIMALS),
    });
  }
  return candles;
}

export interface NaiveOracle {
  readonly oracleOpen: number;
  readonly oracleHigh: number;
  readonly oracleLow: number;
  readonly oracleClose: number;
}

/**
 * Oracle side of the same candles, by bucket: prices of fills and samples in the order of slots, in one slot fills before
 * samples. A sample has the extremes since the one before. The first fill opens; each later bucket opens at the close before.
 */
export function naiveOracles(
  truth: MonthTruth,
  samples: readonly Sample[],
  marketIndex: number,
  resolution: Resolution,
  until: number,
): ReadonlyMap<number, NaiveOracle> {
  const fills = candleFills(truth, marketIndex);
  const begin = bucketOf('1', fills[0]?.ts ?? 0);
  const ticks = [
    ...fills.map(({ ts, slot, data }) => {
      const price = big(data.oracle_price);
      return { ts, place: slot * 2, price, high: price, low: price };
    }),
    ...samples
      .filter(({ market_type: type, market_index: index, ts, oracle_price: price }) => {
        return type === 'perp' && index === marketIndex && Number(ts) >= begin && price !== null;
      })
      .map(({ ts, slot, oracle_price: price, oracle_high: high, oracle_low: low }) => ({
        ts: Number(ts),
        place: Number(slot) * 2 + 1,
        price: big(price),
        high: big(high ?? price),
        low: big(low ?? price),
      })),
  ];
  const byBucket = new Map<number, (typeof ticks)[number][]>();
  for (const tick of ticks) {
    const start = bucketOf(resolution, tick.ts);
    byBucket.set(start, [...(byBucket.get(start) ?? []), tick]);
  }
  const found = new Map<number, NaiveOracle>();
  let close = ticks[0]?.price ?? 0n;
  for (let start = bucketOf(resolution, begin); start <= until; start = nextBucket(resolution, start)) {
    const open = close;
    // Sorting keeps the order of fill record ids within a slot.
    const own = [...(byBucket.get(start) ?? [])].sort((a, b) => a.place - b.place);
    close = own.at(-1)?.price ?? open;
    found.set(start, {
      oracleOpen: human(open, 6),
      oracleHigh: human(
        extreme([open, ...own.map(({ high }) => high)], (a, b) => a > b),
        6,
      ),
      oracleLow: human(
        extreme([open, ...own.map(({ low }) => low)], (a, b) => a < b),
        6,
      ),
      oracleClose: human(close, 6),
    });
  }
  return found;
}

/** The one of several prices that beats all others. */
function extreme(prices: readonly bigint[], beats: (a: bigint, b: bigint) => boolean): bigint {
  let found = prices[0] ?? 0n;
  for (const price of prices) if (beats(price, found)) found = price;
  return found;
}

/** Fills that count as volume: liquidations do, positions handed over do not. */
export function volumeFills(truth: MonthTruth, from: number, to: number): readonly MonthEvent[] {
  return truth
    .fills((data) => data.action_explanation !== 'transferPerpPosition')
    .filter(({ ts }) => ts >= from && ts < to);
}

/** Raw base and quote traded in a market within [from, to). */
export function naiveVolume(truth: MonthTruth, marketIndex: number, from: number, to: number) {
  let [base, quote] = [0n, 0n];
  for (const { data } of volumeFills(truth, from, to)) {
    if (data.market_index !== marketIndex) continue;
    base += big(data.base_asset_amount_filled);
    quote += big(data.quote_asset_amount_filled);
  }
  return { base, quote };
}
