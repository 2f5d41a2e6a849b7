// Sums of the history, recomputed from the chain's events: volumes, funding means, boards, losses. The service's windows end
// at its clock, so each check accepts every second of the request.

import { accountChecks } from './accounts.ts';
import { askedAt, compared, type StatsCheck, type StatsResult } from './answers.ts';
import { candleFills, naiveVolume, volumeFills } from './candles.ts';
import { getJson } from './paging.ts';
import { fillPrice } from './rows.ts';
import { big, type Data, type MonthEvent, type MonthTruth, PERP_SYMBOLS, SPOT_SYMBOLS } from './truth.ts';

const HOUR = 3_600;
const DAY = 86_400;
const BOARD_PAGE = 25;

export function statsChecks(truth: MonthTruth): readonly StatsCheck[] {
  return [
    ...(['1h', '24h', '30d'] as const).map((interval) => volumeOf(truth, interval)),
    { endpoint: '/stats/markets/volume', run: (base) => volumeRanges(truth, base) },
    { endpoint: '/stats/fundingRates', run: (base) => fundingMeans(truth, base) },
    ...(['maker', 'taker'] as const).map(
      (side): StatsCheck => ({
        endpoint: `/stats/leaderboard/${side}`,
        run: (base) => sideBoard(truth, side, base),
      }),
    ),
    { endpoint: '/stats/liquidations', run: (base) => liquidationSums(truth, base) },
    { endpoint: '/stats/markets/prices', run: (base) => prices(truth, base) },
    ...accountChecks(truth),
  ];
}

const INTERVALS = { '1h': HOUR, '24h': DAY, '30d': 30 * DAY } as const;
const MARKETS = [
  ...PERP_SYMBOLS.map((symbol, marketIndex) => ({ symbol, marketIndex, marketType: 'perp' })),
  ...SPOT_SYMBOLS.map((symbol, marketIndex) => ({ symbol, marketIndex, marketType: 'spot' })),
].sort((a, b) => a.marketIndex - b.marketIndex || (a.marketType < b.marketType ? -1 : 1));

function volumes(truth: MonthTruth, from: number, to: number) {
  let total = 0n;
  const markets = MARKETS.map((market) => {
    const { base, quote } =
      market.marketType === 'perp' ? naiveVolume(truth, market.marketIndex, from, to) : { base: 0n, quote: 0n };
    total += quote;
    return { ...market, baseVolume: String(base), quoteVolume: String(quote) };
  });
  return { success: true, total: String(total), markets };
}

function volumeOf(truth: MonthTruth, interval: keyof typeof INTERVALS): StatsCheck {
  return {
    endpoint: '/stats/markets/volume/{interval}',
    run: (base) =>
      askedAt(
        () => getJson(`${base}/stats/markets/volume/${interval}`),
        (now) => volumes(truth, now - INTERVALS[interval], now),
      ),
  };
}

/** Ranges of 1, 7 and 24 hours at different places of the month, off the hour at both ends. */
async function volumeRanges(truth: MonthTruth, base: string): Promise<StatsResult> {
  const newest = Math.floor(Date.now() / 1000);
  let [rows, requests] = [0, 0];
  for (const [hours, back] of [
    [1, 3],
    [7, 100],
    [24, 400],
    [24, 26],
  ] as const) {
    const endTs = newest - back * HOUR;
    const startTs = endTs - hours * HOUR;
    const [from, to] = [startTs - (startTs % HOUR), endTs - (endTs % HOUR)];
    const result = await askedAt(
      () => getJson(`${base}/stats/markets/volume?startTs=${startTs}&endTs=${endTs}`),
      () => ({
        ...volumes(truth, from, to),
        startTs: from,
        endTs: to,
      }),
    );
    rows += result.rows;
    requests += 1;
    if (result.difference) return { rows, requests, difference: result.difference };
  }
  return { rows, requests, difference: null };
}

/** Mean percent per hour as a text of 9 decimals: each row truncated at 1e9, the mean rounded half up in magnitude. */
function fundingMeans(truth: MonthTruth, base: string): Promise<StatsResult> {
  const hours = { '24h': 24, '7d': 168, '30d': 720, '1y': 8_760 };
  const expectedAt = (now: number) => ({
    success: true,
    markets: PERP_SYMBOLS.map((symbol, marketIndex) => {
      const newest = truth.newestFirst(
        truth.of('FundingRateRecord', (data) => data.market_index === marketIndex),
        'record_id',
      );
      const means = Object.entries(hours).map(([name, span]): [string, string] => {
        const rows = name === '24h' ? newest.slice(0, span) : newest.filter(({ ts }) => ts > now - span * HOUR);
        const sum = rows.reduce((total, { data }) => total + percent1e9(data, 'funding_rate_long'), 0n);
        return [name, fixed(roundedMean(sum, BigInt(rows.length)), 9)];
      });
      return { marketIndex, symbol, fundingRates: Object.fromEntries(means) };
    }),
  });
  return askedAt(() => getJson(`${base}/stats/fundingRates`), expectedAt);
}

/** A rate of a funding record as percent per hour, 1e9. */
export function percent1e9(data: Data, member: string): bigint {
  return (big(data[member]) * 100_000_000n) / big(data.oracle_price_twap);
}

