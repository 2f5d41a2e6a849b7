import bs58 from 'bs58';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeMessage } from '../../../schemas/index.ts';
import { Life, OLD, YOUNG } from '../../../test/support/api/account-life.ts';
import { HistoryContract } from '../../../test/support/api/history-contract.ts';
import { address, getChecked } from '../../../test/support/api/history-requests.ts';
import { DAY, fill, HistoryStage, NOW } from '../../../test/support/api/history-stage.ts';
import { seededRandom } from '../../../test/support/platform/chance.ts';

const MIDNIGHT = Math.floor(NOW / DAY) * DAY;
const WALLET = 'w'.repeat(32);
const NOBODY = address('n'.repeat(32));

let stage: HistoryStage;
let life: Life;
/** Validates every answer. */
let contract: HistoryContract;

const event = (id: number, ts: number) => ({
  signature: String(id).padStart(64, 'a'),
  event_index: 1,
  slot: String(10 + id),
  tx_index: 0,
  ts,
});
const account = (id: number, user: string, sub: number, name: string, members: object = {}) => ({
  ...event(id, NOW - 20 * DAY + id),
  user_authority: WALLET,
  user,
  sub_account_id: sub,
  name: name.padEnd(32 + name.length - Buffer.byteLength(name), ' '),
  ...members,
});

beforeAll(async () => {
  stage = await HistoryStage.open();
  contract = await HistoryContract.of(stage.app);
  life = new Life(seededRandom(7), NOW - 4 * DAY, NOW);
  for (const table of Object.keys(life.rows)) {
    const rows = life.shuffled(table);
    const half = Math.floor(rows.length / 2);
    await stage.store(table, rows.slice(0, half));
    await stage.store(table, rows.slice(half));
  }
  const deleted = 'g'.repeat(32);
  await stage.store('new_user', [
    account(1, YOUNG, 1, 'second'),
    account(2, OLD, 0, 'Main Ünit\0\0 '),
    account(3, deleted, 2, 'deleted'),
    account(4, 'b'.repeat(32), 3, 'back'),
    account(6, 'b'.repeat(32), 3, 'back again'),
    account(9, 'x'.repeat(32), 0, 'foreign', { user_authority: 'v'.repeat(32) }),
  ]);
  await stage.store('delete_user', [
    { ...event(5, NOW - 20 * DAY + 5), user_authority: WALLET, user: 'b'.repeat(32) },
    { ...event(7, NOW - 20 * DAY + 7), user_authority: WALLET, user: deleted },
  ]);
});

afterAll(() => stage?.close());

const get = <T = Record<string, unknown>>(url: string) => getChecked<T>(stage.app, contract, url);

interface Snapshots {
  readonly snapshots: readonly { readonly ts: number }[];
  readonly metrics: Readonly<Record<string, string>>;
  readonly meta: { readonly flagged: boolean };
}

describe('/user/{accountId}/snapshots/trading', () => {
  it('equals a naive recomputation at every point, for any row order and any copies', async () => {
    for (const user of [YOUNG, OLD]) {
      const { snapshots } = await get<Snapshots>(`/user/${address(user)}/snapshots/trading?days=10`);
      expect(snapshots.map(({ ts }) => ts)).toEqual([3, 2, 1, 0].map((days) => MIDNIGHT - days * DAY).concat(NOW));
      expect(snapshots).toEqual(snapshots.map(({ ts }) => life.tradingAt(user, ts)));
    }
  });

  it('has hourly points for one day, and totals of the whole life', async () => {
    const { snapshots, metrics } = await get<Snapshots>(`/user/${address(YOUNG)}/snapshots/trading?days=1`);
    const hours = Array.from({ length: 24 }, (_, hour) => NOW - 30 - (23 - hour) * 3600);
    expect(snapshots).toEqual([...hours, NOW].map((ts) => life.tradingAt(YOUNG, ts)));
    expect(life.tradingAt(YOUNG, NOW)).toMatchObject(metrics);
    expect(Object.keys(metrics)).toHaveLength(4);
  });

  it('covers 7 days by default, and accepts 1 to 100', async () => {
    const { snapshots } = await get<Snapshots>(`/user/${address(OLD)}/snapshots/trading`);
    expect(snapshots).toHaveLength(5);
    for (const days of ['0', '101', 'x', '1.5']) {
      const answer = await stage.app.inject(`/user/${address(OLD)}/snapshots/trading?days=${days}`);
      expect([days, answer.statusCode, answer.json().error]).toEqual([days, 400, 'ValidationError']);
    }
  });

  it('is empty for a key without history and refuses an invalid key', async () => {
    expect(await get(`/user/${NOBODY}/snapshots/trading`)).toEqual({
      success: true,
      snapshots: [],
      metrics: {
        cumulativeMakerVolume: '0',
        cumulativeTakerVolume: '0',
        cumulativeFeePaid: '0',
        cumulativeFeeRebate: '0',
      },
    });
    for (const path of ['user/x/snapshots/trading', 'user/0OIl/snapshots/earn', 'authority/x/snapshots/overview']) {
      const answer = await stage.app.inject(`/${path}`);
      expect([answer.statusCode, answer.json().message]).toEqual([
        400,
        expect.stringMatching(/^Invalid account ID format/),
      ]);
    }
  });
});

