// Time of history requests over HTTP, on ten million trades, orders of a million accounts and a year of minute candles.
// ClickHouse is the managed child. `npm run bench history`. Each list is measured at its first page and at a page deep inside.
// Leaderboard and account snapshots are measured from reduced days, and from the events alone (`raw`); pages also by each plan. BENCH_TRADES makes the
// history smaller.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { fileURLToPath } from 'node:url';
import { Registry } from 'prom-client';
import { leaderboard as leaderboardOf } from '../../api/history/queries/boards.ts';
import { HistoryStore } from '../../api/history/store.ts';
import { HistoryError } from '../../api/http/errors.ts';
import { type ClickHouse, openClickHouse, openEventLog, readConfig, silentLogger } from '../../platform/index.ts';
import { AccountDays } from '../../processors/history/account-days.ts';
import { sinkMetrics } from '../../processors/history/metrics.ts';
import { encodeMessage, type MarketSummary, type MarketView, marketKey, TOPICS } from '../../schemas/index.ts';
import { percentile } from '../support/platform/percentile.ts';
import { type Running, startRoles, temporaryDirectory } from '../support/processes/processes.ts';
import {
  busyAccount,
  type HistoryShape,
  MARKET_SYMBOLS,
  seedHistory,
  settled,
  tradedDays,
} from './harness/history-store.ts';
import { pagePlans } from './harness/page-plans.ts';
import { cpuSeconds, machine, residentBytes } from './harness/processes.ts';
import { report } from './harness/report.ts';
import type { RestLoad, RestResult } from './harness/rest-load.ts';

const TRADES = Number(process.env.BENCH_TRADES ?? 10_000_000);
const REQUESTS = 200;
const WARM_UP_REQUESTS = 20;
const DEEP_PAGES = 20;
const CSV_ROWS_WANTED = 200_000;
const MARKETS_SECONDS = 8;
const SUMS_ROUNDS = 5;
const BOARD_SECONDS = 30 * 86_400;
/** Candles into the future: a live history always has the current candle, so this one needs them while the bench runs. */
const CANDLES_AHEAD_S = 900;
const LOAD = fileURLToPath(new URL('./harness/rest-load.ts', import.meta.url));
const agent = new Agent({ keepAlive: true });

interface Answer {
  readonly body: string;
  readonly ms: number;
}

/** One request over a kept connection, to its last byte. */
function ask(url: string): Promise<Answer> {
  const startedMs = performance.now();
  return new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () => {
        const body = Buffer.concat(parts).toString('utf8');
        if (response.statusCode === 200) resolve({ body, ms: performance.now() - startedMs });
        else reject(new Error(`${url}: ${response.statusCode} ${body}`));
      });
    }).on('error', reject);
  });
}

async function latencies(name: string, urls: readonly string[], bar: { p50: number; p99: number }): Promise<void> {
  for (let done = 0; done < WARM_UP_REQUESTS; done++) await ask(urls[done % urls.length] ?? '');
  const taken: number[] = [];
  for (let done = 0; done < REQUESTS; done++) taken.push((await ask(urls[done % urls.length] ?? '')).ms);
  for (const [part, value] of Object.entries({ p50: percentile(taken, 0.5), p99: percentile(taken, 0.99) })) {
    report({
      name: `history.${name}.${part}`,
      value,
      unit: 'ms',
      bar: { atMost: bar[part as 'p50' | 'p99'] },
      requests: REQUESTS,
      trades: TRADES,
      ...machine(),
    });
  }
}

/** Pages of a list, one after the other by their cursors. */
async function pagesOf(url: string, pages: number): Promise<readonly string[]> {
  const urls = [url];
  while (urls.length < pages) {
    const { meta } = JSON.parse((await ask(urls.at(-1) ?? '')).body) as { meta: { nextPage: string | null } };
    if (meta.nextPage === null) break;
    urls.push(`${url}${url.includes('?') ? '&' : '?'}page=${meta.nextPage}`);
  }
  return urls;
}

async function dailyCsv(server: Running, url: string): Promise<void> {
  await ask(url);
  const before = residentBytes(server.pid);
  const { body, ms } = await ask(url);
  const after = residentBytes(server.pid);
  const rows = body.split('\n').length - 2;
  report({
    name: 'history.daily-csv',
    value: ms / 1000,
    unit: 's',
    bar: { atMost: 2 },
    rows,
    perWantedRows: (ms / 1000) * (CSV_ROWS_WANTED / rows),
    bytes: body.length,
    apiResidentBefore: before,
    apiResidentAfter: after,
    ...machine(),
  });
}

