import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  address,
  asValidation,
  event,
  HistoryRequests,
  HOUR,
  key,
} from '../../../test/support/api/history-requests.ts';
import { DAY, fill, makeApp, NOW, registry } from '../../../test/support/api/history-stage.ts';
import { marketView } from '../../../test/support/api/market-views.ts';
import { MarketRegistry } from '../../views/registry.ts';
import { FRESH_S } from '../minute-cache.ts';

let asking: HistoryRequests;

beforeAll(async () => {
  asking = await HistoryRequests.open();
});

afterAll(() => asking?.close());

beforeEach(() => asking.reset());

describe('/stats/leaderboard', () => {
  const owner = (id: number, user: string, wallet: string) => ({
    ...event(id, NOW - 50 * DAY),
    user: key(user),
    user_authority: key(wallet),
  });
  const trade = (ts: number, taker: string, maker: string | null, quote: number, members: object = {}) =>
    fill({
      ts,
      taker: key(taker),
      maker: maker === null ? null : key(maker),
      maker_order_direction: 'short',
      base_asset_amount_filled: '1000000000',
      quote_asset_amount_filled: String(quote),
      taker_fee: '10',
      maker_fee: '-3',
      ...members,
    });
  const accounts = () => [owner(1, 'a', 'A'), owner(2, 'b', 'A'), owner(3, 'c', 'C'), owner(4, 'd', 'D')];

  it('ranks makers and takers of the calendar month, ties by key, without the AMM', async () => {
    const month = Date.UTC(2026, 5, 1) / 1000;
    await asking.stage.store('new_user', accounts());
    const rows = [
      trade(NOW - 5, 'a', 'c', 100),
      trade(NOW - 5, 'b', 'a', 50), // a wallet fills itself: on both boards
      trade(month, 'c', null, 150),
      trade(month - 1, 'd', 'd', 9_999),
      trade(NOW - 6, 'd', 'c', 777, { action_explanation: 'transferPerpPosition' }),
      trade(NOW - 6, 'd', 'z', 20, { action_explanation: 'liquidation' }),
      trade(NOW - 6, 'd', 'c', 888, { market_type: 'spot' }),
    ];
    await asking.stage.store('order_action', rows);
    await asking.stage.store('order_action', rows);
    const place = (rank: number, wallet: string, volume: number) => ({
      rank,
      authority: address(key(wallet)),
      volume: String(volume),
    });
    expect(await asking.get('/stats/leaderboard/taker')).toEqual({
      success: true,
      month: '2026-06',
      records: [place(1, 'A', 150), place(2, 'C', 150), place(3, 'D', 20)],
      meta: { nextPage: null },
    });
    expect(await asking.get('/stats/leaderboard/maker?limit=1')).toEqual({
      success: true,
      month: '2026-06',
      records: [place(1, 'C', 100)],
      meta: { nextPage: expect.stringMatching(/^[\w-]{40,}$/) },
    });
    const { meta } = (await asking.get('/stats/leaderboard/maker?limit=1')) as { meta: { nextPage: string } };
    for (const page of [meta.nextPage, '2']) {
      expect(await asking.get(`/stats/leaderboard/maker?limit=1&page=${page}`)).toMatchObject({
        records: [place(2, 'A', 50)],
        meta: { nextPage: null },
      });
    }
    const foreign = [`/stats/leaderboard/taker?page=${meta.nextPage}`, `/stats/leaderboard?page=${meta.nextPage}`];
    expect(await asking.refused(foreign)).toEqual(asValidation(foreign));
  });

  it('equals a naive P&L and volume of 30 days, in both orders', async () => {
    await asking.stage.store('new_user', accounts());
    await asking.stage.store('market_sample', [
      { market_type: 'perp', market_index: 0, ts: NOW - 30 * DAY - 5, slot: '1', oracle_price: '90000000' },
      { market_type: 'perp', market_index: 0, ts: NOW - 5, slot: '2', oracle_price: '130000000' },
    ]);
    await asking.stage.store('funding_payment', [
      { ...event(8, NOW - 9), user: key('b'), market_index: 0, funding_payment: '-1000' },
      { ...event(9, NOW - 31 * DAY), user: key('b'), market_index: 0, funding_payment: '77' },
    ]);
    await asking.stage.store('order_action', [
      trade(NOW - 40 * DAY, 'a', 'c', 80_000_000),
      trade(NOW - 10, 'a', 'c', 120_000_000),
      trade(NOW - 9, 'd', 'c', 125_000_000, { market_index: 1, oracle_price: '140000000' }),
    ]);
    const expected = {
      A: { volume: 120_000_000, pnl: -120_000_000 - 10 + 2 * 130_000_000 - 90_000_000 - 1000 },
      C: { volume: 245_000_000, pnl: 245_000_000 + 6 - 2 * 130_000_000 + 90_000_000 - 140_000_000 },
      D: { volume: 125_000_000, pnl: -125_000_000 - 10 + 140_000_000 },
    };
    const place = (wallet: keyof typeof expected, rank: number) => ({
      authority: address(key(wallet)),
      volume: String(expected[wallet].volume),
      pnl: String(expected[wallet].pnl),
      rank,
    });
    expect(await asking.get('/stats/leaderboard')).toEqual({
      success: true,
      data: { leaderboard: [place('A', 1), place('D', 2), place('C', 3)] },
      meta: { nextPage: null },
    });
    expect(await asking.get('/stats/leaderboard?sort=volume&limit=2&page=1')).toEqual({
      success: true,
      data: { leaderboard: [place('C', 1), place('D', 2)] },
      meta: { nextPage: expect.any(String) },
    });
    expect(await asking.get('/stats/leaderboard?sort=volume&limit=2&page=2')).toEqual({
      success: true,
      data: { leaderboard: [place('A', 3)] },
      meta: { nextPage: null },
    });
    expect(await asking.get(`/stats/leaderboard/${address(key('D'))}`)).toEqual({
      success: true,
      data: { volume: String(expected.D.volume), pnl: String(expected.D.pnl), rank: { pnl: 2, volume: 2 } },
    });
    expect(await asking.get(`/stats/leaderboard/${address(key('N'))}`)).toEqual({
      success: true,
      data: { volume: '0', pnl: '0', rank: { pnl: null, volume: null } },
    });
  });

  it('has 20 rows by default, and 100 in the shape of the hosted data API', async () => {
    const wallets = Array.from({ length: 101 }, (_, index) => String.fromCharCode(256 + index));
    const text = (letter: string) => letter.repeat(16); // 32 bytes of UTF-8
    await asking.stage.store(
      'new_user',
      wallets.map((letter, id) => ({ ...event(id, NOW - DAY), user: text(letter), user_authority: text(letter) })),
    );
    const rows = wallets.map((letter) => fill({ ts: NOW - 5, taker: text(letter), maker: null }));
    await asking.stage.store('order_action', rows);
    const app = await asking.appWith();
    const whole = async (path: string) =>
      (await app.inject(path)).json<{ data: { leaderboard: unknown[] } }>().data.leaderboard.length;
    const side = async (path: string) => (await app.inject(path)).json<{ records: unknown[] }>().records.length;
    expect([await whole('/stats/leaderboard'), await whole('/hosted/stats/leaderboard')]).toEqual([20, 100]);
    expect([await side('/stats/leaderboard/taker'), await side('/hosted/stats/leaderboard/taker')]).toEqual([20, 20]);
  });

  it('is empty before the first fill', async () => {
    expect(await asking.get('/stats/leaderboard')).toEqual({
      success: true,
      data: { leaderboard: [] },
      meta: { nextPage: null },
    });
    expect(await asking.get('/stats/leaderboard/maker')).toMatchObject({ records: [], meta: { nextPage: null } });
  });

  it('refuses invalid orders, pages, limits and keys', async () => {
    const urls = ['?sort=name', '?limit=101', '?limit=0', '?page=0', '/maker?limit=101', '/taker?page=x', '/abc'].map(
      (end) => `/stats/leaderboard${end}`,
    );
    expect(await asking.refused(urls)).toEqual(asValidation(urls));
  });
});

