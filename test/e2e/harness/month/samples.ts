// Answers that depend on sampled prices, recomputed from the samples in ClickHouse: series of the AMM, values of write-offs in
// bankruptcies, gains of wallets.

import { askedAt, compared, type StatsCheck, type StatsResult } from './answers.ts';
import { volumeFills } from './candles.ts';
import type { MonthMarket } from './markets.ts';
import { getJson } from './paging.ts';
import { addTo, ranked } from './stats.ts';
import type { Sample } from './stored-samples.ts';
import { big, type Data, type MonthTruth, PERP_SYMBOLS, STRANGER } from './truth.ts';

const DAY = 86_400;
const BOARD_DAYS = 30;
const BOARD_PAGE = 17;
const BOARD_MAX = 100;
const SPOT_SCALES = [1_000_000n, 1_000_000_000n, 100_000_000n];
const BASE_SCALE = 1_000_000_000n;
/** Column of each series in the service's own table. */
const SERIES: Readonly<Record<string, (sample: Sample) => readonly (string | null)[]>> = {
  position: (sample) => [sample.base_asset_amount_with_amm],
  bidAskPrice: (sample) => [sample.bid_price, sample.ask_price],
  oraclePrice: (sample) => [sample.oracle_price],
  spreads: (sample) => [String(sample.long_spread), String(sample.short_spread)],
  openInterest: (sample) => [String(largerSide(big(sample.open_interest_long), -big(sample.open_interest_short)))],
};

function largerSide(long: bigint, short: bigint): bigint {
  if (long > short) return long;
  return short;
}

export function sampleChecks(
  truth: MonthTruth,
  samples: readonly Sample[],
  markets: readonly MonthMarket[],
): readonly StatsCheck[] {
  return [
    ...Object.keys(SERIES).map(
      (name): StatsCheck => ({ endpoint: `/amm/${name}`, run: (base) => ammSeries(samples, name, base) }),
    ),
    { endpoint: '/stats/bankruptcies', run: (base) => bankruptcyTotals(truth, samples, markets, base) },
    { endpoint: '/stats/leaderboard', run: (base) => boards(truth, samples, base) },
    { endpoint: '/stats/leaderboard/{authorityId}', run: (base) => standings(truth, base) },
  ];
}

/** The newest sample of a market at or before a time. */
function sampleAt(samples: readonly Sample[], type: string, index: number, ts: number): Sample | null {
  let found: Sample | null = null;
  for (const sample of samples) {
    if (Number(sample.ts) > ts) break;
    if (sample.market_type === type && sample.market_index === index && sample.oracle_price !== null) found = sample;
  }
  return found;
}

/** A day in fine steps, the month in coarse ones, a range that begins before the chain did, and steps longer than its life. */
async function ammSeries(samples: readonly Sample[], name: string, base: string): Promise<StatsResult> {
  const now = Math.floor(Date.now() / 1000);
  const own = samples.filter(({ market_type: type, market_index: index }) => type === 'perp' && index === 1);
  let rows = 0;
  const ranges = [
    { start: now - 6 * DAY, end: now - 5 * DAY, samples: 200 },
    { start: now - 30 * DAY, end: now, samples: 300 },
    { start: now - 60 * DAY, end: now - 20 * DAY, samples: 100 },
    { start: now - 400 * DAY, end: now, samples: 4 },
  ];
  for (const range of ranges) {
    const step = Math.max(20, Math.ceil((range.end - range.start) / range.samples));
    const expected: unknown[] = [];
    for (let point = 0; point < range.samples && range.end - point * step >= range.start; point += 1) {
      const ts = range.end - point * step;
      const values = own
        .filter((sample) => Number(sample.ts) <= ts)
        .map((sample) => SERIES[name]?.(sample) ?? [])
        .filter((members) => members.every((member) => member !== null))
        .at(-1);
      if (values) expected.unshift([ts, ...values]);
    }
    const query = new URLSearchParams({
      marketName: PERP_SYMBOLS[1],
      start: String(range.start),
      end: String(range.end),
      samples: String(range.samples),
    });
    const { data } = await getJson<{ data: unknown[] }>(`${base}/amm/${name}?${query}`);
    rows += data.length;
    const result = compared(expected, data, ranges.length);
    if (result.difference) return result;
  }
  return { rows, requests: ranges.length, difference: rows > 0 ? null : 'no points' };
}