async function statsMarkets(server: Running, base: string): Promise<void> {
  const { hostname: host, port } = new URL(base);
  const child = fork(LOAD, { execArgv: ['--disable-warning=ExperimentalWarning'] });
  const usedBefore = cpuSeconds(server.pid);
  const load: RestLoad = {
    host,
    port: Number(port),
    paths: ['/stats/markets'],
    connections: 64,
    seconds: MARKETS_SECONDS,
  };
  child.send(load);
  const [result] = (await once(child, 'message')) as [RestResult];
  const used = cpuSeconds(server.pid) - usedBefore;
  child.disconnect();
  if (result.error !== undefined) throw new Error(result.error);
  report({
    name: 'history.stats-markets',
    value: result.answers / used,
    unit: 'requests/CPU-s',
    bar: { atLeast: 10_000 },
    perSecond: result.answers / result.seconds,
    coresUsed: used / result.seconds,
    statuses: result.statuses,
    ...machine(),
  });
}

/** Medians, milliseconds. */
interface Sums {
  /** Null when the store exceeded its time limit for readers. */
  readonly leaderboard: number | null;
  readonly wallets: number;
  readonly snapshots: number;
  readonly snapshotsBody: string;
}

/** Times the leaderboard query in the store, and a whole snapshots request. No cache has either. */
async function sums(clickhouse: ClickHouse, url: string, end: number): Promise<Sums> {
  const store = new HistoryStore(clickhouse.client, clickhouse.database);
  const median = async (once: () => Promise<unknown>): Promise<number> => {
    const taken: number[] = [];
    while (taken.length < SUMS_ROUNDS) {
      const startedMs = performance.now();
      await once();
      taken.push(performance.now() - startedMs);
    }
    return taken.sort((a, b) => a - b)[Math.floor(SUMS_ROUNDS / 2)] ?? Number.NaN;
  };
  let wallets = 0;
  const leaderboard = await median(async () => {
    const indexes = MARKET_SYMBOLS.map((_, index) => index);
    wallets = (await leaderboardOf(store, indexes, end - BOARD_SECONDS, end)).length;
  }).catch((error: unknown) => {
    if (error instanceof HistoryError && error.code === 'storeAway') return null;
    throw error;
  });
  const snapshots = await median(() => ask(url));
  return { leaderboard, wallets, snapshots, snapshotsBody: (await ask(url)).body };
}

/** All snapshots but the newest, which is made at the time of the request. */
function points(body: string): string {
  const { snapshots } = JSON.parse(body) as { snapshots: readonly unknown[] };
  return JSON.stringify(snapshots.slice(0, -1));
}

async function reduceDays({ client }: ClickHouse, shape: HistoryShape): Promise<void> {
  const persisting = {
    logger: silentLogger(),
    metrics: sinkMetrics(new Registry(), async () => new Map()),
    signal: new AbortController().signal,
  };
  const days = new AccountDays({ client, settle: async () => {} }, 0);
  const startedMs = performance.now();
  const traded = tradedDays(shape);
  await days.storing(traded, persisting);
  days.stored(traded);
  await days.reduceDue(persisting);
  report({
    name: 'history.reduce-day',
    value: (performance.now() - startedMs) / (traded.size - 1) / 1000,
    unit: 's',
    days: traded.size - 1,
    trades: TRADES,
    ...machine(),
  });
}

function marketView(symbol: string, marketIndex: number): MarketView {
  return {
    marketType: 'perp',
    marketIndex,
    slot: 1,
    symbol,
    status: 'active',
    tickSize: 100n,
    stepSize: 1n,
    minOrderSize: 1n,
    decimals: 9,
    oraclePrice: 150_000_000n,
    openInterestBase: 1n,
    last24hAvgFundingRate: 0n,
    oracle: null,
    isLoading: false,
  };
}