describe('/user/{accountId}/snapshots/earn', () => {
  it('equals a naive recomputation, always by the day', async () => {
    for (const days of [1, 10]) {
      const { snapshots } = await get<Snapshots>(`/user/${address(YOUNG)}/snapshots/earn?days=${days}`);
      expect(snapshots.map(({ ts }) => ts)).toEqual(
        (days === 1 ? [0] : [3, 2, 1, 0]).map((ago) => MIDNIGHT - ago * DAY).concat(NOW),
      );
      expect(snapshots).toEqual(snapshots.map(({ ts }) => life.earnAt(YOUNG, ts)));
    }
  });

  it('flags an account whose tokens moved before its first deposit record', async () => {
    const strange = 'q'.repeat(32);
    const swap = { user: strange, in_market_index: 0, out_market_index: 1, amount_in: '5', amount_out: '7' };
    await stage.store('swap', [{ ...event(700, NOW - DAY), ...swap }]);
    const flagged = await get<Snapshots>(`/user/${address(strange)}/snapshots/earn`);
    expect([flagged.meta, flagged.snapshots.length]).toEqual([{ flagged: true }, 2]);
    expect((await get<Snapshots>(`/user/${NOBODY}/snapshots/earn`)).meta).toEqual({ flagged: false });
  });
});

describe('liquidations in snapshots', () => {
  it('move profit, loss and tokens of both accounts', async () => {
    const [debtor, taker] = ['d'.repeat(32), 'k'.repeat(32)];
    const liquidation = (id: number, type: string, members: object) => ({
      ...event(800 + id, NOW - 2 * DAY + id),
      liquidation_type: type,
      user: debtor,
      liquidator: taker,
      ...members,
    });
    await stage.store('liquidation', [
      liquidation(1, 'liquidateSpot', {
        liquidate_spot_asset_market_index: 1,
        liquidate_spot_asset_price: '100000000',
        liquidate_spot_asset_transfer: '2000000000',
        liquidate_spot_liability_market_index: 0,
        liquidate_spot_liability_price: '1000000',
        liquidate_spot_liability_transfer: '190000000',
        liquidate_spot_if_fee: '1000000',
        liquidate_spot_protocol_fee: '500000',
      }),
      liquidation(2, 'liquidateBorrowForPerpPnl', {
        liquidate_borrow_for_perp_pnl_pnl_transfer: '30000000',
        liquidate_borrow_for_perp_pnl_liability_market_index: 0,
        liquidate_borrow_for_perp_pnl_liability_transfer: '29000000',
      }),
      liquidation(3, 'liquidatePerpPnlForDeposit', {
        liquidate_perp_pnl_for_deposit_pnl_transfer: '40000000',
        liquidate_perp_pnl_for_deposit_asset_market_index: 1,
        liquidate_perp_pnl_for_deposit_asset_transfer: '410000000',
      }),
      liquidation(4, 'perpBankruptcy', { perp_bankruptcy_pnl: '-70000000' }),
      liquidation(5, 'spotBankruptcy', { spot_bankruptcy_borrow_amount: '11000000' }),
    ]);
    const last = async (user: string, kind: string) =>
      (await get<{ snapshots: Record<string, unknown>[] }>(`/user/${address(user)}/snapshots/${kind}`)).snapshots.at(
        -1,
      );
    const balances = async (user: string) => {
      const { assets = [] } = ((await last(user, 'earn')) ?? {}) as { assets?: { balance: string }[] };
      return assets.map(({ balance }) => balance);
    };
    expect((await last(debtor, 'trading'))?.unsettledPnl).toBe('80000000');
    expect((await last(taker, 'trading'))?.unsettledPnl).toBe('-10000000');
    expect(await balances(debtor)).toEqual(['228500000', '-2410000000']);
    expect(await balances(taker)).toEqual(['-219000000', '2410000000']);
  });
});

