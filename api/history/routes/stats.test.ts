import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { encodeMessage } from '../../../schemas/index.ts';
import {
  address,
  asValidation,
  event,
  HistoryRequests,
  HOUR,
  key,
} from '../../../test/support/api/history-requests.ts';
import { DAY, fill, fundingRate, NOW } from '../../../test/support/api/history-stage.ts';

let asking: HistoryRequests;

beforeAll(async () => {
  asking = await HistoryRequests.open();
});

afterAll(() => asking?.close());

beforeEach(() => asking.reset());

describe('/stats/markets', () => {
  it('is a bare array by type and index', async () => {
    const body = await asking.get<Record<string, unknown>[]>('/stats/markets');
    expect(body.map(({ symbol }) => symbol)).toEqual(['SOL-PERP', 'BTC-PERP', 'USDT', 'SOL']);
    expect(body[0]).toMatchObject({ volume24h: 450.6, openInterest: 2.5, status: 'active' });
  });

  it('is refused before the first summary', async () => {
    const empty = await asking.appWith({}, false);
    for (const url of ['/stats/markets', '/stats/markets/prices', '/contracts', '/external/coingecko/contracts']) {
      expect([url, (await asking.ask(url, empty)).statusCode]).toEqual([url, 503]);
    }
  });
});

