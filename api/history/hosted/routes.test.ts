// Every path below /hosted through the whole service: compared with its own contract, and with the answer of the same path without /hosted.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HistoryContract } from '../../../test/support/api/history-contract.ts';
import { address, event, key } from '../../../test/support/api/history-requests.ts';
import * as rows from '../../../test/support/api/history-rows.ts';
import {
  candleRow,
  fill,
  fundingRate,
  HistoryStage,
  type Listed,
  MINUTE,
  marketSummary,
  NOW,
} from '../../../test/support/api/history-stage.ts';

const WALLET = address(key('a'));
const USER = rows.USER_ID;
const DAY = '2026/6/15';
const MONTH = '2026/6';
const RANGE = `startTs=${NOW - 7200}&endTs=${NOW}`;

let stage: HistoryStage;
let contract: HistoryContract;
let rawContract: HistoryContract;

const sample = {
  market_type: 'perp',
  market_index: 0,
  ts: NOW - 3600,
  slot: 5,
  oracle_price: '150180000',
  bid_price: '150100000',
  ask_price: '150300000',
  long_spread: 500,
  short_spread: 600,
  open_interest_long: '2000000000',
  open_interest_short: '-2500000000',
  base_asset_amount_with_amm: '-500000000',
};

const interest = {
  ...event(1, NOW - 100),
  market_index: 0,
  deposit_balance: '5000000000',
  borrow_balance: '1000000000',
  cumulative_deposit_interest: '10000000000',
  cumulative_borrow_interest: '10000000000',
  optimal_utilization: 800_000,
  optimal_borrow_rate: 100_000,
  max_borrow_rate: 1_000_000,
};

async function storeEverything(): Promise<void> {
  await stage.store('order_action', [
    fill({ fill_record_id: '1', taker: rows.USER, taker_order_id: 7, taker_existing_quote_entry_amount: '5' }),
    fill({ fill_record_id: '2' }),
  ]);
  await stage.store('order', [rows.placement(7)]);
  await stage.store('funding_rate', [fundingRate()]);
  await stage.store('funding_payment', [rows.fundingPayment()]);
  await stage.store('deposit', [rows.deposit(), rows.deposit({ explanation: 'reward' })]);
  await stage.store('swap', [rows.swap()]);
  await stage.store('settle_pnl', [rows.settlement()]);
  await stage.store('liquidation', [rows.liquidation(), rows.liquidation({ liquidation_type: 'perpBankruptcy' })]);
  await stage.store('insurance_fund', [rows.insuranceFund()]);
  await stage.store('insurance_fund_stake', [rows.insuranceFundStake()]);
  await stage.store('candle', [candleRow(MINUTE, '150200000'), candleRow(MINUTE - 60, '150200000')]);
  await stage.store('market_sample', [sample]);
  await stage.store('spot_interest', [interest]);
  stage.summaries.put(marketSummary());
}

beforeAll(async () => {
  stage = await HistoryStage.open();
  contract = await HistoryContract.of(stage.app, '/hosted/openapi.json');
  rawContract = await HistoryContract.of(stage.app);
  await storeEverything();
});

afterAll(() => stage?.close());

