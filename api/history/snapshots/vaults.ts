// Vault snapshots (history reference 3.2.1): what the parts of vaults that a wallet holds were worth.

import {
  type HoldingRow,
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
 * A holding at a point, from the events with a time at or before it.
 *
 * - `totalAccountValue`, quote 1e6: `accountBalance` of the vault's User account (see `TradingSnapshot`), at least 0, times the
 *   holder's shares over all shares of the vault, both after the newest step of each that a record tells; truncated.
 * - `totalAccountBaseValue`: the same in units of the vault's token, at the sampled oracle price that snapshots use, else at
 *   the price of the vault's newest record; truncated.
 * - A vault whose account is older than the history, so that its balance there begins at zero, is worth what its newest record
 *   says: equity before the step, with what a deposit brought or a withdrawal took. Its base value comes first then, and the
 *   value is that at the same price.
 *
 * Profit share and management fee that have run up since the newest step are not taken off.
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
  /** VaultDepositor account; of a manager the vault. */
  readonly accountId: string;
  readonly snapshots: readonly VaultSnapshot[];
}

/** Snapshots of holdings, each from its first record on, oldest first; holdings in the order given. */
export async function vaultHistories(
  sources: SnapshotSources,
  holdings: readonly HoldingRow[],
  grid: Grid,
): Promise<readonly VaultHistory[]> {
  if (holdings.length === 0) return [];
  const pinned = { ...sources, store: sources.store.pinned() };
  const vaults = [...new Set(holdings.map(({ vault }) => vault))];
  const tokens = [...new Set(holdings.map(({ spotMarketIndex }) => spotName(spotMarketIndex)))];
  const users = [...new Set(holdings.map(({ user }) => user))];
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
  return holdings.map((holding) => {
    const { accountId, vault, user, spotMarketIndex } = holding;
    const equities = new Map(
      (trading.get(user)?.snapshots ?? []).map(({ ts, accountBalance }) => [ts, BigInt(accountBalance)]),
    );
    const scale = tokenScale(sources.markets, spotMarketIndex);
    const snapshots = grid.times.flatMap((ts, point): VaultSnapshot[] => {
      const total = totals.at(vault, point);
      const own = holding.isManager ? (total?.manager ?? null) : shares.at(shareName(holding), point);
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
  /** Units of the token, `scale` to a whole one. */
  readonly baseValue: bigint;
}

function worthOf(value: bigint, price: bigint, scale: bigint): Worth {
  return { value, baseValue: price > 0n ? (value * scale) / price : 0n };
}

function tokensWorth(baseValue: bigint, price: bigint, scale: bigint): Worth {
  return { value: (baseValue * price) / scale, baseValue };
}

function partOf(equity: bigint, shares: bigint, total: bigint): bigint {
  return equity <= 0n || total <= 0n ? 0n : (equity * shares) / total;
}