/**
 * All bankruptcies: perp losses as they are, borrows at the newest sampled price. Where no sample is older, the newest of all
 * counts: the first blocks of the month come while ingest reads its accounts.
 */
async function bankruptcyTotals(
  truth: MonthTruth,
  samples: readonly Sample[],
  markets: readonly MonthMarket[],
  base: string,
): Promise<StatsResult> {
  const priceAt = (index: number, ts: number) => {
    const sampled = sampleAt(samples, 'spot', index, ts)?.oracle_price;
    if (sampled) return big(sampled);
    const market = markets.find((one) => one.marketType === 'spot' && one.marketIndex === index);
    return market?.publishedOracle ?? 0n;
  };
  let [total, paid, count] = [0n, 0n, 0];
  for (const { data, ts } of truth.of('LiquidationRecord')) {
    if (data.liquidation_type === 'perpBankruptcy') {
      const { pnl, if_payment: payment } = data.perp_bankruptcy as Data;
      total += big(pnl) < 0n ? -big(pnl) : big(pnl);
      paid += big(payment);
      count += 1;
    } else if (data.liquidation_type === 'spotBankruptcy') {
      const { market_index: index, borrow_amount: borrowed, if_payment: payment } = data.spot_bankruptcy as Data;
      const price = priceAt(Number(index), ts);
      const scale = SPOT_SCALES[Number(index)] ?? 1n;
      total += (big(borrowed) * price) / scale;
      paid += (big(payment) * price) / scale;
      count += 1;
    }
  }
  const { stats } = await getJson<{ stats: unknown }>(`${base}/stats/bankruptcies`);
  const expected = {
    totalAmount: String(total),
    ifPayment: String(paid),
    socialLoss: String(total - paid),
    totalCount: count,
  };
  return compared(expected, stats, 1);
}

interface Place {
  readonly authority: string;
  readonly volume: string;
  readonly pnl: string;
  readonly rank: number;
}
const SORTS = ['pnl', 'volume'] as const;

/** A board page by page, until a page is not full. */
async function wholeBoard(base: string, sort: (typeof SORTS)[number], limit: number): Promise<readonly Place[]> {
  const places: Place[] = [];
  for (let page = 1; ; page += 1) {
    const url = `${base}/stats/leaderboard?sort=${sort}&limit=${limit}&page=${page}`;
    const { leaderboard } = (await getJson<{ data: { leaderboard: readonly Place[] } }>(url)).data;
    places.push(...leaderboard);
    if (leaderboard.length < limit) return places;
  }
}

/** Both orders of the board of 30 days, which the service makes at once and keeps for a minute. */
function boards(truth: MonthTruth, samples: readonly Sample[], base: string): Promise<StatsResult> {
  const ask = () => Promise.all(SORTS.map((sort) => wholeBoard(base, sort, BOARD_PAGE)));
  return askedAt(ask, (now) => {
    const [pnl, volume] = [gains(truth, samples, now), traded(truth, now)];
    // The board includes wallets that only held positions, without volume.
    const volumes = new Map([...pnl.keys()].map((wallet) => [wallet, volume.get(wallet) ?? 0n]));
    return [pnl, volumes].map((values) =>
      ranked(values).map(({ authority }, index) => ({
        authority,
        volume: String(volumes.get(authority)),
        pnl: String(pnl.get(authority)),
        rank: index + 1,
      })),
    );
  });
}