/** One request for each path of the contract. */
const REQUESTS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['trades', 'fundingRates'].flatMap((name) => [
      [`/market/{symbol}/${name}`, `/market/SOL-PERP/${name}`],
      [`/market/{symbol}/${name}/{year}/{month}/{day}`, `/market/SOL-PERP/${name}/${DAY}`],
    ]),
  ),
  ...Object.fromEntries(
    ['deposits', 'rewards', 'swaps', 'insuranceFund', 'insuranceFundStake'].flatMap((name) => [
      [`/market/{symbol}/${name}`, `/market/USDT/${name}`],
      [`/market/{symbol}/${name}/{year}/{month}/{day}`, `/market/USDT/${name}/${DAY}`],
    ]),
  ),
  ...Object.fromEntries(
    ['trades', 'fundingPayments', 'liquidations', 'settlePnl', 'swaps', 'deposits', 'rewards'].flatMap((name) => [
      [`/user/{accountId}/${name}`, `/user/${USER}/${name}`],
      [`/user/{accountId}/${name}/{year}/{month}`, `/user/${USER}/${name}/${MONTH}`],
    ]),
  ),
  ...Object.fromEntries(
    ['insuranceFundStake', 'lpMintRedeem'].flatMap((name) => [
      [`/authority/{authorityId}/${name}`, `/authority/${WALLET}/${name}`],
      [`/authority/{authorityId}/${name}/{year}/{month}`, `/authority/${WALLET}/${name}/${MONTH}`],
    ]),
  ),
  ...Object.fromEntries(
    ['trading', 'earn', 'vaults'].map((name) => [
      `/user/{accountId}/snapshots/${name}`,
      `/user/${USER}/snapshots/${name}`,
    ]),
  ),
  ...Object.fromEntries(
    ['overview', 'trading', 'earn', 'vaults', 'referrals'].map((name) => [
      `/authority/{authorityId}/snapshots/${name}`,
      `/authority/${WALLET}/snapshots/${name}`,
    ]),
  ),
  ...Object.fromEntries(
    ['position', 'bidAskPrice', 'oraclePrice', 'spreads', 'openInterest'].map((name) => [
      `/amm/${name}`,
      `/amm/${name}?marketName=SOL-PERP&samples=5`,
    ]),
  ),
  ...Object.fromEntries(
    [
      '/stats/markets',
      '/stats/markets/prices',
      '/stats/fundingRates',
      '/stats/fundingRates/external',
      '/stats/liquidations',
      '/stats/bankruptcies',
      '/stats/vaults',
      '/stats/insuranceFund',
      '/stats/dlp/snapshots',
      '/stats/leaderboard',
      '/stats/leaderboard/maker',
      '/stats/leaderboard/taker',
      '/external/coingecko/contracts',
      '/contracts',
    ].map((path) => [path, path]),
  ),
  '/market/{symbol}/candles/{resolution}': '/market/SOL-PERP/candles/1',
  '/user/{accountId}/positions': `/user/${USER}/positions`,
  '/user/{accountId}/trades/{symbol}': `/user/${USER}/trades/SOL-PERP`,
  '/user/{accountId}/orders/{marketFilter}': `/user/${USER}/orders/perp`,
  '/user/{accountId}/orders/{marketFilter}/{symbol}': `/user/${USER}/orders/perp/SOL-PERP`,
  '/user/{accountId}/orders/{marketFilter}/id/{orderId}': `/user/${USER}/orders/perp/id/7`,
  '/user/{accountId}/orders/id/{orderId}': `/user/${USER}/orders/id/7`,
  '/user/{accountId}/orders/{orderId}/actions': `/user/${USER}/orders/7/actions`,
  '/authority/{authorityId}/accounts': `/authority/${WALLET}/accounts`,
  '/stats/markets/volume/{interval}': '/stats/markets/volume/24h',
  '/stats/markets/volume': `/stats/markets/volume?${RANGE}`,
  '/stats/leaderboard/{authorityId}': `/stats/leaderboard/${WALLET}`,
  '/stats/{symbol}/rateHistory/{type}': '/stats/USDT/rateHistory/deposit_balance',
};

/** Paths with another shape; they have tests of their own. */
const OWN_SHAPE = ['/stats/markets', '/contracts', '/external/coingecko/contracts'];
/** Members that differ by more than their decimals. */
const OWN_VALUE = ['makerRebate', 'nextPage'];

type Json = Readonly<Record<string, unknown>>;

async function ask(url: string): Promise<Json> {
  const answer = await stage.app.inject(`/hosted${url}`);
  const body = answer.json();
  expect(contract.problems(`/hosted${url}`, { status: answer.statusCode, body })).toBe('');
  expect([url, answer.statusCode]).toEqual([url, 200]);
  return body;
}

/** An answer without the member that the hosted shapes lack. */
const withoutIndexes = (answer: unknown): unknown =>
  JSON.parse(JSON.stringify(answer), (name, value: unknown) => (name === 'txIndex' ? undefined : value));

