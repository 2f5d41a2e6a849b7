import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HistoryContract } from '../../../test/support/api/history-contract.ts';
import { getChecked } from '../../../test/support/api/history-requests.ts';
import { deposit, keyText } from '../../../test/support/api/history-rows.ts';
import { DAY, HistoryStage, NOW } from '../../../test/support/api/history-stage.ts';

const [VAULT, VAULT_USER, MANAGER] = ['V', 'u', 'm'].map((letter) => letter.repeat(32)) as [string, string, string];
const ANNE = 'a'.repeat(32);
const [VAULT_ID, MANAGER_ID, ANNE_ID, BOB_ID] = ['V', 'm', 'a', 'b'].map(keyText) as [string, string, string, string];
/** VaultDepositor accounts. */
const [OF_ANNE, OF_BOB] = ['1', '2'].map(keyText) as [string, string];
const OPENED = NOW - 5 * DAY;
const USDT = 1_000_000n;

let stage: HistoryStage;
/** Validates every answer. */
let contract: HistoryContract;
let nextId = 1;

const event = (ts: number) => ({
  signature: String(nextId++).padStart(64, 'v'),
  event_index: 0,
  slot: String(ts - OPENED + 2 * DAY),
  tx_index: null,
  ts,
});

interface Step {
  readonly who: string;
  /** Shares before and after the step: of the actor, of all depositors, of the vault. */
  readonly own: readonly [bigint, bigint];
  readonly users: readonly [bigint, bigint];
  readonly total: readonly [bigint, bigint];
}

/** A vault record; arguments are whole shares. */
const step = (ts: number, { who, own, users, total }: Step) => ({
  ...event(ts),
  vault: VAULT,
  depositor_authority: who,
  action: 'deposit',
  spot_market_index: 0,
  vault_shares_before: String(own[0] * USDT),
  vault_shares_after: String(own[1] * USDT),
  user_vault_shares_before: String(users[0] * USDT),
  user_vault_shares_after: String(users[1] * USDT),
  total_vault_shares_before: String(total[0] * USDT),
  total_vault_shares_after: String(total[1] * USDT),
  deposit_oracle_price: '990000',
});

const vaultState = (slot: number, members: object = {}) => ({
  slot,
  vault: VAULT_ID,
  name: 'Basis One',
  manager: MANAGER_ID,
  user: keyText('u'),
  spot_market_index: 0,
  user_shares: String(400n * USDT),
  total_shares: String(2n ** 100n),
  init_ts: String(OPENED),
  redeem_period: '86400',
  max_tokens: '18446744073709551615',
  management_fee_rate: '20000',
  profit_share_rate: 200_000,
  hurdle_rate: 50_000,
  permissioned: true,
  net_deposits: '-7',
  total_deposits: '1000000000',
  total_withdraws: '1000000007',
  manager_net_deposits: '600000000',
  manager_total_deposits: '600000001',
  manager_total_withdraws: '1',
  ...members,
});

/** The vault's account has `after` USDT. */
const funds = (ts: number, amount: bigint, after: bigint) =>
  deposit({
    ts,
    user: VAULT_USER,
    user_authority: VAULT,
    amount: String(amount * USDT),
    deposit_record_id: String(nextId++),
    user_token_amount_after: String(after * USDT),
    market_cumulative_deposit_interest: '10000000000',
    market_cumulative_borrow_interest: '10000000000',
  });

