// State of markets as dashboards and aggregators read it: parameters, summaries, contracts, interest rates, pools. Recomputed from
// the chain's events, its markets and the stored samples.

import type { TruthMarket } from '../../../../localnet/index.ts';
import { askedAt, compared, type StatsCheck, type StatsResult } from './answers.ts';
import { candleFills, human, volumeFills } from './candles.ts';
import { publishedPrices } from './log.ts';
import { getJson } from './paging.ts';
import { fillPrice } from './rows.ts';
import type { Month } from './run.ts';
import { pointsOf } from './snapshots.ts';
import { fixed, percent1e9, roundedMean } from './stats.ts';
import type { Sample } from './stored-samples.ts';
import { big, type Data, type MonthEvent, type MonthTruth, SPOT_SYMBOLS } from './truth.ts';

const HOUR = 3_600;
const DAY = 86_400;
const MINUTES_OF_DAY = 1_440;
const WINDOW_DAYS = 31;
const BASE_SCALE = 1_000_000_000n;
const MILLION = 1_000_000n;
const TOKEN_DECIMALS = [6, 9, 8] as const;
const RATE_TYPES = ['deposit', 'borrow', 'deposit_balance', 'borrow_balance'] as const;

/** A market of the chain with its newest published oracle price, PRICE_PRECISION. */
export interface MonthMarket extends TruthMarket {
  readonly publishedOracle: bigint | null;
}

export async function chainMarkets({ cluster, dataDir }: Month): Promise<readonly MonthMarket[]> {
  const markets = await cluster.rpc<TruthMarket[]>('localnet_markets');
  const published = await publishedPrices(dataDir);
  return markets.map((market) => ({
    ...market,
    publishedOracle: published.get(`${market.marketType}-${market.marketIndex}`) ?? null,
  }));
}

export function marketChecks(
  truth: MonthTruth,
  samples: readonly Sample[],
  markets: readonly MonthMarket[],
): readonly StatsCheck[] {
  return [
    { endpoint: '/params', run: (base) => parameters(markets, base) },
    { endpoint: '/stats/markets', run: (base) => summaries(truth, samples, markets, base) },
    ...(['/external/coingecko/contracts', '/contracts'] as const).map(
      (endpoint): StatsCheck => ({ endpoint, run: (base) => contracts(truth, samples, markets, base, endpoint) }),
    ),
    { endpoint: '/stats/{symbol}/rateHistory/{type}', run: (base) => rateHistories(truth, base) },
    { endpoint: '/stats/dlp/snapshots', run: (base) => poolSnapshots(truth, base) },
  ];
}

async function parameters(markets: readonly MonthMarket[], base: string): Promise<StatsResult> {
  const before = Math.floor(Date.now() / 1000);
  const body = await getJson<{ params: unknown; updatedAt: number }>(`${base}/params`);
  if (Math.abs(body.updatedAt - before) > 60) return { rows: 0, requests: 1, difference: `made at ${body.updatedAt}` };
  const expected = {
    precisions: { price: 6, quote: 6, base: 9, funding: 9, interest: 10 },
    markets: markets.map(({ symbol, marketIndex, marketType, status, decimals, ...sizes }) => ({
      symbol,
      marketIndex,
      marketType,
      status,
      baseDecimals: decimals,
      tickSize: sizes.tickSize,
      stepSize: sizes.stepSize,
      minOrderSize: sizes.minOrderSize,
    })),
  };
  return compared(expected, body.params, 1);
}

/** Figures of a market's last 24 hours: the minute of its newest record and the 1,439 before it. */
function dayOf(truth: MonthTruth, samples: readonly Sample[], market: MonthMarket) {
  const isPerp = market.marketType === 'perp';
  const own = samples.filter((one) => one.market_type === market.marketType && one.market_index === market.marketIndex);
  const sample = own.at(-1);
  const here = (data: Data): boolean => data.market_index === market.marketIndex;
  const actions = isPerp ? truth.of('OrderActionRecord', here) : [];
  const rates = isPerp ? truth.newestFirst(truth.of('FundingRateRecord', here), 'record_id') : [];
  const ts = Math.max(Number(sample?.ts ?? 0), actions.at(-1)?.ts ?? 0, rates[0]?.ts ?? 0);
  const from = (Math.floor(ts / 60) - MINUTES_OF_DAY + 1) * 60;
  const fills = isPerp ? candleFills(truth, market.marketIndex) : [];
  const inside = fills.filter((fill) => fill.ts >= from);
  const volume = isPerp ? volumeFills(truth, from, ts + 1).filter(({ data }) => here(data)) : [];
  const prices = inside.flatMap(({ data }) => fillPrice(data) ?? []);
  const oracles = [
    ...inside.map(({ data }) => big(data.oracle_price)),
    ...own
      .filter((one) => Number(one.ts) >= from && one.oracle_price !== null)
      .flatMap((one) => [one.oracle_price, one.oracle_high ?? one.oracle_price, one.oracle_low ?? one.oracle_price])
      .map(big),
  ];
  // In one slot a sample is newer than a fill.
  const tick = [
    ...fills.slice(-1).map(({ slot, data }) => ({ place: slot * 2, price: big(data.oracle_price) })),
    ...own.slice(-1).map((one) => ({ place: Number(one.slot) * 2 + 1, price: big(one.oracle_price) })),
  ].sort((a, b) => b.place - a.place)[0];
  return {
    ts,
    oracle: market.publishedOracle ?? tick?.price ?? 0n,
    sample,
    rates,
    volume,
    base: total(volume, 'base_asset_amount_filled'),
    quote: total(volume, 'quote_asset_amount_filled'),
    price: priceOf(fills.at(-1)),
    priceAgo: priceOf(fills.findLast((fill) => fill.ts < from)),
    high: extreme(prices, (a, b) => a > b),
    low: extreme(prices, (a, b) => a < b),
    oracleHigh: extreme(oracles, (a, b) => a > b),
    oracleLow: extreme(oracles, (a, b) => a < b),
  };
}

