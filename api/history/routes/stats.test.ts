import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { HistoryStage } from '../../testing/history-stage.ts';

let stage: HistoryStage;

beforeAll(async () => {
  stage = await HistoryStage.open();
}, 60_000);

afterAll(() => stage?.close());

beforeEach(() => stage.reset());
const K = '11111111111111111111111111111112';
describe('smoke', () => {
  for (const url of [
    '/stats/markets/volume/24h',
    '/stats/markets/volume?startTs=3600&endTs=7200',
    '/stats/fundingRates',
    '/stats/fundingRates/external',
    '/stats/SOL/rateHistory/deposit',
    '/stats/liquidations',
    '/stats/bankruptcies',
    '/stats/vaults',
    '/stats/insuranceFund',
    '/stats/dlp/snapshots',
    '/stats/leaderboard',
    `/stats/leaderboard/${K}`,
    '/stats/leaderboard/maker',
    '/stats/leaderboard/taker',
    '/amm/position?marketName=SOL-PERP',
    '/amm/bidAskPrice?symbol=sol-perp',
    '/amm/oraclePrice?marketName=SOL-PERP',
    '/amm/spreads?marketName=SOL-PERP',
    '/amm/openInterest?marketName=SOL-PERP',
    '/params',
    '/vaults',
    ...[
      'accounts',
      'insuranceFundStake',
      'insuranceFundStake/2026/6',
      'lpMintRedeem',
      'lpMintRedeem/2026/6',
      'snapshots/overview',
      'snapshots/trading',
      'snapshots/earn',
      'snapshots/vaults',
      'snapshots/referrals',
    ].map((x) => `/authority/${K}/${x}`),
    ...['trading', 'earn', 'vaults'].map((x) => `/user/${K}/snapshots/${x}`),
  ])
    it(url, async () => {
      const a = await stage.app.inject(url);
      expect([a.statusCode, a.body]).toEqual([200, expect.anything()]);
    });
});