beforeAll(async () => {
  stage = await HistoryStage.open();
  contract = await HistoryContract.of(stage.app);
  await stage.store('vault_state', [vaultState(9, { name: 'old', total_shares: '1' }), vaultState(10)]);
  await stage.store('vault_depositor_state', [
    { slot: 10, depositor: OF_ANNE, vault: VAULT_ID, authority: ANNE_ID },
    { slot: 10, depositor: OF_BOB, vault: VAULT_ID, authority: BOB_ID },
  ]);
  await stage.store('new_user', [
    { ...event(OPENED - DAY), user_authority: ANNE, user: 't'.repeat(32), sub_account_id: 0, name: 'Anne' },
    { ...event(OPENED), user_authority: VAULT, user: VAULT_USER, sub_account_id: 0, name: 'vault' },
  ]);
  await stage.store('deposit', [
    funds(OPENED, 600n, 600n),
    funds(NOW - 4 * DAY + 1, 400n, 1_000n),
    funds(NOW - 2 * DAY + 1, 100n, 1_100n),
  ]);
  const steps = [
    step(OPENED, { who: MANAGER, own: [0n, 600n], users: [0n, 0n], total: [0n, 600n] }),
    step(NOW - 4 * DAY + 1, { who: ANNE, own: [0n, 400n], users: [0n, 400n], total: [600n, 1_000n] }),
    // In one slot, stored out of order: deposit 500, withdraw half of it, then withdraw the rest.
    ...(
      [
        { own: [650n, 400n], users: [650n, 400n], total: [1_250n, 1_000n] },
        { own: [400n, 900n], users: [400n, 900n], total: [1_000n, 1_500n] },
        { own: [900n, 650n], users: [900n, 650n], total: [1_500n, 1_250n] },
        // A withdrawal request in the next slot.
      ] as const
    ).map((moves) => step(NOW - 3 * DAY, { who: ANNE, ...moves })),
    step(NOW - 2 * DAY - 1, { who: ANNE, own: [400n, 400n], users: [400n, 400n], total: [1_000n, 1_000n] }),
    // In one slot a deposit of 100 and a withdrawal of 50; the withdrawal sorts first.
    ...(
      [
        { own: [500n, 450n], users: [500n, 450n], total: [1_100n, 1_050n] },
        { own: [400n, 500n], users: [400n, 500n], total: [1_000n, 1_100n] },
      ] as const
    ).map((moves) => step(NOW - 2 * DAY, { who: ANNE, ...moves })),
    step(NOW - 2 * DAY + 1, { who: ANNE, own: [450n, 400n], users: [450n, 400n], total: [1_050n, 1_000n] }),
  ];
  // A copy changes nothing.
  await stage.store('vault_depositor', [...steps, ...steps.slice(1)]);
  await stage.store('share_transfer', [
    {
      ...event(NOW - DAY),
      vault: VAULT,
      from_vault_depositor: '1'.repeat(32),
      to_vault_depositor: '2'.repeat(32),
      from_depositor_shares_before: String(400n * USDT),
      from_depositor_shares_after: String(300n * USDT),
      to_depositor_shares_after: String(100n * USDT),
    },
  ]);
  await stage.store('market_sample', [
    { market_type: 'spot', market_index: 0, slot: 1, ts: NOW - 2 * DAY, oracle_price: '500000' },
  ]);
});

afterAll(() => stage?.close());

const get = <T>(url: string) => getChecked<T>(stage.app, contract, url);

interface Point {
  readonly ts: number;
  readonly vault: string;
  readonly totalAccountValue: string;
  readonly totalAccountBaseValue: string;
  readonly marketIndex: number;
}
interface Account {
  readonly accountId: string;
  readonly snapshots: readonly Point[];
}

const valueAt = (points: readonly Point[], ts: number) => points.findLast((point) => point.ts <= ts)?.totalAccountValue;

describe('/stats/vaults', () => {
  it('shows the newest state of each vault', async () => {
    expect(await get('/stats/vaults')).toEqual({
      success: true,
      vaults: [
        {
          totalDeposits: '1000000000',
          totalWithdraws: '1000000007',
          managerNetDeposits: '600000000',
          managerTotalDeposits: '600000001',
          managerTotalWithdraws: '1',
          netDeposits: '-7',
          totalShares: String(2n ** 100n),
          userShares: '400000000',
          profitShare: 200_000,
          managementFee: '20000',
          hurdleRate: 50_000,
          spotMarketIndex: 0,
          permissioned: true,
          maxTokens: '18446744073709551615',
          redeemPeriod: 86_400,
          name: 'Basis One',
          vault: VAULT_ID,
          manager: MANAGER_ID,
        },
      ],
    });
  });

  it('matches /vaults when no file is configured', async () => {
    expect(await get('/vaults')).toEqual([
      expect.objectContaining({ vault: VAULT_ID, name: 'Basis One', user: keyText('u'), redeemPeriod: 86_400 }),
    ]);
  });
});