describe('/amm', () => {
  const sample = (ts: number, members: object = {}) => ({
    market_type: 'perp',
    market_index: 0,
    ts,
    slot: String(ts),
    oracle_price: String(ts),
    bid_price: String(ts - 1),
    ask_price: String(ts + 1),
    long_spread: 250,
    short_spread: 300,
    base_asset_amount_with_amm: '-170141183460469231731687303715884105727',
    open_interest_long: '5',
    open_interest_short: '-9',
    ...members,
  });
  const data = async (url: string) => (await asking.get<{ data: unknown[][] }>(url)).data;

  it('gives raw integers as text, oldest first, for every series', async () => {
    await asking.stage.store('market_sample', [
      sample(1000),
      sample(1000),
      sample(1000, { market_index: 1, oracle_price: '7' }),
    ]);
    const at = async (name: string) => data(`/amm/${name}?marketName=sol-perp&start=1000&end=1001`);
    expect(await at('position')).toEqual([[1001, '-170141183460469231731687303715884105727']]);
    expect(await at('bidAskPrice')).toEqual([[1001, '999', '1001']]);
    expect(await at('oraclePrice')).toEqual([[1001, '1000']]);
    expect(await at('spreads')).toEqual([[1001, '250', '300']]);
    expect(await at('openInterest')).toEqual([[1001, '9']]);
    expect(await data('/amm/oraclePrice?symbol=BTC-PERP&start=1000&end=1001')).toEqual([[1001, '7']]);
  });

  it('has the last value at each step, and nothing before the first sample', async () => {
    const stored = [1010, 1039, 1040, 1041, 1095].map((ts) => sample(ts));
    await asking.stage.store('market_sample', [...stored, sample(1060, { oracle_price: null })]);
    const naive = (start: number, end: number, step: number, count: number) => {
      const points: (number | string)[][] = [];
      for (let ts = end; ts >= start && ts > end - count * step; ts -= step) {
        const known = stored.filter((row) => row.ts <= ts).at(-1);
        if (known) points.unshift([ts, String(known.ts)]);
      }
      return points;
    };
    const series = (start: number, end: number, samples: number) =>
      data(`/amm/oraclePrice?marketName=SOL-PERP&start=${start}&end=${end}&samples=${samples}`);
    expect(await series(1000, 1100, 11_000)).toEqual(naive(1000, 1100, 20, 11_000));
    expect(await series(1000, 1100, 11_000)).toHaveLength(5);
    expect(await series(1000, 1099, 3)).toEqual(naive(1000, 1099, 33, 3));
    expect(await series(1040, 1100, 2)).toEqual(naive(1040, 1100, 30, 2));
    expect(await series(1096, 1097, 1)).toEqual([[1097, '1095']]);
    expect(await series(900, 1000, 5)).toEqual([]);
  });

  it('shows the newest state of a young chain for any step', async () => {
    await asking.stage.store('market_sample', [sample(NOW - 60), sample(NOW - 10)]);
    for (const samples of [1, 2, 7, 500]) {
      const points = await data(`/amm/oraclePrice?marketName=SOL-PERP&start=${NOW - 60 * DAY}&samples=${samples}`);
      expect(points).toEqual([[NOW, String(NOW - 10)]]);
    }
  });

  it('covers a day by default', async () => {
    await asking.stage.store('market_sample', [sample(NOW - DAY - 1), sample(NOW - 10)]);
    const points = await data('/amm/oraclePrice?marketName=SOL-PERP');
    expect([points[0], points.length]).toEqual([[NOW - DAY, String(NOW - DAY - 1)], DAY / 20 + 1]);
    expect(points.at(-1)).toEqual([NOW, String(NOW - 10)]);
  });

  it('refuses reversed ranges with the predecessor’s body', async () => {
    for (const range of ['start=5&end=5', 'start=6&end=5', 'end=0']) {
      const answer = await asking.ask(`/amm/spreads?marketName=SOL-PERP&${range}`);
      expect([answer.statusCode, answer.json()]).toEqual([
        400,
        { success: false, error: 'ValidationError', message: 'start must be before end' },
      ]);
    }
  });

  it('refuses a missing, unknown or spot market and samples out of bounds', async () => {
    const urls = ['', '?marketName=X', '?marketName=SOL', '?symbol=SOL'].concat(
      ['samples=0', 'samples=11001', 'samples=1.5', 'start=x'].map((end) => `?marketName=SOL-PERP&${end}`),
    );
    const paths = urls.map((end) => `/amm/position${end}`);
    expect(await asking.refused(paths)).toEqual(asValidation(paths));
  });
});