const priceOf = (fill: MonthEvent | undefined): bigint | null => (fill ? fillPrice(fill.data) : null);

function total(events: readonly MonthEvent[], member: string): bigint {
  return events.reduce((sum, { data }) => sum + big(data[member]), 0n);
}

function extreme(values: readonly bigint[], beats: (a: bigint, b: bigint) => boolean): bigint | null {
  return values.reduce<bigint | null>((best, value) => (best === null || beats(value, best) ? value : best), null);
}

const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/** Every member of every market. */
async function summaries(
  truth: MonthTruth,
  samples: readonly Sample[],
  markets: readonly MonthMarket[],
  base: string,
): Promise<StatsResult> {
  const body = await getJson<unknown[]>(`${base}/stats/markets`);
  return compared(
    markets.map((market) => summaryOf(truth, samples, market)),
    body,
    1,
  );
}

function summaryOf(truth: MonthTruth, samples: readonly Sample[], market: MonthMarket) {
  const day = dayOf(truth, samples, market);
  const isPerp = market.marketType === 'perp';
  const price = (value: bigint | null): number | null => (value === null ? null : human(value, 6));
  const interest = (value: bigint): number => (isPerp ? human(value, 9) : 0);
  const [long, short] = [big(day.sample?.open_interest_long), big(day.sample?.open_interest_short)];
  const newest = day.rates[0]?.data;
  const rate = (member: string, sign = 1n): number => human(newest ? sign * percent1e9(newest, member) : 0n, 9);
  const last24 = day.rates.slice(0, 24).map(({ data }) => percent1e9(data, 'funding_rate_long'));
  const mean = roundedMean(
    last24.reduce((sum, one) => sum + one, 0n),
    BigInt(last24.length),
  );
  const change = day.price !== null && day.priceAgo !== null ? day.price - day.priceAgo : null;
  const { bid_price: bid, ask_price: ask } = day.sample ?? { bid_price: null, ask_price: null };
  return {
    marketIndex: market.marketIndex,
    symbol: market.symbol,
    marketType: market.marketType,
    oraclePrice: human(day.oracle, 6),
    volume24h: human(day.quote, 6),
    openInterest: interest(larger(long, -short)),
    fundingRate: rate('funding_rate'),
    fundingRate24hAvg: human(mean, 9),
    status: market.status,
    ts: day.ts,
    baseVolume24h: human(day.base, market.decimals),
    trades24h: day.volume.length,
    price: price(day.price),
    price24hAgo: price(day.priceAgo),
    priceChange24h: price(change),
    priceChange24hPercent:
      change === null || !day.priceAgo ? null : human(roundedMean(change * 10_000n, day.priceAgo), 2),
    priceHigh24h: price(day.high),
    priceLow24h: price(day.low),
    oracleHigh24h: price(day.oracleHigh),
    oracleLow24h: price(day.oracleLow),
    markPrice: bid === null || ask === null ? null : price((big(bid) + big(ask)) / 2n),
    openInterestLong: interest(long),
    openInterestShort: interest(short),
    fundingRateLong: rate('funding_rate_long', -1n),
    fundingRateShort: rate('funding_rate_short'),
    fundingRateUpdateTs: day.rates[0]?.ts ?? null,
  };
}