export function roundedMean(sum: bigint, count: bigint): bigint {
  if (count === 0n) return 0n;
  const magnitude = ((sum < 0n ? -sum : sum) * 2n + count) / (count * 2n);
  return sum < 0n ? -magnitude : magnitude;
}

/** An integer of so many decimals as text. */
export function fixed(value: bigint, decimals: number): string {
  const digits = (value < 0n ? -value : value).toString().padStart(decimals + 1, '0');
  return `${value < 0n ? '-' : ''}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

/** Quote by wallet, largest first, ties by key. */
export function ranked(volumeOf: ReadonlyMap<string, bigint>): readonly { authority: string; volume: string }[] {
  return [...volumeOf]
    .sort(([a, x], [b, y]) => (x === y ? (a < b ? -1 : 1) : x < y ? 1 : -1))
    .map(([authority, volume]) => ({ authority, volume: String(volume) }));
}

export function addTo(map: Map<string, bigint>, key: string | null, value: bigint): void {
  if (key !== null) map.set(key, (map.get(key) ?? 0n) + value);
}

/** The board of the current calendar month, page by page. */
async function sideBoard(truth: MonthTruth, side: 'maker' | 'taker', base: string): Promise<StatsResult> {
  const now = new Date();
  const from = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1) / 1000;
  const byWallet = new Map<string, bigint>();
  for (const { data } of volumeFills(truth, from, Infinity)) {
    if (data[side] !== null) addTo(byWallet, truth.walletOf(data[side]), big(data.quote_asset_amount_filled));
  }
  const expected = ranked(byWallet).map((place, index) => ({ rank: index + 1, ...place }));
  const got: unknown[] = [];
  let page: string | null = '1';
  let requests = 0;
  while (page !== null) {
    const url: string = `${base}/stats/leaderboard/${side}?limit=${BOARD_PAGE}&page=${page}`;
    const body: { month: string; records: unknown[]; meta: { nextPage: string | null } } = await getJson(url);
    got.push(...body.records);
    page = body.meta.nextPage;
    requests += 1;
    if (body.month !== now.toISOString().slice(0, 7)) return { rows: 0, requests, difference: `month ${body.month}` };
  }
  return compared(expected, got, requests);
}

/** Count and quote of liquidations, bankruptcies apart, over a day and 30 days. */
function liquidationSums(truth: MonthTruth, base: string): Promise<StatsResult> {
  const records = truth.of('LiquidationRecord', (data) => !/Bankruptcy$/.test(String(data.liquidation_type)));
  const within = (now: number, span: number) => {
    const found = records.filter(({ ts }) => ts >= now - span && ts <= now);
    const amount = found.reduce((sum, event) => sum + liquidatedQuote(event), 0n);
    return { count: found.length, amount: String(amount) };
  };
  return askedAt(
    async () => (await getJson<{ stats: unknown }>(`${base}/stats/liquidations`)).stats,
    (now) => ({ '24h': within(now, DAY), '30d': within(now, 30 * DAY) }),
  );
}

const SPOT_SCALES = [1_000_000n, 1_000_000_000n, 100_000_000n];

function liquidatedQuote({ data }: MonthEvent): bigint {
  const part = (name: string): Data => data[name] as Data;
  switch (data.liquidation_type) {
    case 'liquidatePerp': {
      const quote = big(part('liquidate_perp').quote_asset_amount);
      return quote < 0n ? -quote : quote;
    }
    case 'liquidateSpot': {
      const spot = part('liquidate_spot');
      const scale = SPOT_SCALES[Number(spot.liability_market_index)] ?? 1n;
      return (big(spot.liability_transfer) * big(spot.liability_price)) / scale;
    }
    case 'liquidateBorrowForPerpPnl':
      return big(part('liquidate_borrow_for_perp_pnl').pnl_transfer);
    case 'liquidatePerpPnlForDeposit':
      return big(part('liquidate_perp_pnl_for_deposit').pnl_transfer);
    default:
      return 0n;
  }
}

/** Last fill price now and before the 24 hours, their difference and percent, as text; empty where there was none. */
async function prices(truth: MonthTruth, base: string): Promise<StatsResult> {
  const summary = await getJson<{ marketType: string; marketIndex: number; ts: number }[]>(`${base}/stats/markets`);
  const { markets } = await getJson<{ markets: Record<string, unknown>[] }>(`${base}/stats/markets/prices`);
  const expected = summary.map(({ marketType, marketIndex, ts }) => {
    const fills = marketType === 'perp' ? candleFills(truth, marketIndex) : [];
    const start = (Math.floor(ts / 60) - 1_439) * 60;
    const current = fills.at(-1);
    const before = fills.findLast((fill) => fill.ts < start);
    const [now, ago] = [current, before].map((fill) => (fill ? fillPrice(fill.data) : null));
    const change = now === null || now === undefined || ago === null || ago === undefined ? null : now - ago;
    const text = (value: bigint | null | undefined, decimals: number): string =>
      value === null || value === undefined ? '' : fixed(value, decimals);
    return {
      symbol: (marketType === 'perp' ? PERP_SYMBOLS : SPOT_SYMBOLS)[marketIndex],
      marketIndex,
      marketType,
      currentPrice: text(now, 6),
      price24hAgo: text(ago, 6),
      priceChange: text(change, 6),
      priceChangePercent: text(change === null || !ago ? null : roundedMean(change * 10_000n, ago), 2),
    };
  });
  return compared(expected, markets, 2);
}