describe('/params and /vaults', () => {
  it('give the parameters of the markets, cached for a minute', async () => {
    const answer = await asking.ask('/params');
    expect(answer.headers['cache-control']).toBe('public, max-age=60');
    expect(answer.json()).toMatchObject({
      success: true,
      updatedAt: NOW,
      params: { precisions: { price: 6, base: 9 } },
    });
    expect(answer.json().params.markets[2]).toEqual({
      symbol: 'USDT',
      marketIndex: 0,
      marketType: 'spot',
      status: 'active',
      baseDecimals: 6,
      tickSize: '100',
      stepSize: '10000000',
      minOrderSize: '10000000',
    });
  });

  it('are never older than a minute, also when nobody has asked for longer', async () => {
    const dir = mkdtempSync(path.join(tmpdir(), 'slotbook-vaults-'));
    const vaultsPath = path.join(dir, 'vaults.json');
    writeFileSync(vaultsPath, '[{"name":"One"}]');
    const markets = registry();
    let clock = NOW;
    const settings = { vaultsPath, fundingVenuesPath: '' };
    const app = await makeApp(asking.stage.clickhouse, markets, { settings, now: () => clock });
    const seen = async () => [
      (await app.inject('/params')).json().params.markets[0].status,
      (await app.inject('/vaults')).json()[0].name,
    ];
    expect(await seen()).toEqual(['active', 'One']);
    markets.put(marketView({ slot: 101, status: 'settlement' }));
    writeFileSync(vaultsPath, '[{"name":"Two"}]');
    clock += FRESH_S - 1;
    expect(await seen()).toEqual(['active', 'One']);
    clock += 1;
    expect(await seen()).toEqual(['settlement', 'Two']);
    rmSync(dir, { recursive: true });
  });

  it('refuse unknown exchange parameters with their own text', async () => {
    const empty = await makeApp(asking.stage.clickhouse, new MarketRegistry());
    const answer = await asking.ask('/params', empty);
    expect([answer.statusCode, answer.json()]).toEqual([503, { success: false, error: 'Params not found' }]);
  });

  it('give the vaults of the deployment’s file, none without a file', async () => {
    const answer = await asking.ask('/vaults');
    expect([answer.json(), answer.headers['cache-control']]).toEqual([[], 'public, max-age=60']);
    const dir = mkdtempSync(path.join(tmpdir(), 'slotbook-vaults-'));
    const vaultsPath = path.join(dir, 'vaults.json');
    writeFileSync(vaultsPath, '[{"name":"One"}]');
    const served = await asking.appWith({ vaultsPath });
    expect(await asking.get('/vaults', served)).toEqual([{ name: 'One' }]);
    writeFileSync(vaultsPath, '{}');
    expect((await (await asking.appWith({ vaultsPath })).inject('/vaults')).statusCode).toBe(500);
    rmSync(dir, { recursive: true });
  });
});

