import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { address, event, key } from '../../../test/support/api/history-requests.ts';
import { HistoryStage, NOW } from '../../../test/support/api/history-stage.ts';

const WALLET = key('w');
const OTHER = key('o');
const WALLET_ID = address(WALLET);

let stage: HistoryStage;

beforeAll(async () => {
  stage = await HistoryStage.open();
});

afterAll(() => stage?.close());

describe('/authority/{authorityId} lists', () => {
  const stake = (id: number, ts: number, members: object = {}) => ({
    ...event(300 + id, ts),
    user_authority: WALLET,
    action: 'stake',
    amount: String(id),
    market_index: 0,
    total_if_shares_after: '340282366920938463463374607431768211455',
    ...members,
  });

  it('page stakes by cursor, and give a month as JSON and CSV', async () => {
    const rows = [1, 2, 3].map((id) => stake(id, NOW - id * 100));
    await stage.store('insurance_fund_stake', [...rows, ...rows, stake(9, NOW - 5, { user_authority: OTHER })]);
    const path = `/authority/${WALLET_ID}/insuranceFundStake`;
    const first = await stage.list(`${path}?limit=2`);
    expect(first.records.map(({ amount }) => amount)).toEqual(['1', '2']);
    expect(first.records[0]).toMatchObject({
      userAuthority: WALLET_ID,
      action: 'stake',
      symbol: 'USDT',
      totalIfSharesAfter: '340282366920938463463374607431768211455',
    });
    const second = await stage.list(`${path}?limit=2&page=${first.meta.nextPage}`);
    expect([second.records.map(({ amount }) => amount), second.meta.nextPage]).toEqual([['3'], null]);
    expect((await stage.list(`${path}/2026/6`)).meta).toMatchObject({ totalRecords: 3, includesLatest: true });
    const csv = await stage.app.inject(`${path}/2026/6?format=csv`);
    expect([csv.headers['content-type'], csv.body.trim().split('\n').length]).toEqual(['text/csv; charset=utf-8', 4]);
    for (const bad of ['?limit=51', '?limit=0', '/2026/13', '/2021/1', '/2026/6?format=xml']) {
      expect([bad, (await stage.app.inject(path + bad)).statusCode]).toEqual([bad, 400]);
    }
  });

  it('list mints and redemptions of liquidity pools', async () => {
    await stage.store('lp_mint_redeem', [
      {
        ...event(400, NOW - 50),
        authority: WALLET,
        description: 1,
        amount: '5',
        fee: '-2',
        spot_market_index: 1,
        mint: 'm'.repeat(32),
        lp_amount: '18446744073709551615',
        lp_pool: 'p'.repeat(32),
        mint_redeem_id: '8',
      },
    ]);
    const path = `/authority/${WALLET_ID}/lpMintRedeem`;
    const { records } = await stage.list(path);
    expect(records).toEqual([
      expect.objectContaining({
        ts: NOW - 50,
        slot: 400,
        txSigIndex: 0,
        authority: WALLET_ID,
        description: 1,
        amount: '5',
        fee: '-2',
        spotMarketIndex: 1,
        symbol: 'SOL',
        lpAmount: '18446744073709551615',
        lpPool: address('p'.repeat(32)),
        mintRedeemId: '8',
      }),
    ]);
    expect((await stage.list(`${path}/2026/6`)).meta.totalRecords).toBe(1);
  });
});
