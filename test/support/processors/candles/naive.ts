// Candles and the last 24 hours computed naively from whole sets and the platform's calendar. The reducer is compared
// with it, for messages in any order. test/e2e/harness/month/candles.ts has no message: it begins at the chain's own records.

import type { CandleResolution, CandleView, MarketSummary } from '../../../../schemas/index.ts';

export interface NaiveFill {
  readonly ts: number;
  readonly slot: number;
  readonly id: number;
  readonly base: bigint;
  readonly quote: bigint;
  readonly oracle: bigint;
  readonly explanation: string;
  /** Number of its transaction; absent: the id. */
  readonly transaction?: number;
}

/** One base for `price`, with an oracle price next to it. */
export const naiveFill = (id: number, ts: number, price: number, more: Partial<NaiveFill> = {}): NaiveFill => ({
  id,
  ts,
  slot: ts * 2,
  base: 1_000_000_000n,
  quote: BigInt(price),
  oracle: BigInt(price + 1),
  explanation: 'orderFilledWithMatch',
  ...more,
});

export interface NaiveSample {
  readonly ts: number;
  readonly slot: number;
  readonly price: bigint;
  readonly high: bigint;
  readonly low: bigint;
}

export interface NaiveInput {
  readonly fills: readonly NaiveFill[];
  readonly samples: readonly NaiveSample[];
}

export type NaiveCandle = Omit<CandleView, 'marketType' | 'marketIndex' | 'slot' | 'version'>;

const LEFT_OUT = ['liquidation', 'transferPerpPosition'];
const STEP_S = { '1': 60, '5': 300, '15': 900, '60': 3600, '240': 14_400 } as const;

interface Tick {
  readonly ts: number;
  readonly order: readonly number[];
  readonly price: bigint;
  readonly high: bigint;
  readonly low: bigint;
}

/** Every candle of a market with these fills and samples, oldest first. */
export function naiveCandles(input: NaiveInput, resolution: CandleResolution): NaiveCandle[] {
  const fills = candleFills(input);
  const [first] = fills;
  if (!first) return [];
  const ticks = naiveTicks(input, minute(first.ts));
  const now = chainTime(input);
  const candles: NaiveCandle[] = [];
  let close = priceOf(first);
  let oracleClose = first.oracle;
  for (let start = startOf(resolution, first.ts); start <= now; start = following(resolution, start)) {
    const end = following(resolution, start);
    const inside = fills.filter(({ ts }) => ts >= start && ts < end);
    const seen = ticks.filter(({ ts }) => ts >= start && ts < end);
    const prices = [close, ...inside.map(priceOf)];
    const [fillOpen, oracleOpen] = [close, oracleClose];
    close = prices.at(-1) ?? close;
    oracleClose = seen.at(-1)?.price ?? oracleClose;
    const last = inside.at(-1);
    candles.push({
      resolution,
      ts: start,
      fillOpen,
      fillHigh: most(prices),
      fillLow: least(prices),
      fillClose: close,
      oracleOpen,
      oracleHigh: most([oracleOpen, ...seen.map(({ high }) => high)]),
      oracleLow: least([oracleOpen, ...seen.map(({ low }) => low)]),
      oracleClose,
      quoteVolume: sum(inside.map(({ quote }) => quote)),
      baseVolume: sum(inside.map(({ base }) => base)),
      trades: inside.length,
      lastTradeTs: last ? BigInt(last.ts) : null,
      lastFillRecordId: last ? BigInt(last.id) : null,
    });
  }
  return candles;
}

/** Longer candles from one-minute candles: open of the first, close of the last, extremes, sums. */
export function fromMinutes(minutes: readonly NaiveCandle[], resolution: CandleResolution): NaiveCandle[] {
  const groups = new Map<number, NaiveCandle[]>();
  for (const candle of minutes) {
    const start = startOf(resolution, candle.ts);
    const group = groups.get(start);
    if (group) group.push(candle);
    else groups.set(start, [candle]);
  }
  return [...groups].map(([ts, group]) => {
    const [first, last] = [group[0] as NaiveCandle, group.at(-1) as NaiveCandle];
    const traded = group.findLast(({ trades }) => trades > 0);
    return {
      resolution,
      ts,
      fillOpen: first.fillOpen,
      fillHigh: most(group.map(({ fillHigh }) => fillHigh)),
      fillLow: least(group.map(({ fillLow }) => fillLow)),
      fillClose: last.fillClose,
      oracleOpen: first.oracleOpen,
      oracleHigh: most(group.map(({ oracleHigh }) => oracleHigh)),
      oracleLow: least(group.map(({ oracleLow }) => oracleLow)),
      oracleClose: last.oracleClose,
      quoteVolume: sum(group.map(({ quoteVolume }) => quoteVolume)),
      baseVolume: sum(group.map(({ baseVolume }) => baseVolume)),
      trades: group.reduce((total, { trades }) => total + trades, 0),
      lastTradeTs: traded?.lastTradeTs ?? null,
      lastFillRecordId: traded?.lastFillRecordId ?? null,
    };
  });
}