/** The rows that the reducer makes for such a market. */
function marketSummary({ marketType, marketIndex }: MarketView, ts: number): MarketSummary {
  const rate = { fundingRate: 1_269_458n, fundingRateLong: 1_269_458n, fundingRateShort: 1_269_458n };
  return {
    marketType,
    marketIndex,
    slot: 1,
    ts,
    quoteVolume24h: 636_338_066_752n,
    baseVolume24h: 4_179_860_000_000n,
    trades24h: 156,
    lastFillPrice: 152_235_510n,
    lastFillTs: ts,
    fillPrice24hAgo: 151_000_000n,
    fillHigh24h: 152_618_774n,
    fillLow24h: 151_961_010n,
    oracleHigh24h: 152_434_209n,
    oracleLow24h: 152_020_291n,
    funding: { recordId: 1n, ts, ...rate, oraclePriceTwap: 152_339_771n },
    fundingRecords24h: 1,
    fundingPercentSum1e9: 833_307n,
    oraclePrice: 152_198_521n,
    sampleSlot: 1,
    sampleTs: ts,
    openInterestLong: 1_750_000_000_000n,
    openInterestShort: -2_502_110_000_000n,
    bidPrice: 152_200_000n,
    askPrice: 152_300_000n,
  };
}

const { dir, remove } = temporaryDirectory();
const config = readConfig({}, { dataDir: dir });
const clickhouse = await openClickHouse(config, silentLogger());
try {
  const end = Math.floor(Date.now() / 1000);
  const seededMs = performance.now();
  const shape = { trades: TRADES, end, candlesUntil: end + CANDLES_AHEAD_S };
  await seedHistory(clickhouse, shape);
  const busy = await busyAccount(clickhouse);
  report({
    name: 'history.seed',
    value: (performance.now() - seededMs) / 1000,
    unit: 's',
    mergedAfter: await settled(clickhouse),
    trades: TRADES,
    ...machine(),
  });

  const log = await openEventLog(config, silentLogger());
  await log.ensureTopics([TOPICS.marketViews, TOPICS.summaryViews]);
  const views = MARKET_SYMBOLS.map(marketView);
  await log.append(
    TOPICS.marketViews,
    views.map((view) => ({ key: marketKey(view), value: encodeMessage('MarketView', view) })),
  );
  await log.append(
    TOPICS.summaryViews,
    views.map((view) => ({ key: marketKey(view), value: encodeMessage('MarketSummary', marketSummary(view, end)) })),
  );
  const server = await startRoles(['history'], { DATA_DIR: dir, SOURCE: 'capture' });
  try {
    const base = server.endpoints.history ?? '';
    const trades = await pagesOf(`${base}/market/SOL-PERP/trades?limit=50`, DEEP_PAGES);
    await latencies('market-trades', trades.slice(0, 1), { p50: 15, p99: 40 });
    await latencies('market-trades-deep', trades.slice(-1), { p50: 15, p99: 40 });
    await latencies('candles', [`${base}/market/SOL-PERP/candles/1?limit=1000`], { p50: 15, p99: 40 });
    const own = await pagesOf(`${base}/user/${busy}/trades`, DEEP_PAGES);
    await latencies('user-trades', own.slice(0, 1), { p50: 15, p99: 50 });
    await latencies('user-trades-deep', own.slice(-1), { p50: 15, p99: 50 });
    const yesterday = new Date((end - 2 * 86_400) * 1000);
    const day = `${yesterday.getUTCFullYear()}/${yesterday.getUTCMonth() + 1}/${yesterday.getUTCDate()}`;
    await dailyCsv(server, `${base}/market/SOL-PERP/trades/${day}?format=csv`);
    await statsMarkets(server, base);
    const snapshots = `${base}/user/${busy}/snapshots/trading?days=30`;
    const raw = await sums(clickhouse, snapshots, end);
    await reduceDays(clickhouse, shape);
    const reduced = await sums(clickhouse, snapshots, end);
    if (points(reduced.snapshotsBody) !== points(raw.snapshotsBody)) throw new Error('reduced days change an answer');
    if (reduced.leaderboard === null) throw new Error('no leaderboard within the time of readers');
    const about = { rounds: SUMS_ROUNDS, trades: TRADES, ...machine() };
    const { wallets } = reduced;
    report({
      name: 'history.leaderboard',
      value: reduced.leaderboard,
      unit: 'ms',
      raw: raw.leaderboard,
      wallets,
      ...about,
    });
    report({ name: 'history.account-snapshots', value: reduced.snapshots, unit: 'ms', raw: raw.snapshots, ...about });
    // Last: after them ClickHouse answers other requests a fifth more slowly.
    await pagePlans(clickhouse, busy, end);
  } finally {
    await server.stop();
    await log.close();
  }
} finally {
  agent.destroy();
  await clickhouse.stop();
  remove();
}