/** Differences other than the decimal point, and the number of decimal members. */
function compare(raw: unknown, hosted: unknown, place = ''): { readonly faults: string[]; readonly decimals: number } {
  const name = place.split('.').at(-1) ?? '';
  if (OWN_VALUE.includes(name) || Object.is(raw, hosted)) return { faults: [], decimals: 0 };
  if (typeof raw === 'object' && raw !== null && typeof hosted === 'object' && hosted !== null) {
    const names = new Set([...Object.keys(raw), ...Object.keys(hosted)]);
    const parts = [...names].map((member) =>
      compare((raw as Json)[member], (hosted as Json)[member], `${place}.${member}`),
    );
    return {
      faults: parts.flatMap(({ faults }) => faults),
      decimals: parts.reduce((sum, part) => sum + part.decimals, 0),
    };
  }
  const isZero = raw === null && name.includes('_') && /^0(\.0+)?$/.test(String(hosted));
  const isMoved = typeof hosted === 'string' && hosted.includes('.') && hosted.replace('.', '') !== '';
  if (isZero || (isMoved && BigInt(String(raw)) === BigInt(hosted.replace('.', '').replace(/^(-?)0+(?=\d)/, '$1')))) {
    return { faults: [], decimals: 1 };
  }
  return { faults: [`${place}: ${JSON.stringify(raw)} became ${JSON.stringify(hosted)}`], decimals: 0 };
}