describe('/external/coingecko/contracts and /contracts', () => {
  it('list the perp markets with every member as text', async () => {
    const { contracts } = await asking.get<{ contracts: Record<string, string>[] }>('/external/coingecko/contracts');
    expect(contracts).toHaveLength(2);
    expect(contracts[0]).toEqual({
      contract_index: '0',
      ticker_id: 'SOL-PERP',
      base_currency: 'SOL',
      quote_currency: 'USDT',
      last_price: '150.200000',
      base_volume: '3.000000000',
      quote_volume: '450.600000',
      high: '151.000000',
      low: '149.500000',
      product_type: 'PERP',
      open_interest: '2.500000000',
      open_interest_usd: '202.805825',
      index_price: '81.122330',
      index_name: 'SOL',
      index_currency: 'USDT',
      funding_rate: '0.00007905170',
      next_funding_rate: '0.00007905170',
      next_funding_rate_timestamp: String((Math.floor(NOW / HOUR) + 1) * HOUR),
      contract_type: 'Vanilla',
      contract_price_currency: 'USDT',
    });
    expect(contracts[1]).toMatchObject({ last_price: '', funding_rate: '', quote_volume: '0.000000' });
    expect(await asking.get('/contracts')).toEqual({ contracts });
  });
});

describe('a part that is not built', () => {
  it('is refused with 503 by every endpoint that reads the store', async () => {
    const name = 'never_built';
    const { client } = asking.stage.clickhouse;
    await client.command({ query: `CREATE DATABASE ${name}` });
    await client.command({
      query: `CREATE TABLE ${name}.projection AS ${asking.stage.clickhouse.database}.projection`,
    });
    const bare = await makeApp({ client, database: name });
    const wallet = address(key('A'));
    const urls = [
      '/stats/markets/volume/24h',
      `/stats/markets/volume?startTs=${NOW - HOUR}&endTs=${NOW}`,
      '/stats/fundingRates',
      '/stats/SOL/rateHistory/borrow',
      '/stats/liquidations',
      '/stats/bankruptcies',
      '/stats/insuranceFund',
      '/stats/dlp/snapshots',
      '/stats/leaderboard',
      '/stats/leaderboard/maker',
      `/stats/leaderboard/${wallet}`,
      '/amm/position?marketName=SOL-PERP',
      ...['accounts', 'insuranceFundStake', 'snapshots/overview', 'snapshots/referrals'].map(
        (end) => `/authority/${wallet}/${end}`,
      ),
      ...['trading', 'earn'].map((end) => `/user/${wallet}/snapshots/${end}`),
    ];
    const answers = await Promise.all(urls.map(async (url) => [url, (await asking.ask(url, bare)).statusCode]));
    expect(answers).toEqual(urls.map((url) => [url, 503]));
  });
});