describe('fills that name the whole position but close a part', () => {
  it('close the filled amount and the same share of the entry', async () => {
    const user = 'h'.repeat(32);
    const sides = { taker: user, taker_fee: '40', base_asset_amount_filled: '1000000000' };
    const partly = { taker_existing_quote_entry_amount: '400000001', taker_existing_base_asset_amount: '4000000000' };
    await stage.store('order_action', [
      fill({ ts: NOW - 9, ...sides, base_asset_amount_filled: '4000000000', quote_asset_amount_filled: '400000001' }),
      fill({
        ts: NOW - 8,
        ...sides,
        ...partly,
        quote_asset_amount_filled: '110000000',
        taker_order_direction: 'short',
      }),
    ]);
    const { snapshots } = await get<{ snapshots: Record<string, string>[] }>(
      `/user/${address(user)}/snapshots/trading`,
    );
    const worth = 3n * life.priceAt('perp-0', NOW);
    expect(snapshots.at(-1)).toMatchObject({
      cumulativeRealizedPnl: String(110_000_000 - 100_000_000 - 40),
      unrealizedPnl: String(worth - 300_000_001n),
    });
  });
});

describe('positions that expired', () => {
  it('leave the account at the settle price', async () => {
    const user = 'e'.repeat(32);
    await stage.store('order_action', [
      fill({
        ts: NOW - 3 * DAY,
        taker: user,
        taker_fee: '0',
        base_asset_amount_filled: '1000000000',
        quote_asset_amount_filled: '100000000',
      }),
    ]);
    await stage.store('settle_pnl', [
      {
        ...event(900, NOW - DAY),
        user,
        market_index: 0,
        pnl: '20000000',
        base_asset_amount: '1000000000',
        quote_entry_amount: '-100000000',
        settle_price: '120000000',
        explanation: 'expiredPosition',
      },
    ]);
    const { snapshots } = await get<{ snapshots: Record<string, string>[] }>(
      `/user/${address(user)}/snapshots/trading`,
    );
    expect(snapshots.at(-1)).toMatchObject({ unrealizedPnl: '0', unsettledPnl: '0', cumulativeSettledPnl: '20000000' });
  });
});

describe('/authority/{authorityId}/accounts', () => {
  it('lists accounts created and not deleted since, sorted by sub-account id, with trimmed names', async () => {
    expect(await get(`/authority/${address(WALLET)}/accounts`)).toEqual({
      success: true,
      accounts: [
        { accountId: address(OLD), subAccountId: 0, name: 'Main Ünit' },
        { accountId: address(YOUNG), subAccountId: 1, name: 'second' },
        { accountId: address('b'.repeat(32)), subAccountId: 3, name: 'back again' },
      ],
      builderRevenueShareAccount: null,
      revenueShareEscrow: null,
    });
  });

  it('has what the wallet earned as a builder, and the builders it approved at a fee', async () => {
    const wallet = Buffer.from(WALLET);
    const [share, escrow, one, two] = [1, 2, 3, 4].map((byte) => new Uint8Array(32).fill(byte));
    if (!share || !escrow || !one || !two) throw new Error('four keys');
    const earned = (slot: number, totalBuilderRewards: bigint) =>
      encodeMessage('RevenueShareState', {
        slot,
        account: share,
        authority: wallet,
        totalReferrerRewards: 7n,
        totalBuilderRewards,
      });
    stage.accountStates.put(earned(5, 12_000_000n));
    stage.accountStates.put(earned(4, 1n));
    stage.accountStates.put(
      encodeMessage('RevenueShareEscrowState', {
        slot: 5,
        account: escrow,
        authority: wallet,
        referrer: new Uint8Array(32),
        approvedBuilders: [
          { authority: two, maxFeeTenthBps: 0 },
          { authority: one, maxFeeTenthBps: 50 },
        ],
      }),
    );
    expect(await get(`/authority/${address(WALLET)}/accounts`)).toMatchObject({
      builderRevenueShareAccount: { accountId: bs58.encode(share), totalBuilderRewards: '12000000' },
      revenueShareEscrow: {
        accountId: bs58.encode(escrow),
        approvedBuilders: [{ authority: bs58.encode(one), builderIdx: 1, maxFeeTenthBps: 50 }],
      },
    });
    expect(await get(`/authority/${NOBODY}/accounts`)).toMatchObject({
      builderRevenueShareAccount: null,
      revenueShareEscrow: null,
    });
  });

  it('is empty for a wallet without accounts and refuses an invalid key', async () => {
    expect((await get(`/authority/${NOBODY}/accounts`)).accounts).toEqual([]);
    expect((await stage.app.inject('/authority/abc/accounts')).statusCode).toBe(400);
  });
});