describe('the hosted prefix', () => {
  it('has a test request for every path of its contract', async () => {
    const { paths } = (await stage.app.inject('/hosted/openapi.json')).json<{ paths: object }>();
    expect(Object.keys(paths).sort()).toEqual(
      Object.keys(REQUESTS)
        .map((path) => `/hosted${path}`)
        .sort(),
    );
  });

  it('names no raw integer in its contract', async () => {
    const { body } = await stage.app.inject('/hosted/openapi.json');
    expect(body.match(/raw integer[^"]*|x-unit/g) ?? []).toEqual([]);
  });

  it('is absent from the contract of the paths with raw integers', async () => {
    const { paths } = (await stage.app.inject('/openapi.json')).json<{ paths: object }>();
    expect(Object.keys(paths).filter((path) => path.startsWith('/hosted'))).toEqual([]);
    const answer = await stage.app.inject('/market/SOL-PERP/trades');
    expect(rawContract.problems('/market/SOL-PERP/trades', { status: 200, body: answer.json() })).toBe('');
    expect(answer.json<Listed>().records[0]?.baseAssetAmountFilled).toBe('1500000000');
  });

  it.each(Object.entries(REQUESTS).filter(([path]) => !OWN_SHAPE.includes(path)))(
    '%s differs from the path with raw integers in decimals alone',
    async (_path, url) => {
      const raw = (await stage.app.inject(url)).json();
      const hosted = await ask(url);
      expect(compare(withoutIndexes(raw), hosted).faults).toEqual([]);
      expect(JSON.stringify(hosted)).not.toContain('txIndex');
    },
  );

  it.each([
    '/market/SOL-PERP/trades',
    '/market/SOL-PERP/fundingRates',
    '/market/USDT/deposits',
    '/market/USDT/swaps',
    '/market/USDT/insuranceFund',
    '/market/USDT/insuranceFundStake',
    `/user/${USER}/positions`,
    `/user/${USER}/fundingPayments`,
    `/user/${USER}/liquidations`,
    `/user/${USER}/settlePnl`,
    `/user/${USER}/orders/perp`,
    `/user/${USER}/orders/id/7`,
    `/user/${USER}/snapshots/trading`,
    `/user/${USER}/snapshots/earn`,
    `/authority/${WALLET}/insuranceFundStake`,
    '/stats/markets/volume/24h',
    '/stats/liquidations',
    '/stats/bankruptcies',
    '/stats/insuranceFund',
    '/amm/bidAskPrice?marketName=SOL-PERP&samples=5',
  ])('%s has amounts, as decimals', async (url) => {
    const raw = (await stage.app.inject(url)).json();
    expect(compare(raw, await ask(url)).decimals).toBeGreaterThan(0);
  });

  it('shows trades like recorded samples of the hosted service', async () => {
    const { records } = (await ask('/market/SOL-PERP/trades')) as unknown as Listed;
    expect(records[0]).toMatchObject({
      baseAssetAmountFilled: '1.500000000',
      quoteAssetAmountFilled: '225.300000',
      takerFee: '0.078855',
      makerFee: '-0.005632',
      makerRebate: '-0.005632',
      oraclePrice: '150.180000',
      price: '150.200000',
      fillRecordId: '2',
      takerOrderId: 3,
      maker: null,
    });
  });

  it('pages rolling lists by a token and archives by a number', async () => {
    const first = (await ask('/market/SOL-PERP/trades?limit=1')) as unknown as Listed;
    expect(first.meta.nextPage).toEqual(expect.any(String));
    const second = (await ask(`/market/SOL-PERP/trades?limit=1&page=${first.meta.nextPage}`)) as unknown as Listed;
    expect(second.meta.nextPage).toBeNull();
    expect([...first.records, ...second.records].map(({ fillRecordId }) => fillRecordId)).toEqual(['2', '1']);
    await stage.store(
      'order_action',
      Array.from({ length: 1_001 }, () => fill({ market_index: 1 })),
    );
    const archive = (await ask(`/market/BTC-PERP/trades/${DAY}`)) as unknown as Listed;
    expect(archive.meta).toMatchObject({ currentPage: 1, totalPages: 2, nextPage: 2 });
    const rest = (await ask(`/market/BTC-PERP/trades/${DAY}?page=2`)) as unknown as Listed;
    expect([rest.records.length, rest.meta.nextPage]).toEqual([1, null]);
  });

  it('writes CSV with the same decimals as JSON', async () => {
    const path = `/market/SOL-PERP/trades/${DAY}`;
    const { records } = (await ask(path)) as unknown as Listed;
    const answer = await stage.app.inject(`/hosted${path}?format=csv`);
    const [head, ...lines] = answer.body.trimEnd().split('\n');
    const cells = (line = '') => line.split(',').map((cell) => (cell === '' ? null : cell.replace(/^"|"$/g, '')));
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'text/csv; charset=utf-8']);
    expect(cells(head)).toEqual(Object.keys(records[0] ?? {}));
    const jsonCells = records.map((row) => Object.values(row).map((cell) => (cell === null ? null : String(cell))));
    expect(lines.map(cells)).toEqual(jsonCells);
    const packed = await stage.app.inject({ url: `/hosted${path}?format=csv`, headers: { 'accept-encoding': 'gzip' } });
    expect(packed.headers['content-encoding']).toBe('gzip');
  });

  it('lists markets in an envelope, and funding of contracts in percent', async () => {
    const { success, markets } = (await ask('/stats/markets')) as unknown as { success: boolean; markets: Json[] };
    expect(success).toBe(true);
    expect(markets.map(({ symbol }) => symbol)).toEqual(['SOL-PERP', 'USDT', 'BTC-PERP', 'SOL']);
    expect(markets[0]).toMatchObject({ quoteAsset: 'USDT', fundingRate: { long: '-0.007905170' } });
    for (const path of ['/contracts', '/external/coingecko/contracts']) {
      const hosted = (await ask(path)) as { contracts: Json[] };
      expect(hosted.contracts[0]?.funding_rate).toBe('0.007905170');
      const raw = (await stage.app.inject(path)).json<{ contracts: Json[] }>();
      expect(raw.contracts[0]?.funding_rate).toBe('0.00007905170');
    }
  });

  it('divides rates by 1e6 and balances by the decimals of the mint', async () => {
    const last = async (type: string) =>
      ((await ask(`/stats/USDT/rateHistory/${type}`)) as { rates: unknown[][] }).rates.at(-1)?.[1];
    expect([await last('deposit_balance'), await last('borrow')]).toEqual(['5.000000', '0.025000']);
    const { data } = (await ask('/amm/position?marketName=SOL-PERP')) as { data: unknown[][] };
    expect(data.at(-1)?.[1]).toBe('-0.500000000');
  });

  it('refuses the same requests as the paths with raw integers, with the same texts', async () => {
    for (const url of ['/market/NO-PERP/trades', '/market/SOL-PERP/trades?limit=51', `/user/${USER}/orders/id/8`]) {
      const [raw, hosted] = await Promise.all([stage.app.inject(url), stage.app.inject(`/hosted${url}`)]);
      expect([hosted.statusCode, hosted.json()]).toEqual([raw.statusCode, raw.json()]);
    }
    const unknown = await stage.app.inject(`/hosted/user/${USER}`);
    expect([unknown.statusCode, unknown.json().error]).toEqual([404, 'Not Found']);
  });
});