export type NaiveWindow = Pick<
  MarketSummary,
  | 'ts'
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
  | 'oraclePrice'
>;

/** The last 24 hours by whole minutes, as MarketSummary defines it. */
export function naiveWindow(input: NaiveInput): NaiveWindow {
  const ts = chainTime(input);
  const from = (minute(ts) - 1439) * 60;
  const counted = distinct(input.fills).filter(
    (fill) => fill.ts >= from && fill.explanation !== 'transferPerpPosition',
  );
  const fills = candleFills(input);
  const prices = fills.filter((fill) => fill.ts >= from).map(priceOf);
  const ticks = naiveTicks(input, 0);
  const inside = ticks.filter((tick) => tick.ts >= from);
  const last = fills.at(-1);
  const before = fills.findLast((fill) => fill.ts < from);
  return {
    ts,
    quoteVolume24h: sum(counted.map(({ quote }) => quote)),
    baseVolume24h: sum(counted.map(({ base }) => base)),
    trades24h: counted.length,
    lastFillPrice: last ? priceOf(last) : null,
    lastFillTs: last?.ts ?? null,
    fillPrice24hAgo: before ? priceOf(before) : null,
    fillHigh24h: prices.length > 0 ? most(prices) : null,
    fillLow24h: prices.length > 0 ? least(prices) : null,
    oracleHigh24h: inside.length > 0 ? most(inside.map(({ high }) => high)) : null,
    oracleLow24h: inside.length > 0 ? least(inside.map(({ low }) => low)) : null,
    oraclePrice: ticks.at(-1)?.price ?? null,
  };
}

/** Start of the bucket of a time, by the platform's calendar. */
function startOf(resolution: CandleResolution, ts: number): number {
  if (resolution in STEP_S) {
    const step = STEP_S[resolution as keyof typeof STEP_S];
    return ts - (ts % step);
  }
  const date = new Date(ts * 1000);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  if (resolution === 'M') return Date.UTC(year, month, 1) / 1000;
  const back = resolution === 'W' ? (date.getUTCDay() + 6) % 7 : 0;
  return Date.UTC(year, month, day - back) / 1000;
}

function following(resolution: CandleResolution, start: number): number {
  const days = { D: 1, W: 7, M: 31 } as const;
  if (resolution in STEP_S) return start + STEP_S[resolution as keyof typeof STEP_S];
  return startOf(resolution, start + days[resolution as keyof typeof days] * 86_400);
}

function candleFills(input: NaiveInput): NaiveFill[] {
  return distinct(input.fills)
    .filter(({ explanation }) => !LEFT_OUT.includes(explanation))
    .sort((left, right) => minute(left.ts) - minute(right.ts) || left.id - right.id);
}

function naiveTicks({ fills, samples }: NaiveInput, fromMinute: number): Tick[] {
  const ofFills = candleFills({ fills, samples }).map(
    ({ ts, slot, id, oracle }): Tick => ({ ts, order: [slot, 0, id], price: oracle, high: oracle, low: oracle }),
  );
  const ofSamples = samples.map(
    ({ ts, slot, price, high, low }): Tick => ({ ts, order: [slot, 1, 0], price, high, low }),
  );
  return [...ofFills, ...ofSamples]
    .filter(({ ts }) => minute(ts) >= fromMinute)
    .sort((left, right) => minute(left.ts) - minute(right.ts) || compared(left.order, right.order));
}

function compared(left: readonly number[], right: readonly number[]): number {
  const place = left.findIndex((value, index) => value !== right[index]);
  return place < 0 ? 0 : (left[place] ?? 0) - (right[place] ?? 0);
}

function chainTime({ fills, samples }: NaiveInput): number {
  return Math.max(...fills.map(({ ts }) => ts), ...samples.map(({ ts }) => ts));
}

function distinct(fills: readonly NaiveFill[]): NaiveFill[] {
  return [...new Map(fills.map((fill) => [fill.id, fill])).values()];
}

/** Rounded half up, in exact integers. */
export function priceOf({ quote, base }: Pick<NaiveFill, 'quote' | 'base'>): bigint {
  return (quote * 2_000_000_000n + base) / (base * 2n);
}

function minute(ts: number): number {
  return Math.floor(ts / 60);
}

function most(values: readonly bigint[]): bigint {
  return sorted(values).at(-1) ?? 0n;
}

function least(values: readonly bigint[]): bigint {
  return sorted(values)[0] ?? 0n;
}

function sorted(values: readonly bigint[]): readonly bigint[] {
  return values.toSorted((left, right) => Number(left - right));
}

function sum(values: readonly bigint[]): bigint {
  return values.reduce((left, right) => left + right, 0n);
}