/** The listing feed, every member as text. */
function contracts(
  truth: MonthTruth,
  samples: readonly Sample[],
  markets: readonly MonthMarket[],
  base: string,
  path: string,
): Promise<StatsResult> {
  return askedAt(
    () => getJson(`${base}${path}`),
    (now) => ({
      contracts: markets
        .filter(({ marketType }) => marketType === 'perp')
        .map((market) => {
          const day = dayOf(truth, samples, market);
          const price = (value: bigint | null): string => (value === null ? '' : fixed(value, 6));
          const interest = larger(big(day.sample?.open_interest_long), -big(day.sample?.open_interest_short));
          const { oracle } = day;
          const newest = day.rates[0]?.data;
          const rate = newest ? fixed(percent1e9(newest, 'funding_rate'), 11) : '';
          const asset = market.symbol.replace('-PERP', '');
          return {
            contract_index: String(market.marketIndex),
            ticker_id: market.symbol,
            base_currency: asset,
            quote_currency: 'USDT',
            last_price: price(day.price),
            base_volume: fixed(day.base, 9),
            quote_volume: fixed(day.quote, 6),
            high: price(day.high),
            low: price(day.low),
            product_type: 'PERP',
            open_interest: fixed(interest, 9),
            open_interest_usd: fixed((interest * oracle) / BASE_SCALE, 6),
            index_price: price(oracle),
            index_name: asset,
            index_currency: 'USDT',
            funding_rate: rate,
            next_funding_rate: rate,
            next_funding_rate_timestamp: String((Math.floor(now / HOUR) + 1) * HOUR),
            contract_type: 'Vanilla',
            contract_price_currency: 'USDT',
          };
        }),
    }),
  );
}

/** Each spot market in each of the four series: the last record of every hour of 31 days. */
async function rateHistories(truth: MonthTruth, base: string): Promise<StatsResult> {
  let [rows, requests] = [0, 0];
  for (const [index, symbol] of SPOT_SYMBOLS.entries()) {
    for (const type of RATE_TYPES) {
      const result = await askedAt(
        async () => {
          const body = await getJson<{ rates: unknown[] }>(`${base}/stats/${symbol}/rateHistory/${type}`);
          rows += body.rates.length;
          return body;
        },
        (now) => ({ success: true, rates: ratesOf(truth, index, type, now - WINDOW_DAYS * DAY) }),
      );
      requests += 1;
      if (result.difference) return { rows, requests, difference: `${symbol} ${type}: ${result.difference}` };
    }
  }
  return { rows, requests, difference: rows > 0 ? null : 'no rates' };
}

function ratesOf(truth: MonthTruth, index: number, type: (typeof RATE_TYPES)[number], from: number) {
  const byHour = new Map<number, MonthEvent>();
  for (const event of truth.of('SpotInterestRecord', (data) => data.market_index === index)) {
    if (event.ts >= from) byHour.set(Math.floor(event.ts / HOUR), event);
  }
  const funds = truth.of('InsuranceFundRecord', (data) => data.spot_market_index === index);
  return [...byHour.values()].map(({ ts, data }) => {
    const scale = 10n ** BigInt(19 - (TOKEN_DECIMALS[index] ?? 0));
    const deposits = (big(data.deposit_balance) * big(data.cumulative_deposit_interest)) / scale;
    // A debt is rounded up.
    const borrows = (big(data.borrow_balance) * big(data.cumulative_borrow_interest) + scale - 1n) / scale;
    const used = deposits === 0n ? 0n : (borrows * MILLION) / deposits;
    const [optimal, atOptimal] = [big(data.optimal_utilization), big(data.optimal_borrow_rate)];
    const steep = big(data.max_borrow_rate) - atOptimal;
    const borrow =
      used <= optimal ? (atOptimal * used) / optimal : atOptimal + (steep * (used - optimal)) / (MILLION - optimal);
    const insurance = big(funds.findLast((fund) => fund.ts <= ts)?.data.total_if_factor);
    const deposit = (borrow * used * (MILLION - insurance)) / (MILLION * MILLION);
    return [ts, String({ deposit, borrow, deposit_balance: deposits, borrow_balance: borrows }[type])];
  });
}

/** Each pool's newest settlement at every hour of a day, and at midnights. */
async function poolSnapshots(truth: MonthTruth, base: string): Promise<StatsResult> {
  const settled = truth.of('LPSettleRecord');
  const pools = [...new Set(settled.map(({ data }) => String(data.lp_pool)))].sort();
  let [rows, requests] = [0, 0];
  for (const days of [1, 7, 40]) {
    const result = await askedAt(
      async () => {
        const body = await getJson<{ snapshots: unknown[] }>(`${base}/stats/dlp/snapshots?days=${days}`);
        rows += body.snapshots.length;
        return body;
      },
      (now) => ({
        success: true,
        snapshots: pointsOf(now, days, days === 1 ? HOUR : DAY).flatMap((ts) =>
          pools.flatMap((lpPool) => {
            const found = settled.findLast((event) => event.ts <= ts && event.data.lp_pool === lpPool)?.data;
            return found ? [{ ts, tvl: String(found.lp_aum), price: String(found.lp_price), lpPool }] : [];
          }),
        ),
      }),
    );
    requests += 1;
    if (result.difference) return { rows, requests, difference: `${days} days: ${result.difference}` };
  }
  return { rows, requests, difference: rows > 0 ? null : 'no pools' };
}