describe('/authority/{authorityId}/snapshots', () => {
  const ofWallet = `/authority/${address(WALLET)}/snapshots`;
  const of = (user: string) => `/user/${address(user)}/snapshots`;

  it('has the same points for each account as its own snapshots', async () => {
    const trading = await get<{ accounts: Record<string, unknown>[] }>(`${ofWallet}/trading?days=3`);
    const earn = await get<{ accounts: Record<string, unknown>[] }>(`${ofWallet}/earn?days=3`);
    expect(trading.accounts.map(({ accountId }) => accountId)).toEqual([OLD, YOUNG, 'b'.repeat(32)].map(address));
    const { snapshots, metrics } = await get<Snapshots>(`${of(YOUNG)}/trading?days=3`);
    expect(trading.accounts[1]).toEqual({ accountId: address(YOUNG), snapshots, metrics });
    const own = await get<Snapshots>(`${of(YOUNG)}/earn?days=3`);
    expect(earn.accounts[1]).toEqual({ accountId: address(YOUNG), snapshots: own.snapshots });
    expect(await get(`${ofWallet}/overview?days=3`)).toEqual({
      success: true,
      products: { trade: trading.accounts, earn: earn.accounts, vaults: [] },
    });
  });

  it('has no vaults, and nothing for a wallet without accounts', async () => {
    expect(await get(`${ofWallet}/vaults`)).toEqual({ success: true, accounts: [] });
    expect(await get(`${of(OLD)}/vaults`)).toEqual({ success: true, snapshots: [] });
    expect(await get(`/authority/${NOBODY}/snapshots/trading`)).toEqual({ success: true, accounts: [] });
    expect(await get(`/authority/${NOBODY}/snapshots/overview`)).toEqual({
      success: true,
      products: { trade: [], earn: [], vaults: [] },
    });
  });

  it('counts referred users, their 30-day volume and the rewards', async () => {
    const [one, two, referrer] = ['1'.repeat(32), '2'.repeat(32), 'r'.repeat(32)];
    const referred = (id: number, wallet: string, user: string, ts: number) =>
      account(id, user, 0, 'x', { user_authority: wallet, referrer, ts });
    await stage.store('new_user', [
      referred(20, one, one, NOW - 40 * DAY),
      referred(21, one, '3'.repeat(32), NOW - 39 * DAY),
      referred(22, two, two, MIDNIGHT - 10),
    ]);
    const trade = (ts: number, members: object) => fill({ ts, market_index: 1, ...members });
    await stage.store('order_action', [
      trade(NOW - 35 * DAY, { taker: one, referrer_reward: 5 }),
      trade(MIDNIGHT - DAY, { taker: '3'.repeat(32), referrer_reward: 7 }),
      trade(MIDNIGHT + 5, { taker: 'z'.repeat(32), maker: two, maker_order_direction: 'short', referrer_reward: 100 }),
      trade(MIDNIGHT + 6, { taker: one, referrer_reward: 9, action_explanation: 'transferPerpPosition' }),
    ]);
    const { snapshots } = await get<{ snapshots: unknown[] }>(
      `/authority/${address(referrer)}/snapshots/referrals?days=2`,
    );
    const point = (ts: number, users: string[], rewards: string, volume: string) => ({
      ts,
      referralCount: users.length,
      referralRewards: rewards,
      referredVolume30D: volume,
      referredUsers: users.map(address),
    });
    expect(snapshots).toEqual([
      point(MIDNIGHT - DAY, [one], '12', '225300000'),
      point(MIDNIGHT, [one, two], '12', '225300000'),
      point(NOW, [one, two], '21', '450600000'),
    ]);
    expect((await get(`/authority/${NOBODY}/snapshots/referrals`)).snapshots).toEqual([]);
  });
});