describe('vault snapshots', () => {
  it('are the owner’s share of the vault account’s value, from the first record', async () => {
    const { accounts } = await get<{ accounts: Account[] }>(`/authority/${ANNE_ID}/snapshots/vaults?days=7`);
    expect(accounts.map(({ accountId }) => accountId)).toEqual([OF_ANNE]);
    const points = accounts[0]?.snapshots ?? [];
    expect(points[0]?.ts).toBeGreaterThan(NOW - 4 * DAY);
    expect(new Set(points.map(({ vault, marketIndex }) => `${vault} ${marketIndex}`))).toEqual(
      new Set([`${VAULT_ID} 0`]),
    );
    // Before the first sample (0.5), the account uses the deposit record's price 1, and the token the vault record's 0.99.
    expect(points[0]).toMatchObject({
      totalAccountValue: '400000000',
      totalAccountBaseValue: String((400n * USDT * USDT) / 990_000n),
    });
    expect(points.at(-1)).toEqual({
      ts: NOW,
      vault: VAULT_ID,
      // 300 of 1,000 shares of 1,100 USDT at 0.5.
      totalAccountValue: '165000000',
      totalAccountBaseValue: '330000000',
      marketIndex: 0,
    });
    expect(valueAt(points, NOW - DAY)).toBe('220000000');
  });

  it('find the final state of a slot for any stored order of its steps', async () => {
    const { accounts } = await get<{ accounts: Account[] }>(`/authority/${ANNE_ID}/snapshots/vaults?days=3`);
    const midnight = Math.floor((NOW - 2 * DAY) / DAY) * DAY;
    // 400 of 1,000 shares of 1,000 USDT: the movements of the one slot cancel out.
    expect(valueAt(accounts[0]?.snapshots ?? [], midnight)).toBe('400000000');
  });

  it('give the manager the remaining shares, under the key of the vault', async () => {
    const { accounts } = await get<{ accounts: Account[] }>(`/authority/${MANAGER_ID}/snapshots/vaults`);
    expect(accounts.map(({ accountId }) => accountId)).toEqual([VAULT_ID]);
    const points = accounts[0]?.snapshots ?? [];
    expect(points.map(({ totalAccountValue }) => totalAccountValue)).toContain('600000000');
    expect(points.at(-1)?.totalAccountValue).toBe('330000000');
  });

  it('follow transferred shares', async () => {
    const { accounts } = await get<{ accounts: Account[] }>(`/authority/${BOB_ID}/snapshots/vaults`);
    expect(accounts.map(({ snapshots }) => snapshots.map((point) => point.totalAccountValue))).toEqual([
      expect.arrayContaining(['55000000']),
    ]);
    expect(accounts[0]?.snapshots[0]?.ts).toBeGreaterThanOrEqual(NOW - DAY);
  });

  it('are equal by depositor account, by an account of the wallet, and in the overview', async () => {
    const { accounts } = await get<{ accounts: Account[] }>(`/authority/${ANNE_ID}/snapshots/vaults?days=1`);
    const [{ snapshots }] = accounts as [Account];
    expect(snapshots.length).toBeGreaterThanOrEqual(24);
    for (const id of [OF_ANNE, keyText('t')]) {
      expect(await get(`/user/${id}/snapshots/vaults?days=1`)).toEqual({ success: true, snapshots });
    }
    const overview = await get<{ products: { vaults: Account[] } }>(`/authority/${ANNE_ID}/snapshots/overview?days=1`);
    expect(overview.products.vaults).toEqual(accounts);
    expect(await get(`/user/${OF_BOB}/snapshots/vaults?days=1`)).not.toEqual({ success: true, snapshots });
  });

  it('use the newest record for a vault that is older than the stored history', async () => {
    const [old, carol] = ['W', 'c'].map(keyText) as [string, string];
    const shares = { who: 'c'.repeat(32), own: [0n, 250n], users: [0n, 250n], total: [750n, 1_000n] } as const;
    const members = { vault: 'W'.repeat(32), vault_equity_before: String(1_500n * USDT), amount: String(500n * USDT) };
    await stage.store('vault_state', [vaultState(10, { vault: old, user: keyText('x'), manager: keyText('y') })]);
    await stage.store('vault_depositor_state', [{ slot: 10, depositor: keyText('3'), vault: old, authority: carol }]);
    await stage.store('vault_depositor', [{ ...step(NOW - 4 * DAY, shares), ...members }]);
    const { snapshots } = await get<Account>(`/user/${keyText('3')}/snapshots/vaults?days=7`);
    // A quarter of 2,000 tokens, at 0.99 of the record, then at the sampled 0.5.
    expect(snapshots[0]).toMatchObject({ totalAccountBaseValue: '500000000', totalAccountValue: '495000000' });
    expect(snapshots.at(-1)).toMatchObject({
      ts: NOW,
      totalAccountBaseValue: '500000000',
      totalAccountValue: '250000000',
    });
  });

  it('are empty without vault shares', async () => {
    const nobody = keyText('n');
    expect(await get(`/authority/${nobody}/snapshots/vaults`)).toEqual({ success: true, accounts: [] });
    expect(await get(`/user/${nobody}/snapshots/vaults`)).toEqual({ success: true, snapshots: [] });
  });
});
