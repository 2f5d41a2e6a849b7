// Vaults of the month and the values of their shares, from the chain's own books and events.

import type { TruthVault } from '../../../../localnet/index.ts';
import { times } from '../../../support/platform/times.ts';
import { compared, type StatsCheck } from './answers.ts';
import { TOKEN_SCALES } from './ledger.ts';
import { getJson } from './paging.ts';
import { big, type MonthTruth } from './truth.ts';

const DEPOSITORS_OF_EACH = times(1, 3);

/** Prices and values behind the shares of vaults. */
export interface VaultPricing {
  /** Sampled price at a time, as snapshots that begin at `first` know it. */
  price(market: string, ts: number, first: number): bigint | null;
  /** Value of an account at each point, quote 1e6. */
  worths(user: string, points: readonly number[]): ReadonlyMap<number, bigint>;
}

interface Holding {
  readonly accountId: string;
  readonly vault: TruthVault;
  /** VaultDepositor account; null for the manager. */
  readonly depositor: { readonly key: string; readonly authority: string } | null;
}

/** The expected /stats/vaults of these vaults. */
export function vaultStatsOf(vaults: readonly TruthVault[]): readonly object[] {
  return vaults.map((vault) => ({
    totalDeposits: vault.totalDeposits,
    totalWithdraws: vault.totalWithdraws,
    managerNetDeposits: vault.managerNetDeposits,
    managerTotalDeposits: vault.managerTotalDeposits,
    managerTotalWithdraws: vault.managerTotalWithdraws,
    netDeposits: vault.netDeposits,
    totalShares: vault.totalShares,
    userShares: vault.userShares,
    profitShare: vault.profitShare,
    managementFee: vault.managementFee,
    hurdleRate: vault.hurdleRate,
    spotMarketIndex: vault.spotMarketIndex,
    permissioned: vault.permissioned,
    maxTokens: vault.maxTokens,
    redeemPeriod: vault.redeemPeriod,
    name: vault.name,
    vault: vault.vault,
    manager: vault.manager,
  }));
}

export function vaultStatsCheck(truth: MonthTruth): StatsCheck {
  const vaults = vaultStatsOf(truth.vaults);
  return {
    endpoint: '/stats/vaults',
    run: async (base) => compared({ success: true, vaults }, await getJson(`${base}/stats/vaults`), 1),
  };
}

/** Wallets with shares of a vault: managers, the ones with most vaults, and some others. */
export function vaultWallets(truth: MonthTruth): readonly string[] {
  const managers = truth.vaults.map(({ manager }) => manager);
  const depositors = truth.vaults.flatMap((vault) => vault.depositors.map(({ authority }) => authority));
  const often = depositors.filter((wallet, index) => depositors.indexOf(wallet) !== index);
  return [...new Set([...often.slice(0, 2), ...managers, ...depositors.slice(0, 2)])];
}

/** Accounts of the vault program: some depositors of each vault, and the vaults themselves. */
export function vaultAccounts(truth: MonthTruth): readonly string[] {
  return truth.vaults.flatMap(({ vault, depositors }) => [
    ...depositors.slice(0, DEPOSITORS_OF_EACH).map(({ depositor }) => depositor),
    vault,
  ]);
}

export class VaultBooks {
  readonly #truth: MonthTruth;
  readonly #pricing: VaultPricing;

  constructor(truth: MonthTruth, pricing: VaultPricing) {
    this.#truth = truth;
    this.#pricing = pricing;
  }

  /** Of one key in /user/...: a depositor account, a vault (its manager's part), or an account of a wallet. */
  ofAccount(key: string, points: readonly number[]) {
    const wallet = this.#truth.walletOf(key);
    const own = this.#holdings().filter(
      ({ accountId, vault, depositor }) => accountId === key || (depositor?.authority ?? vault.manager) === wallet,
    );
    return own.flatMap((holding) => this.#snapshots(holding, points)).sort((a, b) => a.ts - b.ts);
  }

  ofWallet(wallet: string, points: readonly number[]) {
    const own = this.#holdings().filter(({ vault, depositor }) => (depositor?.authority ?? vault.manager) === wallet);
    return own.map((holding) => ({ accountId: holding.accountId, snapshots: this.#snapshots(holding, points) }));
  }

  #holdings(): readonly Holding[] {
    const all = this.#truth.vaults.flatMap((vault): Holding[] => [
      { accountId: vault.vault, vault, depositor: null },
      ...vault.depositors.map(({ depositor: key, authority }) => {
        return { accountId: key, vault, depositor: { key, authority } };
      }),
    ]);
    return all.sort((a, b) => (a.accountId < b.accountId ? -1 : 1));
  }

  #snapshots({ vault, depositor }: Holding, points: readonly number[]) {
    const worths = this.#pricing.worths(vault.user, points);
    const { vault: key, spotMarketIndex: index } = vault;
    return points.flatMap((ts) => {
      const steps = this.#truth.of('VaultDepositorRecord', (data) => data.vault === key && Number(data.ts) <= ts);
      const newest = steps.at(-1)?.data;
      if (!newest) return [];
      const total = big(newest.total_vault_shares_after);
      const own = depositor ? this.#sharesOf(key, depositor, ts) : total - big(newest.user_vault_shares_after);
      if (own === null) return [];
      const worth = worths.get(ts) ?? 0n;
      const value = worth > 0n && total > 0n ? (worth * own) / total : 0n;
      const price = this.#pricing.price(`spot-${index}`, ts, points[0] ?? 0) ?? big(newest.deposit_oracle_price);
      return [
        {
          ts,
          vault: key,
          totalAccountValue: String(value),
          totalAccountBaseValue: String((value * (TOKEN_SCALES[index] ?? 1n)) / price),
          marketIndex: index,
        },
      ];
    });
  }

  /** Shares of a depositor after its newest step or hand-over, by the order of the chain. */
  #sharesOf(vault: string, { key, authority }: { key: string; authority: string }, ts: number): bigint | null {
    const steps = this.#truth.of(
      'VaultDepositorRecord',
      (data) => data.vault === vault && data.depositor_authority === authority && Number(data.ts) <= ts,
    );
    const moves = this.#truth.of(
      'ShareTransferRecord',
      (data) => (data.from_vault_depositor === key || data.to_vault_depositor === key) && Number(data.ts) <= ts,
    );
    const newest = [...steps, ...moves].sort((a, b) => a.order - b.order).at(-1);
    if (!newest) return null;
    if (newest.name === 'VaultDepositorRecord') return big(newest.data.vault_shares_after);
    const side = newest.data.from_vault_depositor === key ? 'from' : 'to';
    return big(newest.data[`${side}_depositor_shares_after`]);
  }
}
