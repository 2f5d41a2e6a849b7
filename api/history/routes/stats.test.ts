import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import bs58 from 'bs58';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { HistoryContract } from '../../testing/history-contract.ts';
import {
  DAY,
  fill,
  fundingRate,
  HistoryStage,
  makeApp,
  marketSummary,
  NOW,
  registry,
} from '../../testing/history-stage.ts';
import { MarketRegistry } from '../../views/registry.ts';
import type { HistorySettings } from '../services.ts';
import { MarketSummaries } from '../summaries.ts';

const HOUR = 3600;
const address = (text: string) => bs58.encode(Buffer.from(text));
const key = (letter: string) => letter.repeat(32);

let stage: HistoryStage;
/** Every answer is held against it. */
let contract: HistoryContract;
/** Made for each test: answers are kept for a minute. */
let app: FastifyInstance;

beforeAll(async () => {
  stage = await HistoryStage.open();
  contract = await HistoryContract.of(stage.app);
}, 60_000);

afterAll(() => stage?.close());

beforeEach(async () => {
  await stage.reset();
  app = await appWith();
});

function appWith(settings: Partial<HistorySettings> = {}, summary = true): Promise<FastifyInstance> {
  const markets = registry();
  const summaries = new MarketSummaries(markets);
  if (summary) summaries.put(marketSummary());
  return makeApp(stage.clickhouse, markets, {
    summaries,
    settings: { vaultsPath: '', fundingVenuesPath: '', ...settings },
  });
}

