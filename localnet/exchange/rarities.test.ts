import { beforeAll, describe, expect, it } from 'vitest';
import { brokenRules } from '../../test/support/localnet/invariants.ts';
import type { Exchange, TruthEvent } from '../ledger-types.ts';
import { createExchange } from './index.ts';
import type { ExchangeOptions, World } from './world.ts';

const MONTH: ExchangeOptions = {
  seed: 11,
  genesisTime: 1_790_000_000,
  slotMs: 1_780_000,
  slotBurst: 24,
  activity: 0.6,
  accounts: 50,
  ordersPerMarket: 24,
  keepEvents: true,
  rarities: true,
  announce: true,
};
const SLOTS = 900;
const NO_REFERRER = '11111111111111111111111111111111';

describe('weeks of exchange life on a fast clock', () => {
  let exchange: Exchange;
  let events: readonly TruthEvent[];
  const broken: string[] = [];
  const times: number[] = [];
  beforeAll(() => {
    exchange = createExchange(MONTH);
    for (let slot = 1; slot <= SLOTS; slot++) {
      times.push(exchange.nextBlock().blockTime);
      if (slot % 300 === 0) broken.push(...brokenRules(exchange.snapshot() as World));
    }
    events = exchange.events(0, 1_000_000);
  });

  const kindsOf = (name: string, field: string): Set<unknown> =>
    new Set(events.filter((event) => event.name === name).map(({ data }) => data[field]));

  it('keep the invariants of the exchange', () => {
    expect(broken).toEqual([]);
    expect([...times].sort((a, b) => a - b)).toEqual(times);
  });

  it('give every record the time of its block', () => {
    const late = events.filter(({ slot, data }) => data.ts !== undefined && Number(data.ts) !== times[slot - 1001]);
    expect(late.map(({ name }) => name)).toEqual([]);
  });

  it('keep prices near where they began', () => {
    for (const { account, anchor } of (exchange.snapshot() as World).oracles.values()) {
      expect(Math.abs(Number(account.price) / anchor - 1)).toBeLessThan(0.2);
    }
  });

  it('contain all six kinds of liquidation, with insurance payments and shared losses', () => {
    expect([...kindsOf('LiquidationRecord', 'liquidation_type')].sort()).toEqual([
      'liquidateBorrowForPerpPnl',
      'liquidatePerp',
      'liquidatePerpPnlForDeposit',
      'liquidateSpot',
      'perpBankruptcy',
      'spotBankruptcy',
    ]);
    const perp = events.flatMap(({ name, data }) =>
      name === 'LiquidationRecord' && data.liquidation_type === 'perpBankruptcy'
        ? [data.perp_bankruptcy as { pnl: string; if_payment: string }]
        : [],
    );
    expect(perp.some(({ if_payment: paid }) => BigInt(paid) > 0n)).toBe(true);
    expect(perp.some(({ if_payment: paid, pnl }) => BigInt(paid) < -BigInt(pnl))).toBe(true);
  });

  it('contain fills of every kind', () => {
    expect([...kindsOf('OrderActionRecord', 'action_explanation')]).toEqual(
      expect.arrayContaining([
        'orderFilledWithAmm',
        'orderFilledWithAmmJit',
        'orderFilledWithMatch',
        'orderFilledWithMatchJit',
        'transferPerpPosition',
        'liquidation',
        'orderExpired',
      ]),
    );
  });

  it('contain every step of a stake, and vault payments both ways', () => {
    expect([...kindsOf('InsuranceFundStakeRecord', 'action')]).toEqual(
      expect.arrayContaining(['stake', 'unstakeRequest', 'unstakeCancelRequest', 'unstake', 'stakeTransfer']),
    );
    const amounts = [...kindsOf('InsuranceFundRecord', 'amount')].map((amount) => BigInt(amount as string));
    expect([amounts.some((amount) => amount > 0n), amounts.some((amount) => amount < 0n)]).toEqual([true, true]);
  });

  it('contain deposits of every explanation, and transfers as matching pairs', () => {
    expect([...kindsOf('DepositRecord', 'explanation')].sort()).toEqual([
      'borrow',
      'none',
      'repayBorrow',
      'reward',
      'transfer',
    ]);
    const transfers = events.filter(({ name, data }) => name === 'DepositRecord' && data.explanation === 'transfer');
    for (const { signature, data } of transfers) {
      const other = transfers.find((row) => row.signature === signature && row.data.user === data.transfer_user);
      expect(other?.data.transfer_user).toBe(data.user);
    }
  });

  it('record every account, some with a referrer, some closed', () => {
    const opened = kindsOf('NewUserRecord', 'user');
    for (const { name, data } of events) if (name === 'DepositRecord') expect(opened.has(data.user)).toBe(true);
    expect(kindsOf('NewUserRecord', 'referrer').size).toBeGreaterThan(2);
    expect(kindsOf('NewUserRecord', 'referrer').has(NO_REFERRER)).toBe(true);
    expect(kindsOf('DeleteUserRecord', 'user').size).toBeGreaterThan(0);
    expect(kindsOf('RevenueShareSettleRecord', 'referrer').size).toBeGreaterThan(1);
  });

  it('contain trades of one wallet with itself', () => {
    const walletOf = new Map(
      events.flatMap(({ name, data }) => (name === 'NewUserRecord' ? [[data.user, data.user_authority]] : [])),
    );
    const own = events.filter(
      ({ name, data }) =>
        name === 'OrderActionRecord' &&
        data.action === 'fill' &&
        data.action_explanation !== 'transferPerpPosition' &&
        data.maker !== null &&
        walletOf.get(data.maker) === walletOf.get(data.taker),
    );
    expect(own.length).toBeGreaterThan(0);
  });

  it('fund hourly with both signs, unless an hour has no slots', () => {
    const rates = events.filter(({ name }) => name === 'FundingRateRecord');
    const signs = new Set(rates.map(({ data }) => BigInt(data.funding_rate as string) < 0n));
    expect(signs.size).toBe(2);
    const hours = ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 3_600;
    expect(rates.length / 4).toBeGreaterThan(hours * 0.6);
    expect(rates.length / 4).toBeLessThanOrEqual(hours + 1);
  });
});