/** The rank of each wallet on the boards; a stranger has none. */
async function standings(truth: MonthTruth, base: string): Promise<StatsResult> {
  const [byPnl = [], byVolume = []] = await Promise.all(SORTS.map((sort) => wholeBoard(base, sort, BOARD_MAX)));
  const wallets = [...truth.wallets(), STRANGER];
  for (const wallet of wallets) {
    const [pnl, volume] = [byPnl, byVolume].map((places) => places.find(({ authority }) => authority === wallet));
    const rank = { pnl: pnl?.rank ?? null, volume: volume?.rank ?? null };
    const expected = { success: true, data: { pnl: pnl?.pnl ?? '0', volume: pnl?.volume ?? '0', rank } };
    const result = compared(expected, await getJson(`${base}/stats/leaderboard/${wallet}`), wallets.length);
    if (result.difference) return { ...result, difference: `${wallet}: ${result.difference}` };
  }
  return { rows: byPnl.length, requests: wallets.length, difference: byPnl.length > 0 ? null : 'an empty board' };
}

/** Volume of both sides by wallet. */
function traded(truth: MonthTruth, now: number): ReadonlyMap<string, bigint> {
  const byWallet = new Map<string, bigint>();
  for (const { data } of volumeFills(truth, now - BOARD_DAYS * DAY + 1, now + 1)) {
    for (const side of ['taker', 'maker'] as const) {
      if (data[side] !== null) addTo(byWallet, truth.walletOf(data[side]), big(data.quote_asset_amount_filled));
    }
  }
  return byWallet;
}

/**
 * P&L of wallets: quote of perp fills less fees, funding, and the change in value of positions. They are valued at the sampled
 * price of each end; where a market has no sample within a day, at the newest fill's.
 */
function gains(truth: MonthTruth, samples: readonly Sample[], now: number): ReadonlyMap<string, bigint> {
  const from = now - BOARD_DAYS * DAY;
  const prices = (ts: number) => PERP_SYMBOLS.map((_, index) => priceAt(truth, samples, index, ts));
  const [opening, closing] = [prices(from), prices(now)];
  const pnl = new Map<string, bigint>();
  const bases = new Map<string, { user: string; market: number; start: bigint; end: bigint }>();
  for (const { data, ts } of truth.fills()) {
    for (const side of ['taker', 'maker'] as const) {
      if (data[side] === null || ts > now) continue;
      const user = String(data[side]);
      const market = Number(data.market_index);
      const sign = data[`${side}_order_direction`] === 'long' ? 1n : -1n;
      const held = bases.get(`${user}/${market}`) ?? { user, market, start: 0n, end: 0n };
      const change = sign * big(data.base_asset_amount_filled);
      if (ts <= from) held.start += change;
      held.end += change;
      bases.set(`${user}/${market}`, held);
      if (ts <= from) continue;
      addTo(pnl, truth.walletOf(user), -sign * big(data.quote_asset_amount_filled) - big(data[`${side}_fee`]));
    }
  }
  const worth = (amount: bigint, price: bigint | undefined): bigint => (amount * (price ?? 0n)) / BASE_SCALE;
  for (const { user, market, start, end } of bases.values()) {
    if (end === 0n && start === 0n) continue;
    addTo(pnl, truth.walletOf(user), worth(end, closing[market]) - worth(start, opening[market]));
  }
  for (const { data, ts } of truth.of('FundingPaymentRecord')) {
    if (ts > from && ts <= now) addTo(pnl, truth.walletOf(data.user), big(data.funding_payment));
  }
  return pnl;
}

function priceAt(truth: MonthTruth, samples: readonly Sample[], index: number, ts: number): bigint {
  const sample = sampleAt(samples, 'perp', index, ts);
  if (sample && Number(sample.ts) > ts - DAY) return big(sample.oracle_price);
  const fill = truth.fills((data) => data.market_index === index).findLast((event) => event.ts <= ts);
  return big(fill?.data.oracle_price);
}
