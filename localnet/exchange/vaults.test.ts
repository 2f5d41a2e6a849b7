import { describe, expect, it } from 'vitest';
import { brokenRules } from '../../test/support/localnet/invariants.ts';
import { readAccount } from '../../test/support/localnet/test-reader.ts';
import type { TruthEvent } from '../ledger-types.ts';
import { createExchange } from './index.ts';
import { VAULT_PROGRAM } from './keys.ts';
import { USER_VAULT_OWNED } from './model.ts';
import { vaultEquity } from './vault-program.ts';
import type { World } from './world.ts';

const GENESIS_TIME = 1_760_000_000;
const PARTS_SCALE = 1_000_000n;

const big = (value: unknown): bigint => BigInt(String(value));

/** A run with its events, in the order of the chain. */
function runOf(slots: number, options: object = {}) {
  const exchange = createExchange({ seed: 5, genesisTime: GENESIS_TIME, keepEvents: true, ...options });
  for (let made = 0; made < slots; made++) exchange.nextBlock();
  const events = exchange.events(0, Number.MAX_SAFE_INTEGER);
  return { exchange, events, world: exchange.snapshot() as World };
}

const ofVault = (events: readonly TruthEvent[], vault: string) =>
  events.filter(({ name, data }) => name === 'VaultDepositorRecord' && data.vault === vault);

describe('vaults of the simulated exchange', () => {
  const { exchange, events, world } = runOf(420);

  it('open in two tokens, each with a trading account marked VaultOwned', () => {
    const vaults = exchange.vaults();
    expect(vaults.map(({ name, spotMarketIndex }) => `${name} ${spotMarketIndex}`)).toEqual([
      'Basis One 0',
      'Sol Carry 1',
    ]);
    for (const { vault, user } of vaults) {
      const account = exchange.genesis().find(({ pubkey }) => pubkey === user);
      const { data } = readAccount(account ?? { pubkey: '', owner: '', lamports: 0, data: new Uint8Array() });
      expect(data.authority).toBe(vault);
      expect(Number(data.status) & USER_VAULT_OWNED).toBe(USER_VAULT_OWNED);
      const opened = events.find(({ name, data }) => name === 'NewUserRecord' && data.user === user);
      expect(opened?.data.user_authority).toBe(vault);
      const fills = events.filter(
        ({ name, data }) =>
          name === 'OrderActionRecord' && data.action === 'fill' && (data.taker === user || data.maker === user),
      );
      expect(fills.length).toBeGreaterThan(5);
    }
  });

  it('contain every step of depositors and managers', () => {
    for (const { vault, manager } of exchange.vaults()) {
      const steps = ofVault(events, vault).map(
        ({ data }) => `${data.depositor_authority === manager ? 'manager' : 'depositor'} ${data.action}`,
      );
      expect([...new Set(steps)]).toEqual(
        expect.arrayContaining([
          'manager deposit',
          'depositor deposit',
          'depositor withdrawRequest',
          'depositor withdraw',
        ]),
      );
    }
  });

  it('begin each step with the shares of the previous one', () => {
    for (const { vault, totalShares, userShares } of exchange.vaults()) {
      let [total, user] = [0n, 0n];
      for (const { data } of ofVault(events, vault)) {
        expect([big(data.total_vault_shares_before), big(data.user_vault_shares_before)]).toEqual([total, user]);
        [total, user] = [big(data.total_vault_shares_after), big(data.user_vault_shares_after)];
      }
      expect([String(total), String(user)]).toEqual([totalShares, userShares]);
    }
  });

  it('issue shares at their value, and pay at most the requested value after the redeem period', () => {
    for (const { vault, redeemPeriod } of exchange.vaults()) {
      const requests = new Map<unknown, { value: bigint; ts: bigint }>();
      for (const { data } of ofVault(events, vault)) {
        const [amount, equity] = [big(data.amount), big(data.vault_equity_before)];
        const total = big(data.total_vault_shares_after);
        if (data.action === 'deposit' && equity > 0n) {
          const worth = (amount * total) / (equity + amount);
          const got = total - big(data.total_vault_shares_before) - big(data.management_fee_shares);
          expect(got - worth >= -1n && got - worth <= 1n).toBe(true);
        }
        const key = data.depositor_authority;
        if (data.action === 'withdrawRequest') requests.set(key, { value: amount, ts: big(data.ts) });
        if (data.action === 'cancelWithdrawRequest') requests.delete(key);
        if (data.action !== 'withdraw') continue;
        const asked = requests.get(key);
        expect(asked && amount <= asked.value && big(data.ts) >= asked.ts + BigInt(redeemPeriod)).toBe(true);
        requests.delete(key);
      }
    }
  });

  it('move their tokens through the exchange, in the same transaction', () => {
    for (const { vault, user, spotMarketIndex } of exchange.vaults()) {
      for (const { signature, data } of ofVault(events, vault)) {
        const moved = events.filter((event) => event.name === 'DepositRecord' && event.signature === signature);
        if (data.action !== 'deposit' && data.action !== 'withdraw') expect(moved).toEqual([]);
        else {
          const { action: direction, amount } = data;
          expect(moved.map((event) => event.data)).toMatchObject([
            { user, direction, amount, market_index: spotMarketIndex },
          ]);
        }
      }
    }
  });

  it('gain and lose with their trades, and have accounts owned by the vault program', () => {
    const moves = world.vaults.map((book) => {
      const { total_shares: shares } = book.vault.account;
      return (vaultEquity(world, book) * PARTS_SCALE) / shares;
    });
    for (const price of moves) expect(price > 0n && price !== PARTS_SCALE).toBe(true);
    const owned = exchange.genesis().filter(({ owner }) => owner === VAULT_PROGRAM);
    const expected = exchange
      .vaults()
      .flatMap(({ vault, depositors }) => [vault, ...depositors.map(({ depositor }) => depositor)]);
    expect(owned.map(({ pubkey }) => pubkey).sort()).toEqual(expected.sort());
  });

  it('stay consistent on a fast clock with rare events, and charge fees and profit shares', () => {
    const fast = runOf(500, { slotMs: 1_780_000, slotBurst: 24, rarities: true, announce: true });
    expect(brokenRules(fast.world)).toEqual([]);
    const steps = fast.events.filter(({ name }) => name === 'VaultDepositorRecord');
    expect(steps.some(({ data }) => big(data.management_fee) > 0n && big(data.management_fee_shares) > 0n)).toBe(true);
    expect(steps.some(({ data }) => big(data.profit_share) > 0n)).toBe(true);
    expect(fast.events.some(({ name }) => name === 'ShareTransferRecord')).toBe(true);
  });
});
