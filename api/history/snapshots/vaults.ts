// Vault snapshots: value of a wallet's vault shares (docs/internals/history-semantics.md, "Snapshots").

import { quoteValue } from '../../../schemas/index.ts';
import {
  type OwnedShareRow,
  type SharesRow,
  type TotalsRow,
  usersSinceOpening,
  vaultShares,
  vaultTotals,
} from '../queries/vaults.ts';
import type { Grid } from './grid.ts';
import { pricesOf, type SnapshotSources, spotName, tokenScale, tradingHistories } from './load.ts';
import { CarriedForward } from './series.ts';

/**
 * A vault share at a point, from the events at or before it.
 *
 * - `totalAccountValue`, quote 1e6, truncated: `accountBalance` of the vault's User account (see `TradingSnapshot`), at least 0,
 *   times the owner's shares over all shares. Both share counts are those after the newest recorded step.
 * - `totalAccountBaseValue`, truncated: the same in units of the vault's token, at the sampled oracle price of snapshots, else
 *   at the price in the vault's newest record.
 * - The stored history of an older vault lacks its first deposits. Such a vault takes its base value from its newest record: the
 *   equity before the step plus its deposit or less its withdrawal. Its value is the base value at the same price.
 *
 * Neither value deducts the profit share and management fee accrued since the newest step.
 */
export interface VaultSnapshot {
  /** Unix seconds. */
  readonly ts: number;
  readonly vault: string;
  readonly totalAccountValue: string;
  readonly totalAccountBaseValue: string;
  readonly marketIndex: number;
}

export interface VaultHistory {
  /** VaultDepositor account; for a manager the vault. */
  readonly accountId: string;
  readonly snapshots: readonly VaultSnapshot[];
}

/** Snapshots of vault shares, each from its first record, oldest first; shares in the given order. */
export async function vaultHistories(
  sources: SnapshotSources,
  owned: readonly OwnedShareRow[],
  grid: Grid,
): Promise<readonly VaultHistory[]> {
  if (owned.length === 0) return [];
  const pinned = { ...sources, store: sources.store.pinned() };
  const vaults = [...new Set(owned.map(({ vault }) => vault))];
  const tokens = [...new Set(owned.map(({ spotMarketIndex }) => spotName(spotMarketIndex)))];
  const users = [...new Set(owned.map(({ user }) => user))];
  const [shareRows, totalRows, prices, trading, known] = await Promise.all([
    vaultShares(pinned.store, vaults, grid),
    vaultTotals(pinned.store, vaults, grid),
    pricesOf(pinned.store, tokens, grid),
    tradingHistories(pinned, users, grid),
    usersSinceOpening(pinned.store, users),
  ]);
  const size = grid.times.length;
  const shares = CarriedForward.of(shareRows, size, shareName, (row) => BigInt(row.shares));
  const totals = CarriedForward.of(totalRows, size, ({ vault }) => vault, totalsOf);
  return owned.map((share) => {
    const { accountId, vault, user, spotMarketIndex } = share;
    const equities = new Map(
      (trading.get(user)?.snapshots ?? []).map(({ ts, accountBalance }) => [ts, BigInt(accountBalance)]),
    );
    const scale = tokenScale(sources.markets, spotMarketIndex);
    const snapshots = grid.times.flatMap((ts, point): VaultSnapshot[] => {
      const total = totals.at(vault, point);
      const own = share.isManager ? (total?.manager ?? null) : shares.at(shareName(share), point);
      if (own === null || total === null) return [];
      const price = prices.at(spotName(spotMarketIndex), point) ?? total.price;
      const { value, baseValue } = known.has(user)
        ? worthOf(partOf(equities.get(ts) ?? 0n, own, total.total), price, scale)
        : tokensWorth(partOf(total.equity, own, total.total), price, scale);
      return [
        {
          ts,
          vault,
          totalAccountValue: String(value),
          totalAccountBaseValue: String(baseValue),
          marketIndex: spotMarketIndex,
        },
      ];
    });
    return { accountId, snapshots };
  });
}

const shareName = ({ vault, authority }: Pick<SharesRow, 'vault' | 'authority'>): string => `${vault}/${authority}`;

function totalsOf({ total, manager, price, equity }: TotalsRow) {
  return { total: BigInt(total), manager: BigInt(manager), price: BigInt(price), equity: BigInt(equity) };
}

interface Worth {
  /** Quote 1e6. */
  readonly value: bigint;
  /** Units of the token; `scale` units are one token. */
  readonly baseValue: bigint;
}

function worthOf(value: bigint, price: bigint, scale: bigint): Worth {
  return { value, baseValue: price > 0n ? (value * scale) / price : 0n };
}

function tokensWorth(baseValue: bigint, price: bigint, scale: bigint): Worth {
  return { value: quoteValue(baseValue, price, scale), baseValue };
}

function partOf(equity: bigint, shares: bigint, total: bigint): bigint {
  return equity <= 0n || total <= 0n ? 0n : (equity * shares) / total;
}