async function get<T = Record<string, unknown>>(url: string, from = app): Promise<T> {
  const answer = await ask(url, from);
  if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${answer.body}`);
  return answer.json<T>();
}

async function ask(url: string, from = app) {
  const answer = await from.inject(url);
  expect(contract.problems(url, { status: answer.statusCode, body: answer.json() })).toBe('');
  return answer;
}

const refused = async (urls: readonly string[]) =>
  Promise.all(
    urls.map(async (url) => {
      const { statusCode, body } = await ask(url);
      return [url, statusCode, JSON.parse(body).error];
    }),
  );
const asValidation = (urls: readonly string[]) => urls.map((url) => [url, 400, 'ValidationError']);

const event = (id: number, ts: number) => ({
  signature: String(id).padStart(64, 'e'),
  event_index: 0,
  slot: String(id),
  tx_index: 0,
  ts,
});

describe('/stats/markets', () => {
  it('is a bare array by type and index', async () => {
    const body = await get<Record<string, unknown>[]>('/stats/markets');
    expect(body.map(({ symbol }) => symbol)).toEqual(['SOL-PERP', 'BTC-PERP', 'USDT', 'SOL']);
    expect(body[0]).toMatchObject({ volume24h: 450.6, openInterest: 2.5, status: 'active' });
  });

  it('is refused until a summary is known', async () => {
    const empty = await appWith({}, false);
    for (const url of ['/stats/markets', '/stats/markets/prices', '/contracts', '/external/coingecko/contracts']) {
      expect([url, (await ask(url, empty)).statusCode]).toEqual([url, 503]);
    }
  });
});

describe('/stats/markets/prices', () => {
  it('tells prices with 6 and percent with 2 decimals, empty where there was no fill', async () => {
    const { markets } = await get<{ markets: unknown[] }>('/stats/markets/prices');
    expect(markets.slice(0, 2)).toEqual([
      {
        symbol: 'SOL-PERP',
        marketIndex: 0,
        marketType: 'perp',
        currentPrice: '150.200000',
        price24hAgo: '150.000000',
        priceChange: '0.200000',
        priceChangePercent: '0.13',
      },
      {
        symbol: 'BTC-PERP',
        marketIndex: 1,
        marketType: 'perp',
        currentPrice: '',
        price24hAgo: '',
        priceChange: '',
        priceChangePercent: '',
      },
    ]);
  });
});

describe('/stats/markets/volume', () => {
  const rows = () => [
    fill({ ts: NOW - 10, action_explanation: 'liquidation' }),
    fill({ ts: NOW - HOUR, market_index: 1 }),
    fill({ ts: NOW - HOUR - 1 }),
    fill({ ts: NOW - 2 * DAY }),
    fill({ ts: NOW - 31 * DAY }),
    fill({ ts: NOW - 20, action_explanation: 'transferPerpPosition' }),
    fill({ ts: NOW - 20, action: 'place' }),
  ];
  const fillsOf = (body: { total: string; markets: { symbol: string; quoteVolume: string }[] }) => ({
    total: Number(body.total) / 225_300_000,
    markets: body.markets.map(({ symbol, quoteVolume }) => [symbol, Number(quoteVolume) / 225_300_000]),
  });

  it('counts each fill of the interval once, liquidations among them, transfers not', async () => {
    const stored = rows();
    await stage.store('order_action', stored);
    await stage.store('order_action', stored);
    const volume = async (interval: string) => fillsOf(await get(`/stats/markets/volume/${interval}`));
    const none = [['SOL', 0]];
    expect(await volume('1h')).toEqual({ total: 2, markets: [['SOL-PERP', 1], ['USDT', 0], ['BTC-PERP', 1], ...none] });
    expect(await volume('24h')).toMatchObject({ total: 3 });
    expect(await volume('30d')).toEqual({
      total: 4,
      markets: [['SOL-PERP', 3], ['USDT', 0], ['BTC-PERP', 1], ...none],
    });
    const { markets } = await get<{ markets: unknown[] }>('/stats/markets/volume/1h');
    expect(markets[0]).toEqual({
      symbol: 'SOL-PERP',
      marketIndex: 0,
      marketType: 'perp',
      baseVolume: '1500000000',
      quoteVolume: '225300000',
    });
  });

  it('aligns a range down to the hour and says so', async () => {
    const hour = Math.floor(NOW / HOUR) * HOUR;
    await stage.store('order_action', [fill({ ts: hour - HOUR }), fill({ ts: hour - 1 }), fill({ ts: hour })]);
    const body = await get<{ total: string; startTs: number; endTs: number }>(
      `/stats/markets/volume?startTs=${hour - 1}&endTs=${hour + 1800}`,
    );
    expect(body).toMatchObject({ startTs: hour - HOUR, endTs: hour, total: '450600000' });
    expect(await get(`/stats/markets/volume?startTs=${hour - 24 * HOUR}&endTs=${hour}`)).toMatchObject({
      total: '450600000',
    });
  });

  it('refuses ranges that are empty, too long or not given, and other intervals', async () => {
    const hour = Math.floor(NOW / HOUR) * HOUR;
    const urls = [
      `/stats/markets/volume?startTs=${hour}&endTs=${hour}`,
      `/stats/markets/volume?startTs=${hour}&endTs=${hour - 1}`,
      `/stats/markets/volume?startTs=${hour}&endTs=${hour + 1}`,
      `/stats/markets/volume?startTs=${hour - 25 * HOUR}&endTs=${hour}`,
      `/stats/markets/volume?startTs=${hour}`,
      '/stats/markets/volume?startTs=x&endTs=5',
      '/stats/markets/volume/7d',
    ];
    expect(await refused(urls)).toEqual(asValidation(urls));
  });
});

describe('/stats/fundingRates', () => {
  it('equals a naive mean over the newest 24 records and those of 7, 30 and 365 days', async () => {
    const rows = Array.from({ length: 60 }, (_, index) => ({
      ...fundingRate(),
      ts: NOW - index * 11 * HOUR,
      record_id: String(1000 - index),
      funding_rate_long: String((index % 2 === 0 ? 1 : -1) * (index * 7_654_321 + 3)),
      oracle_price_twap: String(100_000_000 + index * 12_345),
    }));
    await stage.store('funding_rate', [...rows, ...rows, fundingRate({ ts: NOW - 400 * DAY, market_index: 1 })]);
    const mean = (kept: typeof rows) => {
      const percents = kept.map(
        (row) => (BigInt(row.funding_rate_long) * 100_000_000n) / BigInt(row.oracle_price_twap),
      );
      const sum = percents.reduce((total, value) => total + value, 0n);
      return (Number(sum) / kept.length / 1e9).toFixed(9);
    };
    const younger = (hours: number) => rows.filter(({ ts }) => ts > NOW - hours * HOUR);
    const { markets } = await get<{ markets: { fundingRates: unknown }[] }>('/stats/fundingRates');
    expect(markets).toEqual([
      {
        marketIndex: 0,
        symbol: 'SOL-PERP',
        fundingRates: {
          '24h': mean(rows.slice(0, 24)),
          '7d': mean(younger(168)),
          '30d': mean(younger(720)),
          '1y': mean(rows),
        },
      },
      {
        marketIndex: 1,
        symbol: 'BTC-PERP',
        fundingRates: { '24h': '0.000000000', '7d': '0.000000000', '30d': '0.000000000', '1y': '0.000000000' },
      },
    ]);
  });

  it('has no records of other venues unless a deployment names some', async () => {
    expect(await get('/stats/fundingRates/external')).toEqual({ success: true, records: [] });
  });
});

describe('/stats/{symbol}/rateHistory/{type}', () => {
  const record = (id: number, ts: number, members: object = {}) => ({
    ...event(id, ts),
    market_index: 0,
    deposit_balance: '1000000000000',
    cumulative_deposit_interest: '11000000000',
    borrow_balance: '440000000000',
    cumulative_borrow_interest: '10000000000',
    optimal_utilization: 800_000,
    optimal_borrow_rate: 100_000,
    max_borrow_rate: 1_000_000,
    ...members,
  });

  it('gives the last rates of each hour with the insurance part of their time', async () => {
    const hour = Math.floor(NOW / HOUR) * HOUR;
    await stage.store('spot_interest', [
      record(1, hour - 32 * DAY),
      record(2, hour - 2 * HOUR),
      record(3, hour - HOUR, { borrow_balance: '0' }),
      record(4, hour - 10),
      record(5, hour - 10, { market_index: 1 }),
    ]);
    await stage.store('insurance_fund', [
      { ...event(6, hour - HOUR - 5), spot_market_index: 0, total_if_factor: 100_000 },
    ]);
    const rates = async (type: string) => (await get<{ rates: unknown }>(`/stats/usdt/rateHistory/${type}`)).rates;
    expect(await rates('deposit')).toEqual([
      [hour - 2 * HOUR, '20000'],
      [hour - 10, '18000'],
    ]);
    expect(await rates('borrow')).toEqual([
      [hour - 2 * HOUR, '50000'],
      [hour - 10, '50000'],
    ]);
    expect(await rates('deposit_balance')).toContainEqual([hour - 10, '1100000000']);
    expect(await rates('borrow_balance')).toContainEqual([hour - 10, '440000000']);
  });

  it('is empty without records, and refuses other types, perps and unknown symbols', async () => {
    expect(await get('/stats/SOL/rateHistory/borrow')).toEqual({ success: true, rates: [] });
    const urls = ['/stats/SOL/rateHistory/lend', '/stats/SOL-PERP/rateHistory/borrow', '/stats/X/rateHistory/borrow'];
    expect(await refused(urls)).toEqual(asValidation(urls));
  });
});

describe('/stats/liquidations and /stats/bankruptcies', () => {
  const row = (id: number, ts: number, type: string, members: object = {}) => ({
    ...event(id, ts),
    liquidation_type: type,
    user: key('u'),
    liquidator: key('l'),
    ...members,
  });

  it('list liquidations newest first and sum what changed hands', async () => {
    const rows = [
      row(1, NOW - 5, 'liquidatePerp', { liquidate_perp_quote_asset_amount: '-7000000' }),
      row(2, NOW - 6, 'liquidateSpot', {
        liquidate_spot_liability_transfer: '2000000000',
        liquidate_spot_liability_price: '150000000',
        liquidate_spot_liability_market_index: 1,
      }),
      row(3, NOW - 2 * DAY, 'liquidateBorrowForPerpPnl', { liquidate_borrow_for_perp_pnl_pnl_transfer: '50' }),
      row(4, NOW - 2 * DAY, 'liquidatePerpPnlForDeposit', { liquidate_perp_pnl_for_deposit_pnl_transfer: '60' }),
      row(5, NOW - 30 * DAY - 1, 'liquidatePerp', { liquidate_perp_quote_asset_amount: '1' }),
      row(6, NOW - 7, 'perpBankruptcy', { perp_bankruptcy_pnl: '-5' }),
    ];
    await stage.store('liquidation', rows);
    await stage.store('liquidation', rows);
    const body = await get<{ stats: unknown; records: { slot: number }[]; meta: { nextPage: string } }>(
      '/stats/liquidations?limit=3',
    );
    expect(body.stats).toEqual({
      '24h': { count: 2, amount: '307000000' },
      '30d': { count: 4, amount: '307000110' },
    });
    const rest = await get<typeof body>(`/stats/liquidations?limit=3&page=${body.meta.nextPage}`);
    expect([...body.records, ...rest.records].map(({ slot }) => slot)).toEqual([1, 2, 4, 3, 5]);
    expect(rest.meta.nextPage).toBeNull();
    const filtered = await get<typeof body>(`/stats/liquidations?startTs=${NOW - 6}&endTs=${NOW - 6}`);
    expect(filtered.records.map(({ slot }) => slot)).toEqual([2]);
  });

  it('sum bankruptcies of all time, borrows at the price of their time', async () => {
    await stage.store('market_sample', [
      { market_type: 'spot', market_index: 1, ts: NOW - 90 * DAY - 1, slot: '1', oracle_price: '20000000' },
      { market_type: 'spot', market_index: 1, ts: NOW - 5, slot: '2', oracle_price: '99000000' },
    ]);
    await stage.store('liquidation', [
      row(1, NOW - 90 * DAY, 'perpBankruptcy', {
        perp_bankruptcy_pnl: '-1000000',
        perp_bankruptcy_if_payment: '300000',
        perp_bankruptcy_clawback_user_payment: '100000',
      }),
      row(2, NOW - 90 * DAY, 'spotBankruptcy', {
        spot_bankruptcy_market_index: 1,
        spot_bankruptcy_borrow_amount: '3000000000',
        spot_bankruptcy_if_payment: '1000000000',
      }),
      row(3, NOW - 5, 'spotBankruptcy', {
        spot_bankruptcy_market_index: 0,
        spot_bankruptcy_borrow_amount: '5000000',
        spot_bankruptcy_if_payment: '5000000',
      }),
      row(4, NOW - 5, 'liquidatePerp', { perp_bankruptcy_pnl: '-99' }),
    ]);
    const body = await get<{ stats: unknown; records: { slot: number }[] }>('/stats/bankruptcies');
    expect(body.stats).toEqual({
      totalCount: 3,
      totalAmount: String(1_000_000 + 60_000_000 + 5_000_000),
      ifPayment: String(300_000 + 20_000_000 + 5_000_000),
      socialLoss: String(600_000 + 40_000_000),
    });
    expect(body.records.map(({ slot }) => slot)).toEqual([3]);
  });

  it('refuse limits and pages that mean nothing', async () => {
    const urls = ['liquidations?limit=51', 'liquidations?limit=0', 'bankruptcies?page=abc'].map(
      (end) => `/stats/${end}`,
    );
    expect(await refused(urls)).toEqual(asValidation(urls));
  });
});

describe('/stats/insuranceFund, /stats/vaults, /stats/dlp/snapshots', () => {
  it('tell the fund after its newest record', async () => {
    const stake = (id: number, ts: number, members: object) => ({
      ...event(id, ts),
      user_authority: key('a'),
      market_index: 0,
      insurance_vault_amount_before: '2000',
      total_if_shares_after: '900',
      user_if_shares_after: '700',
      ...members,
    });
    await stage.store('insurance_fund_stake', [
      stake(1, NOW - 100, { action: 'stake', amount: '500' }),
      stake(2, NOW - 90, { action: 'unstakeRequest', amount: '5', insurance_vault_amount_before: '2500' }),
    ]);
    await stage.store('insurance_fund', [
      {
        ...event(3, NOW - 80),
        spot_market_index: 0,
        insurance_vault_amount_before: '2500',
        amount: '365',
        total_if_shares_after: '901',
      },
      { ...event(4, NOW - 31 * DAY), spot_market_index: 1, insurance_vault_amount_before: '10', amount: '-4' },
    ]);
    expect(await get('/stats/insuranceFund')).toEqual({
      success: true,
      data: [
        {
          marketIndex: 0,
          symbol: 'USDT',
          vaultAmount: '2865',
          totalShares: '901',
          userShares: '700',
          apy: (Math.floor((365 * 10_000 * 365) / 30 / 2865) / 100).toFixed(2),
          unstakingPeriod: null,
          ts: NOW - 80,
        },
        expect.objectContaining({ symbol: 'SOL', vaultAmount: '6', userShares: null, apy: '0.00' }),
      ],
    });
  });

  it('tell of no vaults', async () => {
    expect(await get('/stats/vaults')).toEqual({ success: true, vaults: [] });
  });

  it('tell the value of each pool at each point', async () => {
    const settle = (id: number, ts: number, pool: string, aum: string) => ({
      ...event(id, ts),
      record_id: String(id),
      perp_market_index: id,
      lp_aum: aum,
      lp_price: '1000001',
      lp_pool: key(pool),
    });
    const midnight = Math.floor(NOW / DAY) * DAY;
    await stage.store('lp_settle', [
      settle(1, midnight - DAY - 5, 'p', '10'),
      settle(2, midnight - 5, 'p', '20'),
      settle(3, midnight - 6, 'p', '19'),
      settle(4, midnight + 5, 'q', '30'),
    ]);
    const [p, q] = [address(key('p')), address(key('q'))];
    expect(await get('/stats/dlp/snapshots?days=2')).toEqual({
      success: true,
      snapshots: [
        { ts: midnight - DAY, tvl: '10', price: '1000001', lpPool: p },
        { ts: midnight, tvl: '20', price: '1000001', lpPool: p },
        { ts: NOW, tvl: '20', price: '1000001', lpPool: p },
        { ts: NOW, tvl: '30', price: '1000001', lpPool: q },
      ],
    });
    expect((await get<{ snapshots: unknown[] }>('/stats/dlp/snapshots?days=1')).snapshots).toHaveLength(25 + 13);
    const urls = ['/stats/dlp/snapshots?days=0', '/stats/dlp/snapshots?days=101'];
    expect(await refused(urls)).toEqual(asValidation(urls));
  });
});

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
    await stage.store('new_user', accounts());
    const rows = [
      trade(NOW - 5, 'a', 'c', 100),
      trade(NOW - 5, 'b', 'a', 50), // of one wallet with itself: on both boards
      trade(month, 'c', null, 150),
      trade(month - 1, 'd', 'd', 9_999),
      trade(NOW - 6, 'd', 'c', 777, { action_explanation: 'transferPerpPosition' }),
      trade(NOW - 6, 'd', 'z', 20, { action_explanation: 'liquidation' }),
      trade(NOW - 6, 'd', 'c', 888, { market_type: 'spot' }),
    ];
    await stage.store('order_action', rows);
    await stage.store('order_action', rows);
    const place = (rank: number, wallet: string, volume: number) => ({
      rank,
      authority: address(key(wallet)),
      volume: String(volume),
    });
    expect(await get('/stats/leaderboard/taker')).toEqual({
      success: true,
      month: '2026-06',
      records: [place(1, 'A', 150), place(2, 'C', 150), place(3, 'D', 20)],
      meta: { nextPage: null },
    });
    expect(await get('/stats/leaderboard/maker?limit=1')).toEqual({
      success: true,
      month: '2026-06',
      records: [place(1, 'C', 100)],
      meta: { nextPage: '2' },
    });
    expect(await get('/stats/leaderboard/maker?limit=1&page=2')).toMatchObject({
      records: [place(2, 'A', 50)],
      meta: { nextPage: null },
    });
  });

  it('equals a naive P&L and volume of 30 days, by either', async () => {
    await stage.store('new_user', accounts());
    await stage.store('market_sample', [
      { market_type: 'perp', market_index: 0, ts: NOW - 30 * DAY - 5, slot: '1', oracle_price: '90000000' },
      { market_type: 'perp', market_index: 0, ts: NOW - 5, slot: '2', oracle_price: '130000000' },
    ]);
    await stage.store('funding_payment', [
      { ...event(8, NOW - 9), user: key('b'), market_index: 0, funding_payment: '-1000' },
      { ...event(9, NOW - 31 * DAY), user: key('b'), market_index: 0, funding_payment: '77' },
    ]);
    await stage.store('order_action', [
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
    expect(await get('/stats/leaderboard')).toEqual({
      success: true,
      data: { leaderboard: [place('A', 1), place('D', 2), place('C', 3)] },
    });
    expect(await get('/stats/leaderboard?sort=volume&limit=2&page=1')).toEqual({
      success: true,
      data: { leaderboard: [place('C', 1), place('D', 2)] },
    });
    expect(await get('/stats/leaderboard?sort=volume&limit=2&page=2')).toEqual({
      success: true,
      data: { leaderboard: [place('A', 3)] },
    });
    expect(await get(`/stats/leaderboard/${address(key('D'))}`)).toEqual({
      success: true,
      data: { volume: String(expected.D.volume), pnl: String(expected.D.pnl), rank: { pnl: 2, volume: 2 } },
    });
    expect(await get(`/stats/leaderboard/${address(key('N'))}`)).toEqual({
      success: true,
      data: { volume: '0', pnl: '0', rank: { pnl: null, volume: null } },
    });
  });

  it('is empty before the first fill', async () => {
    expect(await get('/stats/leaderboard')).toEqual({ success: true, data: { leaderboard: [] } });
    expect(await get('/stats/leaderboard/maker')).toMatchObject({ records: [], meta: { nextPage: null } });
  });

  it('refuses other orders, pages and limits, and what is no key', async () => {
    const urls = ['?sort=name', '?limit=101', '?limit=0', '?page=0', '/maker?limit=101', '/taker?page=x', '/abc'].map(
      (end) => `/stats/leaderboard${end}`,
    );
    expect(await refused(urls)).toEqual(asValidation(urls));
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
  const data = async (url: string) => (await get<{ data: unknown[][] }>(url)).data;

  it('gives raw integers as text, oldest first, for every series', async () => {
    await stage.store('market_sample', [
      sample(1000),
      sample(1000),
      sample(1000, { market_index: 1, oracle_price: '7' }),
    ]);
    const at = async (name: string) => data(`/amm/${name}?marketName=sol-perp&start=1000&end=1001`);
    expect(await at('position')).toEqual([[1000, '-170141183460469231731687303715884105727']]);
    expect(await at('bidAskPrice')).toEqual([[1000, '999', '1001']]);
    expect(await at('oraclePrice')).toEqual([[1000, '1000']]);
    expect(await at('spreads')).toEqual([[1000, '250', '300']]);
    expect(await at('openInterest')).toEqual([[1000, '9']]);
    expect(await data('/amm/oraclePrice?symbol=BTC-PERP&start=1000&end=1001')).toEqual([[1000, '7']]);
  });

  it('has at each step the last value known, and nothing before the first', async () => {
    const stored = [1010, 1039, 1040, 1041, 1095].map((ts) => sample(ts));
    await stage.store('market_sample', [...stored, sample(1060, { oracle_price: null })]);
    const naive = (start: number, end: number, step: number, count: number) => {
      const points: (number | string)[][] = [];
      for (let ts = start; ts <= end && ts < start + count * step; ts += step) {
        const known = stored.filter((row) => row.ts <= ts).at(-1);
        if (known) points.push([ts, String(known.ts)]);
      }
      return points;
    };
    const series = (start: number, end: number, samples: number) =>
      data(`/amm/oraclePrice?marketName=SOL-PERP&start=${start}&end=${end}&samples=${samples}`);
    expect(await series(1000, 1100, 11_000)).toEqual(naive(1000, 1100, 20, 11_000));
    expect(await series(1000, 1100, 11_000)).toHaveLength(5);
    expect(await series(1000, 1099, 3)).toEqual(naive(1000, 1099, 33, 3));
    expect(await series(1040, 1100, 2)).toEqual(naive(1040, 1100, 30, 2));
    expect(await series(1096, 1097, 1)).toEqual([[1096, '1095']]);
    expect(await series(900, 1000, 5)).toEqual([]);
  });

  it('looks back a day unless told otherwise', async () => {
    await stage.store('market_sample', [sample(NOW - DAY - 1), sample(NOW - 10)]);
    const points = await data('/amm/oraclePrice?marketName=SOL-PERP');
    expect([points[0], points.length]).toEqual([[NOW - DAY, String(NOW - DAY - 1)], DAY / 20 + 1]);
    expect(points.at(-1)).toEqual([NOW, String(NOW - 10)]);
  });

  it('refuses ranges that end before they begin as the predecessor did', async () => {
    for (const range of ['start=5&end=5', 'start=6&end=5', 'end=0']) {
      const answer = await ask(`/amm/spreads?marketName=SOL-PERP&${range}`);
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
    expect(await refused(paths)).toEqual(asValidation(paths));
  });
});

describe('/params and /vaults', () => {
  it('give the parameters of the markets, cached for a minute', async () => {
    const answer = await ask('/params');
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

  it('refuse parameters that are not known yet in words of their own', async () => {
    const empty = await makeApp(stage.clickhouse, new MarketRegistry());
    const answer = await ask('/params', empty);
    expect([answer.statusCode, answer.json()]).toEqual([503, { success: false, error: 'Params not found' }]);
  });

  it('give the vaults of the deployment, none without a file', async () => {
    const answer = await ask('/vaults');
    expect([answer.json(), answer.headers['cache-control']]).toEqual([[], 'public, max-age=60']);
    const dir = mkdtempSync(path.join(tmpdir(), 'slotbook-vaults-'));
    const vaultsPath = path.join(dir, 'vaults.json');
    writeFileSync(vaultsPath, '[{"name":"One"}]');
    const served = await appWith({ vaultsPath });
    expect(await get('/vaults', served)).toEqual([{ name: 'One' }]);
    writeFileSync(vaultsPath, '{}');
    expect((await (await appWith({ vaultsPath })).inject('/vaults')).statusCode).toBe(500);
    rmSync(dir, { recursive: true });
  });
});

describe('/external/coingecko/contracts and /contracts', () => {
  it('list the perp markets with every member as text', async () => {
    const { contracts } = await get<{ contracts: Record<string, string>[] }>('/external/coingecko/contracts');
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
      open_interest_usd: '375.450000',
      index_price: '150.180000',
      index_name: 'SOL',
      index_currency: 'USDT',
      funding_rate: '0.00007905170',
      next_funding_rate: '0.00007905170',
      next_funding_rate_timestamp: String((Math.floor(NOW / HOUR) + 1) * HOUR),
      contract_type: 'Vanilla',
      contract_price_currency: 'USDT',
    });
    expect(contracts[1]).toMatchObject({ last_price: '', funding_rate: '', quote_volume: '0.000000' });
    expect(await get('/contracts')).toEqual({ contracts });
  });
});

describe('what is not built yet', () => {
  it('is refused with 503 by every endpoint that reads the store', async () => {
    const name = 'never_built';
    const { client } = stage.clickhouse;
    await client.command({ query: `CREATE DATABASE ${name}` });
    await client.command({ query: `CREATE TABLE ${name}.projection AS ${stage.clickhouse.database}.projection` });
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
    const answers = await Promise.all(urls.map(async (url) => [url, (await ask(url, bare)).statusCode]));
    expect(answers).toEqual(urls.map((url) => [url, 503]));
  });
});
