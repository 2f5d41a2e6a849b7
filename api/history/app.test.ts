import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Ajv from 'ajv';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ClickHouse, makeClient, openClickHouse, readConfig } from '../../platform/index.ts';
import { MARKETS } from '../testing/market-views.ts';
import { MarketRegistry } from '../views/registry.ts';
import { historyApp } from './app.ts';
import { HistoryStore } from './store.ts';

const logger = pino({ level: 'silent' });
/** 2026-06-15 12:00:30 UTC. */
const NOW = Date.UTC(2026, 5, 15, 12, 0, 30) / 1000;
const MINUTE = Math.floor(NOW / 60) * 60;
const DAY = 86_400;

let dataDir: string;
let clickhouse: ClickHouse;
let app: FastifyInstance;
let nextId = 1n;

beforeAll(async () => {
  dataDir = mkdtempSync(path.join(tmpdir(), 'slotbook-history-'));
  clickhouse = await openClickHouse(readConfig({}, { dataDir }), logger);
  app = await makeApp(clickhouse);
}, 60_000);

afterAll(async () => {
  await app?.close();
  await clickhouse?.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

beforeEach(async () => {
  nextId = 1n;
  for (const table of ['order_action', 'funding_rate']) {
    await clickhouse.client.command({ query: `TRUNCATE TABLE ${clickhouse.database}.${table}` });
  }
});

function registry(): MarketRegistry {
  const markets = new MarketRegistry();
  for (const view of MARKETS) markets.put(view);
  return markets;
}

function makeApp(database: Pick<ClickHouse, 'client' | 'database'>, markets = registry()): Promise<FastifyInstance> {
  const store = new HistoryStore(database.client, database.database);
  return historyApp({ store, markets, now: () => NOW }, logger);
}

/** A fill of SOL-PERP: 1.5 base at 150.2; ids, signatures and slots grow from call to call. */
function fill(members: Record<string, unknown> = {}): Record<string, unknown> {
  const id = nextId++;
  return {
    signature: id.toString().padStart(64, 's'),
    event_index: 2,
    slot: (1000n + id).toString(),
    tx_index: null,
    ts: NOW - 100,
    action: 'fill',
    action_explanation: 'orderFilledWithMatch',
    market_index: 0,
    market_type: 'perp',
    fill_record_id: id.toString(),
    base_asset_amount_filled: '1500000000',
    quote_asset_amount_filled: '225300000',
    taker_fee: '78855',
    maker_fee: '-5632',
    quote_asset_amount_surplus: '0',
    taker: 't'.repeat(32),
    taker_order_id: 3,
    taker_order_direction: 'long',
    taker_order_base_asset_amount: '18446744073709551615',
    maker: null,
    oracle_price: '150180000',
    bit_flags: 0,
    ...members,
  };
}

/** A fill of `base` whole units at `price`. */
function fillAt(ts: number, price: number, base = 1, members: Record<string, unknown> = {}): Record<string, unknown> {
  return fill({
    ts,
    base_asset_amount_filled: String(base * 1e9),
    quote_asset_amount_filled: String(Math.round(price * base * 1e6)),
    oracle_price: String(Math.round(price * 1e6) + 1_000_000),
    ...members,
  });
}

async function store(table: string, values: readonly Record<string, unknown>[]): Promise<void> {
  await clickhouse.client.insert({ table: `${clickhouse.database}.${table}`, values, format: 'JSONEachRow' });
}

interface Listed {
  readonly success: boolean;
  readonly records: Record<string, unknown>[];
  readonly meta: { nextPage: string | null; [name: string]: unknown };
}

async function list(url: string): Promise<Listed> {
  const answer = await app.inject(url);
  expect([answer.statusCode, answer.statusCode === 200 ? '' : answer.body]).toEqual([200, '']);
  return answer.json<Listed>();
}

describe('/market/{symbol}/trades', () => {
  it('answers raw integers as text, with the implied price', async () => {
    await store('order_action', [fill()]);
    const { success, records, meta } = await list('/market/sol-perp/trades');
    expect([success, meta]).toEqual([true, { nextPage: null }]);
    expect(records[0]).toMatchObject({
      ts: NOW - 100,
      txSigIndex: 2,
      slot: 1001,
      action: 'fill',
      actionExplanation: 'orderFilledWithMatch',
      symbol: 'SOL-PERP',
      marketIndex: 0,
      marketType: 'perp',
      marketFilter: 'perp',
      fillRecordId: '1',
      baseAssetAmountFilled: '1500000000',
      quoteAssetAmountFilled: '225300000',
      takerFee: '78855',
      makerFee: '-5632',
      makerRebate: '5632',
      takerOrderId: 3,
      takerOrderDirection: 'long',
      takerOrderBaseAssetAmount: '18446744073709551615',
      maker: null,
      makerOrderId: null,
      referrerReward: null,
      oraclePrice: '150180000',
      price: '150200000',
    });
    expect(records[0]?.txSig).toMatch(/^[1-9A-HJ-NP-Za-km-z]{80,90}$/);
    expect(records[0]?.taker).toMatch(/^[1-9A-HJ-NP-Za-km-z]{40,45}$/);
  });

  it('shows only fills of this market, of the last 31 days, each once', async () => {
    const twice = fill();
    await store('order_action', [
      twice,
      fill({ action: 'place', fill_record_id: null }),
      fill({ market_index: 1 }),
      fill({ market_type: 'spot' }),
      fill({ ts: NOW - 31 * DAY }),
      fill({ ts: NOW - 31 * DAY - 1 }),
    ]);
    await store('order_action', [twice]);
    const { records } = await list('/market/SOL-PERP/trades');
    expect(records.map(({ fillRecordId }) => fillRecordId)).toEqual(['1', '5']);
  });

  it('pages by position: fills that arrive between pages shift nothing', async () => {
    const ts = NOW - 50;
    await store(
      'order_action',
      Array.from({ length: 25 }, () => fill({ ts, slot: '7' })),
    );
    const seen: unknown[] = [];
    let page: string | null = '';
    while (page !== null) {
      const next: Listed = await list(`/market/SOL-PERP/trades?limit=10${page === '' ? '' : `&page=${page}`}`);
      seen.push(...next.records.map(({ fillRecordId }) => Number(fillRecordId)));
      page = next.meta.nextPage;
      await store('order_action', [fill({ ts: NOW })]);
    }
    expect(seen).toEqual(Array.from({ length: 25 }, (_, index) => 25 - index));
  });

  it('orders by time, slot and fill id, newest first, 20 by default', async () => {
    await store('order_action', [
      fill({ ts: NOW - 5, slot: '9' }),
      fill({ ts: NOW - 5, slot: '9' }),
      fill({ ts: NOW - 5, slot: '8' }),
      fill({ ts: NOW - 4, slot: '1' }),
      ...Array.from({ length: 30 }, () => fill({ ts: NOW - 90 })),
    ]);
    const { records, meta } = await list('/market/SOL-PERP/trades');
    expect(records.slice(0, 4).map(({ fillRecordId }) => fillRecordId)).toEqual(['4', '2', '1', '3']);
    expect(records).toHaveLength(20);
    expect(meta.nextPage).toEqual(expect.any(String));
  });

  it.each([['limit=0'], ['limit=51'], ['limit=1.5'], ['limit=abc'], ['limit='], ['page=nonsense'], ['page=']])(
    'refuses %s',
    async (query) => {
      const answer = await app.inject(`/market/SOL-PERP/trades?${query}`);
      expect(answer.statusCode).toBe(400);
      expect(answer.json()).toEqual({ error: 'ValidationError', message: expect.any(String) });
    },
  );

  it('refuses the cursor of another market', async () => {
    await store('order_action', [fill(), fill()]);
    const { meta } = await list('/market/SOL-PERP/trades?limit=1');
    const answer = await app.inject(`/market/BTC-PERP/trades?page=${meta.nextPage}`);
    expect([answer.statusCode, answer.json().error]).toEqual([400, 'ValidationError']);
  });

  it('names an unknown symbol', async () => {
    const answer = await app.inject('/market/NOPE-PERP/trades');
    expect([answer.statusCode, answer.json()]).toEqual([
      400,
      { error: 'ValidationError', message: 'Unknown symbol: NOPE-PERP' },
    ]);
  });
});

describe('/market/{symbol}/trades/{year}/{month}/{day}', () => {
  const first = Date.UTC(2026, 5, 14) / 1000;

  it('answers one day in UTC, with its totals', async () => {
    await store('order_action', [
      fill({ ts: first - 1 }),
      fill({ ts: first }),
      fill({ ts: first + DAY - 1 }),
      fill({ ts: first + DAY }),
    ]);
    const { records, meta } = await list('/market/SOL-PERP/trades/2026/6/14');
    expect(records.map(({ fillRecordId }) => fillRecordId)).toEqual(['3', '2']);
    expect(meta).toEqual({ records: 2, totalRecords: 2, totalPages: 1, currentPage: 1, nextPage: null });
    expect((await list('/market/SOL-PERP/trades/2026/06/15')).meta.includesLatest).toBe(true);
    expect((await list('/market/SOL-PERP/trades/2024/2/29')).meta).toEqual({
      records: 0,
      totalRecords: 0,
      totalPages: 0,
      currentPage: 1,
      nextPage: null,
    });
  });

  it('pages through a long day', async () => {
    await store(
      'order_action',
      Array.from({ length: 1500 }, () => fill({ ts: first + 5 })),
    );
    const one = await list('/market/SOL-PERP/trades/2026/6/14');
    expect(one.meta).toMatchObject({ records: 1000, totalRecords: 1500, totalPages: 2, currentPage: 1 });
    const two = await list(`/market/SOL-PERP/trades/2026/6/14?page=${one.meta.nextPage}`);
    expect(two.meta).toMatchObject({ records: 500, currentPage: 2, nextPage: null });
    expect(new Set([...one.records, ...two.records].map(({ fillRecordId }) => fillRecordId)).size).toBe(1500);
  });

  it('answers the whole day as CSV, a header even without rows', async () => {
    await store(
      'order_action',
      Array.from({ length: 1200 }, () => fill({ ts: first + 5 })),
    );
    const answer = await app.inject('/market/SOL-PERP/trades/2026/6/14?format=csv');
    expect(answer.headers['content-type']).toBe('text/csv; charset=utf-8');
    expect(answer.headers['content-disposition']).toBe('attachment; filename=market-SOL-PERP-trades-2026-6-14.csv');
    const lines = answer.body.trimEnd().split('\n');
    expect(lines).toHaveLength(1201);
    expect(lines[0]?.startsWith('"ts","txSig","txSigIndex","slot","fillerReward","baseAssetAmountFilled"')).toBe(true);
    const empty = await app.inject('/market/SOL-PERP/trades/2026/6/13?format=csv');
    expect(empty.body).toBe(`${lines[0]}\n`);
  });

  it.each([
    ['2021/1/1'],
    ['2026/13/1'],
    ['2026/2/30'],
    ['2026/0/1'],
    ['2026/1/32'],
    ['2026/1/x'],
    ['2026/1/1?format=xml'],
  ])('refuses %s', async (day) => {
    const answer = await app.inject(`/market/SOL-PERP/trades/${day}`);
    expect([answer.statusCode, answer.json().error]).toEqual([400, 'ValidationError']);
  });
});

function fundingRate(members: Record<string, unknown> = {}): Record<string, unknown> {
  const id = nextId++;
  return {
    signature: id.toString().padStart(64, 'f'),
    event_index: 0,
    slot: (2000n + id).toString(),
    tx_index: null,
    ts: NOW - 3600 * Number(id),
    record_id: id.toString(),
    market_index: 0,
    funding_rate: '11857755',
    funding_rate_long: '11857755',
    funding_rate_short: '11857755',
    cumulative_funding_rate_long: '170141183460469231731687303715884105727',
    cumulative_funding_rate_short: '-5',
    oracle_price_twap: '150000000',
    mark_price_twap: '150000001',
    base_asset_amount_with_amm: '-1',
    ...members,
  };
}

describe('/market/{symbol}/fundingRates', () => {
  it('answers raw integers of any size and pages by position', async () => {
    await store('funding_rate', [fundingRate(), fundingRate(), fundingRate({ market_index: 1 })]);
    const one = await list('/market/SOL-PERP/fundingRates?limit=1');
    expect(one.records[0]).toEqual({
      ts: NOW - 3600,
      txSig: expect.any(String),
      txSigIndex: 0,
      slot: 2001,
      recordId: '1',
      marketIndex: 0,
      symbol: 'SOL-PERP',
      fundingRate: '11857755',
      fundingRateLong: '11857755',
      fundingRateShort: '11857755',
      cumulativeFundingRateLong: '170141183460469231731687303715884105727',
      cumulativeFundingRateShort: '-5',
      oraclePriceTwap: '150000000',
      markPriceTwap: '150000001',
      baseAssetAmountWithAmm: '-1',
    });
    const two = await list(`/market/SOL-PERP/fundingRates?limit=1&page=${one.meta.nextPage}`);
    expect([two.records.map(({ recordId }) => recordId), two.meta.nextPage]).toEqual([['2'], null]);
    expect((await app.inject('/market/SOL-PERP/fundingRates?limit=751')).statusCode).toBe(400);
  });

  it('is for perp markets', async () => {
    const answer = await app.inject('/market/SOL/fundingRates');
    expect([answer.statusCode, answer.json().message]).toEqual([400, 'Symbol SOL is not a perp market']);
  });
});

describe('/market/{symbol}/candles/{resolution}', () => {
  it('carries closes into opens, fills quiet minutes flat and adds volumes, newest first', async () => {
    await store('order_action', [
      fillAt(MINUTE - 180, 10, 2),
      fillAt(MINUTE - 175, 12),
      fillAt(MINUTE - 170, 9),
      fillAt(MINUTE - 60, 11, 3),
      fillAt(MINUTE - 30, 500, 1, { action_explanation: 'liquidation' }),
      fillAt(MINUTE - 30, 600, 1, { action_explanation: 'transferPerpPosition' }),
    ]);
    const { success, records } = await list('/market/SOL-PERP/candles/1');
    expect(success).toBe(true);
    expect(records).toEqual([
      candle(MINUTE, [11, 11, 11, 11], 0, 0),
      candle(MINUTE - 60, [9, 11, 9, 11], 33, 3),
      candle(MINUTE - 120, [9, 9, 9, 9], 0, 0),
      candle(MINUTE - 180, [10, 12, 9, 9], 41, 4),
    ]);
  });

  it('takes the close by fill id, so that a late fill moves extremes and volumes only', async () => {
    const late = fillAt(MINUTE - 60, 20);
    await store('order_action', [fillAt(MINUTE - 60, 10), fillAt(MINUTE - 60, 11)]);
    await store('order_action', [{ ...late, ts: MINUTE - 59 }]);
    const { records } = await list(`/market/SOL-PERP/candles/1?startTs=${MINUTE - 1}`);
    expect(records).toEqual([candle(MINUTE - 60, [20, 20, 10, 11], 41, 3)]);
  });

  it('honours limit and both bounds, newest bound first', async () => {
    await store('order_action', [fillAt(MINUTE - 6000, 10)]);
    const starts = async (query: string) =>
      (await list(`/market/SOL-PERP/candles/1?${query}`)).records.map(({ ts }) => (MINUTE - Number(ts)) / 60);
    expect(await starts('limit=2')).toEqual([0, 1]);
    expect(await starts(`limit=2&startTs=${MINUTE - 60 + 59}`)).toEqual([1, 2]);
    expect(await starts(`startTs=${MINUTE - 60}&endTs=${MINUTE - 180}`)).toEqual([1, 2, 3]);
    expect(await starts(`startTs=${MINUTE - 60}&endTs=${MINUTE - 179}`)).toEqual([1, 2]);
    expect(await starts('limit=1000')).toHaveLength(101);
    expect(await starts(`startTs=${MINUTE - 7000}`)).toEqual([]);
  });

  it('carries the close over the edge of the range', async () => {
    await store('order_action', [fillAt(MINUTE - 6000, 10), fillAt(MINUTE - 5000, 13)]);
    const { records } = await list('/market/SOL-PERP/candles/1?limit=1');
    expect(records).toEqual([candle(MINUTE, [13, 13, 13, 13], 0, 0)]);
  });

  it.each([
    ['5', MINUTE],
    ['15', MINUTE],
    ['60', MINUTE],
    ['240', MINUTE],
    ['D', MINUTE - 12 * 3600],
    ['W', Date.UTC(2026, 5, 15) / 1000],
    ['M', Date.UTC(2026, 5, 1) / 1000],
  ])('buckets resolution %s', async (resolution, start) => {
    await store('order_action', [fillAt(NOW - 1, 10), fillAt(start - 1, 8)]);
    const { records } = await list(`/market/SOL-PERP/candles/${resolution}?limit=2`);
    expect(records[0]).toMatchObject({ ts: start, fillOpen: 8, fillClose: 10, baseVolume: 1 });
    expect(records[1]).toMatchObject({ fillOpen: 8, fillClose: 8, baseVolume: 1 });
  });

  it('has none for a market that never traded', async () => {
    expect(await list('/market/BTC-PERP/candles/D')).toEqual({ success: true, records: [] });
  });

  it.each([
    ['/candles/7'],
    ['/candles/1?limit=1001'],
    ['/candles/1?startTs=1783268433645'],
    [`/candles/1?startTs=${NOW}&endTs=${NOW}`],
    ['/candles/1?startTs=5&endTs=9'],
  ])('refuses %s', async (tail) => {
    const answer = await app.inject(`/market/SOL-PERP${tail}`);
    expect([answer.statusCode, answer.json().error]).toEqual([400, 'ValidationError']);
  });
});

function candle(ts: number, [open = 0, high = 0, low = 0, close = 0]: number[], quote: number, base: number) {
  return {
    ts,
    fillOpen: open,
    fillHigh: high,
    fillLow: low,
    fillClose: close,
    oracleOpen: open + 1,
    oracleHigh: high + 1,
    oracleLow: low + 1,
    oracleClose: close + 1,
    quoteVolume: quote,
    baseVolume: base,
  };
}

describe('/stats/markets', () => {
  it('is a bare array with the specified fields, by type and index', async () => {
    await store('order_action', [
      fill({ ts: NOW - DAY }),
      fill({ ts: NOW - DAY - 1 }),
      fill({ action_explanation: 'liquidation' }),
      fill({ action_explanation: 'transferPerpPosition' }),
    ]);
    await store('funding_rate', [
      fundingRate(),
      ...Array.from({ length: 23 }, () => fundingRate({ funding_rate_long: '0' })),
      fundingRate({ funding_rate_long: '999999999999' }),
    ]);
    const answer = await app.inject('/stats/markets');
    const body = answer.json<Record<string, unknown>[]>();
    expect(body.map(({ symbol }) => symbol)).toEqual(['SOL-PERP', 'BTC-PERP', 'USDT', 'SOL']);
    expect(body[0]).toEqual({
      marketIndex: 0,
      symbol: 'SOL-PERP',
      marketType: 'perp',
      oraclePrice: 81.12233,
      volume24h: 450.6,
      openInterest: 1.5,
      fundingRate: 0.00790517,
      fundingRate24hAvg: 0.000329382083,
      status: 'active',
    });
    expect(body[2]).toMatchObject({ volume24h: 0, openInterest: 0, fundingRate: 0, fundingRate24hAvg: 0 });
    expect(body[3]).toMatchObject({ oraclePrice: 0 });
  });
});

describe('failures', () => {
  it('answers an unknown path with 404', async () => {
    const answer = await app.inject('/nowhere?x=1');
    expect([answer.statusCode, answer.json()]).toEqual([
      404,
      { error: 'Not Found', message: 'Route GET:/nowhere not found' },
    ]);
    expect(answer.headers['access-control-allow-origin']).toBe('*');
  });

  it('answers 503 when no market is known, and when the tables are not there', async () => {
    const empty = await makeApp(clickhouse, new MarketRegistry());
    const bare = await makeApp({ client: clickhouse.client, database: 'never_made' });
    for (const [one, url] of [
      [empty, '/market/SOL-PERP/trades'],
      [empty, '/stats/markets'],
      [bare, '/market/SOL-PERP/trades'],
      [bare, '/market/SOL-PERP/trades/2026/6/14?format=csv'],
    ] as const) {
      const answer = await one.inject(url);
      expect([answer.statusCode, answer.json()]).toEqual([
        503,
        { error: 'ServiceUnavailable', message: 'This history is not built yet' },
      ]);
    }
  });

  it('answers 503 when ClickHouse is away', async () => {
    const client = makeClient({ url: 'http://127.0.0.1:1', user: 'default', password: '', logger });
    const answer = await (await makeApp({ client, database: 'x' })).inject('/market/SOL-PERP/trades');
    expect([answer.statusCode, answer.json().error]).toEqual([503, 'ServiceUnavailable']);
    await client.close();
  });

  it('shows no detail of a fault', async () => {
    const broken = { client: {} as ClickHouse['client'], database: 'x' };
    const markets = registry();
    Object.defineProperty(markets, 'byName', {
      value: () => {
        throw new TypeError('secret detail');
      },
    });
    const answer = await (await makeApp(broken, markets)).inject('/market/SOL-PERP/trades');
    expect([answer.statusCode, answer.json()]).toEqual([
      500,
      { error: 'InternalError', message: 'Internal Server Error' },
    ]);
  });
});

describe('/openapi.json', () => {
  interface Operation {
    readonly parameters: readonly { name: string; in: string; required: boolean; schema: Record<string, unknown> }[];
    readonly responses: Record<string, { content: { 'application/json': { schema: object } } }>;
  }
  interface Contract {
    readonly openapi: string;
    readonly paths: Record<string, { get: Operation }>;
  }
  const contract = async () => (await app.inject('/openapi.json')).json<Contract>();

  it('lists every path with the parameters that are validated', async () => {
    const { openapi, paths } = await contract();
    expect(openapi).toBe('3.1.0');
    expect(Object.keys(paths).sort()).toEqual([
      '/market/{symbol}/candles/{resolution}',
      '/market/{symbol}/fundingRates',
      '/market/{symbol}/trades',
      '/market/{symbol}/trades/{year}/{month}/{day}',
      '/stats/markets',
    ]);
    expect(paths['/market/{symbol}/trades']?.get.parameters).toEqual([
      expect.objectContaining({ name: 'symbol', in: 'path', required: true }),
      expect.objectContaining({ name: 'page', in: 'query', required: false }),
      expect.objectContaining({
        name: 'limit',
        schema: { type: 'integer', minimum: 1, maximum: 50, default: 20 },
      }),
    ]);
  });

  it('describes what is really answered', async () => {
    await store('order_action', [fill(), fill({ base_asset_amount_filled: null })]);
    await store('funding_rate', [fundingRate()]);
    const { paths } = await contract();
    const ajv = new Ajv.default({ strict: false });
    for (const [path, url] of [
      ['/market/{symbol}/trades', '/market/SOL-PERP/trades'],
      ['/market/{symbol}/trades/{year}/{month}/{day}', '/market/SOL-PERP/trades/2026/6/15'],
      ['/market/{symbol}/fundingRates', '/market/SOL-PERP/fundingRates'],
      ['/market/{symbol}/candles/{resolution}', '/market/SOL-PERP/candles/D'],
      ['/stats/markets', '/stats/markets'],
    ] as const) {
      const schema = paths[path]?.get.responses['200']?.content['application/json'].schema;
      const body = (await app.inject(url)).json();
      const validate = ajv.compile(schema ?? { not: {} });
      expect([url, validate(body), validate.errors]).toEqual([url, true, null]);
    }
    const failure = paths['/market/{symbol}/trades']?.get.responses['400']?.content['application/json'].schema;
    expect(ajv.validate(failure ?? {}, (await app.inject('/market/x/trades')).json())).toBe(true);
  });
});