describe('/stats/markets/prices', () => {
  it('shows prices with 6 and percent with 2 decimals, empty without a fill', async () => {
    const { markets } = await asking.get<{ markets: unknown[] }>('/stats/markets/prices');
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

  it('counts each fill of the interval once, with liquidations, without transfers', async () => {
    const stored = rows();
    await asking.stage.store('order_action', stored);
    await asking.stage.store('order_action', stored);
    const volume = async (interval: string) => fillsOf(await asking.get(`/stats/markets/volume/${interval}`));
    const none = [['SOL', 0]];
    expect(await volume('1h')).toEqual({ total: 2, markets: [['SOL-PERP', 1], ['USDT', 0], ['BTC-PERP', 1], ...none] });
    expect(await volume('24h')).toMatchObject({ total: 3 });
    expect(await volume('30d')).toEqual({
      total: 4,
      markets: [['SOL-PERP', 3], ['USDT', 0], ['BTC-PERP', 1], ...none],
    });
    const { markets } = await asking.get<{ markets: unknown[] }>('/stats/markets/volume/1h');
    expect(markets[0]).toEqual({
      symbol: 'SOL-PERP',
      marketIndex: 0,
      marketType: 'perp',
      baseVolume: '1500000000',
      quoteVolume: '225300000',
    });
  });

  it('aligns a range down to the hour and returns it', async () => {
    const hour = Math.floor(NOW / HOUR) * HOUR;
    await asking.stage.store('order_action', [fill({ ts: hour - HOUR }), fill({ ts: hour - 1 }), fill({ ts: hour })]);
    const body = await asking.get<{ total: string; startTs: number; endTs: number }>(
      `/stats/markets/volume?startTs=${hour - 1}&endTs=${hour + 1800}`,
    );
    expect(body).toMatchObject({ startTs: hour - HOUR, endTs: hour, total: '450600000' });
    expect(await asking.get(`/stats/markets/volume?startTs=${hour - 24 * HOUR}&endTs=${hour}`)).toMatchObject({
      total: '450600000',
    });
  });

  it('refuses empty, too long and missing ranges, and other intervals', async () => {
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
    expect(await asking.refused(urls)).toEqual(asValidation(urls));
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
    await asking.stage.store('funding_rate', [...rows, ...rows, fundingRate({ ts: NOW - 400 * DAY, market_index: 1 })]);
    const mean = (kept: typeof rows) => {
      const percents = kept.map(
        (row) => (BigInt(row.funding_rate_long) * 100_000_000n) / BigInt(row.oracle_price_twap),
      );
      const sum = percents.reduce((total, value) => total + value, 0n);
      return (Number(sum) / kept.length / 1e9).toFixed(9);
    };
    const younger = (hours: number) => rows.filter(({ ts }) => ts > NOW - hours * HOUR);
    const { markets } = await asking.get<{ markets: { fundingRates: unknown }[] }>('/stats/fundingRates');
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

  it('has no records of other venues without a deployment file', async () => {
    expect(await asking.get('/stats/fundingRates/external')).toEqual({ success: true, records: [] });
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

  it('gives the last rates of each hour with the insurance share at that time', async () => {
    const hour = Math.floor(NOW / HOUR) * HOUR;
    await asking.stage.store('spot_interest', [
      record(1, hour - 32 * DAY),
      record(2, hour - 2 * HOUR),
      record(3, hour - HOUR, { borrow_balance: '0' }),
      record(4, hour - 10),
      record(5, hour - 10, { market_index: 1 }),
    ]);
    await asking.stage.store('insurance_fund', [
      { ...event(6, hour - HOUR - 5), spot_market_index: 0, total_if_factor: 100_000 },
    ]);
    const rates = async (type: string) =>
      (await asking.get<{ rates: unknown }>(`/stats/usdt/rateHistory/${type}`)).rates;
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
    expect(await asking.get('/stats/SOL/rateHistory/borrow')).toEqual({ success: true, rates: [] });
    const urls = ['/stats/SOL/rateHistory/lend', '/stats/SOL-PERP/rateHistory/borrow', '/stats/X/rateHistory/borrow'];
    expect(await asking.refused(urls)).toEqual(asValidation(urls));
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

  it('list liquidations newest first and sum their amounts', async () => {
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
    await asking.stage.store('liquidation', rows);
    await asking.stage.store('liquidation', rows);
    const body = await asking.get<{ stats: unknown; records: { slot: number }[]; meta: { nextPage: string } }>(
      '/stats/liquidations?limit=3',
    );
    expect(body.stats).toEqual({
      '24h': { count: 2, amount: '307000000' },
      '30d': { count: 4, amount: '307000110' },
    });
    const rest = await asking.get<typeof body>(`/stats/liquidations?limit=3&page=${body.meta.nextPage}`);
    expect([...body.records, ...rest.records].map(({ slot }) => slot)).toEqual([1, 2, 4, 3, 5]);
    expect(rest.meta.nextPage).toBeNull();
    const filtered = await asking.get<typeof body>(`/stats/liquidations?startTs=${NOW - 6}&endTs=${NOW - 6}`);
    expect(filtered.records.map(({ slot }) => slot)).toEqual([2]);
  });

  it('sum all bankruptcies, borrows at the price of their time', async () => {
    await asking.stage.store('market_sample', [
      { market_type: 'spot', market_index: 1, ts: NOW - 90 * DAY - 1, slot: '1', oracle_price: '20000000' },
      { market_type: 'spot', market_index: 1, ts: NOW - 90 * DAY - 1, slot: '0', oracle_price: '10000000' },
      { market_type: 'spot', market_index: 1, ts: NOW - 5, slot: '2', oracle_price: '99000000' },
    ]);
    await asking.stage.store('liquidation', [
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
    const body = await asking.get<{ stats: unknown; records: { slot: number }[] }>('/stats/bankruptcies');
    expect(body.stats).toEqual({
      totalCount: 3,
      totalAmount: String(1_000_000 + 60_000_000 + 5_000_000),
      ifPayment: String(300_000 + 20_000_000 + 5_000_000),
      socialLoss: String(600_000 + 40_000_000),
    });
    expect(body.records.map(({ slot }) => slot)).toEqual([3]);
  });

  it('refuse invalid limits and pages', async () => {
    const urls = ['liquidations?limit=51', 'liquidations?limit=0', 'bankruptcies?page=abc'].map(
      (end) => `/stats/${end}`,
    );
    expect(await asking.refused(urls)).toEqual(asValidation(urls));
  });
});

describe('/stats/insuranceFund, /stats/vaults, /stats/dlp/snapshots', () => {
  it('show the fund after its newest record', async () => {
    const stake = (id: number, ts: number, members: object) => ({
      ...event(id, ts),
      user_authority: key('a'),
      market_index: 0,
      insurance_vault_amount_before: '2000',
      total_if_shares_after: '900',
      user_if_shares_after: '700',
      ...members,
    });
    await asking.stage.store('insurance_fund_stake', [
      stake(1, NOW - 100, { action: 'stake', amount: '500' }),
      stake(2, NOW - 90, { action: 'unstakeRequest', amount: '5', insurance_vault_amount_before: '2500' }),
    ]);
    await asking.stage.store('insurance_fund', [
      {
        ...event(3, NOW - 80),
        spot_market_index: 0,
        insurance_vault_amount_before: '2500',
        amount: '365',
        total_if_shares_after: '901',
      },
      { ...event(4, NOW - 31 * DAY), spot_market_index: 1, insurance_vault_amount_before: '10', amount: '-4' },
    ]);
    const state = { marketIndex: 0, slot: 5, unstakingPeriod: 1_209_600n };
    asking.stage.accountStates.put(encodeMessage('InsuranceFundState', state));
    expect(await asking.get('/stats/insuranceFund')).toEqual({
      success: true,
      data: [
        {
          marketIndex: 0,
          symbol: 'USDT',
          vaultAmount: '2865',
          totalShares: '901',
          userShares: '700',
          apy: (Math.floor((365 * 10_000 * 365) / 30 / 2865) / 100).toFixed(2),
          unstakingPeriod: 1_209_600,
          ts: NOW - 80,
        },
        expect.objectContaining({
          symbol: 'SOL',
          vaultAmount: '6',
          userShares: null,
          apy: '0.00',
          unstakingPeriod: null,
        }),
      ],
    });
  });

  it('list no vaults', async () => {
    expect(await asking.get('/stats/vaults')).toEqual({ success: true, vaults: [] });
  });

  it('show the value of each pool at each point', async () => {
    const settle = (id: number, ts: number, pool: string, aum: string) => ({
      ...event(id, ts),
      record_id: String(id),
      perp_market_index: id,
      lp_aum: aum,
      lp_price: '1000001',
      lp_pool: key(pool),
    });
    const midnight = Math.floor(NOW / DAY) * DAY;
    await asking.stage.store('lp_settle', [
      settle(1, midnight - DAY - 5, 'p', '10'),
      settle(2, midnight - 5, 'p', '20'),
      settle(3, midnight - 6, 'p', '19'),
      settle(4, midnight + 5, 'q', '30'),
    ]);
    const [p, q] = [address(key('p')), address(key('q'))];
    expect(await asking.get('/stats/dlp/snapshots?days=2')).toEqual({
      success: true,
      snapshots: [
        { ts: midnight - DAY, tvl: '10', price: '1000001', lpPool: p },
        { ts: midnight, tvl: '20', price: '1000001', lpPool: p },
        { ts: NOW, tvl: '20', price: '1000001', lpPool: p },
        { ts: NOW, tvl: '30', price: '1000001', lpPool: q },
      ],
    });
    expect((await asking.get<{ snapshots: unknown[] }>('/stats/dlp/snapshots?days=1')).snapshots).toHaveLength(25 + 13);
    const urls = ['/stats/dlp/snapshots?days=0', '/stats/dlp/snapshots?days=101'];
    expect(await asking.refused(urls)).toEqual(asValidation(urls));
  });
});
