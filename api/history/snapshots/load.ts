// Snapshots of accounts, computed on request: stored sums for finished days, stored events for the rest.

import type { MarketRegistry } from '../../views/registry.ts';
import { baseDecimals } from '../lists.ts';
import { cleanDays } from '../queries/account-days.ts';
import {
  fillSums,
  perpMoney,
  recordedInterest,
  sampledPrices,
  type TokenMoveRow,
  tokenMoves,
} from '../queries/snapshots.ts';
import type { HistoryStore } from '../store.ts';
import { type BalancePoint, balancePoints, type SpotMarkets } from './balances.ts';
import { type EarnSnapshot, earnSnapshots } from './earn.ts';
import type { Grid } from './grid.ts';
import { CarriedForward, grouped } from './series.ts';
import { type TradingMetrics, type TradingSnapshot, tradingSnapshots } from './trading.ts';

export interface TradingHistory {
  readonly snapshots: readonly TradingSnapshot[];
  readonly metrics: TradingMetrics;
}

export interface EarnHistory {
  readonly snapshots: readonly EarnSnapshot[];
  /** True when a balance starts at an unknown amount. */
  readonly flagged: boolean;
}

export interface SnapshotSources {
  readonly store: HistoryStore;
  readonly markets: MarketRegistry;
}

/** Scale of an unknown token. */
const UNKNOWN_SCALE = 1_000_000n;

/** Trading snapshots of the given accounts. */
export async function tradingHistories(
  sources: SnapshotSources,
  users: readonly string[],
  grid: Grid,
): Promise<ReadonlyMap<string, TradingHistory>> {
  if (users.length === 0) return new Map();
  const store = sources.store.pinned();
  const clean = await cleanDays(store);
  const [fills, money, tokens] = await Promise.all([
    fillSums(store, users, grid, clean),
    perpMoney(store, users, grid, clean),
    balancesByUser({ ...sources, store }, users, grid),
  ]);
  const traded = new Set(
    fills.filter(({ marketType }) => marketType === 'perp').map((row) => `perp-${row.marketIndex}`),
  );
  const prices = await pricesOf(store, [...traded], grid);
  const [fillsBy, moneyBy] = [grouped(fills, ({ user }) => user), grouped(money, ({ user }) => user)];
  return new Map(
    users.map((user) => [
      user,
      tradingSnapshots({
        times: grid.times,
        fills: fillsBy.get(user) ?? [],
        money: moneyBy.get(user) ?? [],
        balances: tokens.get(user) ?? [],
        prices,
      }),
    ]),
  );
}

/** Earn snapshots of the given accounts. */
export async function earnHistories(
  sources: SnapshotSources,
  users: readonly string[],
  grid: Grid,
): Promise<ReadonlyMap<string, EarnHistory>> {
  if (users.length === 0) return new Map();
  const tokens = await balancesByUser(sources, users, grid);
  return new Map(
    users.map((user) => {
      const points = tokens.get(user) ?? [];
      return [user, { snapshots: earnSnapshots(grid.times, points), flagged: points.at(-1)?.isIncomplete ?? false }];
    }),
  );
}

async function balancesByUser(
  sources: SnapshotSources,
  users: readonly string[],
  grid: Grid,
): Promise<ReadonlyMap<string, readonly BalancePoint[]>> {
  const tokens = await tokensByUser(sources, users, grid);
  return new Map([...tokens].map(([user, { points }]) => [user, points]));
}

export interface TokenHistory {
  /** Every movement up to the last point, in chain order; buckets as in `gridOf`. */
  readonly moves: readonly TokenMoveRow[];
  readonly points: readonly BalancePoint[];
}

/** Token balances of the given accounts at the points of a grid, with the movements that they follow from. */
export async function tokensByUser(
  { store, markets }: SnapshotSources,
  users: readonly string[],
  grid: Grid,
): Promise<ReadonlyMap<string, TokenHistory>> {
  const moves = await tokenMoves(store, users, grid);
  const indexes = [...new Set(moves.map(({ marketIndex }) => marketIndex))];
  const [prices, interestRows] = await Promise.all([
    pricesOf(store, indexes.map(spotName), grid),
    recordedInterest(store, indexes, grid),
  ]);
  const interest = CarriedForward.of(
    interestRows,
    grid.times.length,
    ({ marketIndex }) => spotName(marketIndex),
    ({ newestSlot, depositInterest, borrowInterest }) => {
      return { slot: BigInt(newestSlot), deposit: BigInt(depositInterest), borrow: BigInt(borrowInterest) };
    },
  );
  const spot: SpotMarkets = { prices, interest, scaleOf: (marketIndex) => tokenScale(markets, marketIndex) };
  const byUser = grouped(moves, ({ user }) => user);
  return new Map(
    users.map((user) => {
      const own = byUser.get(user) ?? [];
      return [user, { moves: own, points: balancePoints(own, grid.times.length, spot) }];
    }),
  );
}

export const spotName = (marketIndex: number): string => `spot-${marketIndex}`;

/** Units of a whole token. */
export function tokenScale(markets: MarketRegistry, marketIndex: number): bigint {
  const market = markets.byKey(spotName(marketIndex));
  return market ? 10n ** BigInt(baseDecimals(market)) : UNKNOWN_SCALE;
}

/** Sampled oracle prices 1e6 of markets named like `perp-0`. */
export async function pricesOf(
  store: HistoryStore,
  names: readonly string[],
  grid: Grid,
): Promise<CarriedForward<bigint>> {
  const rows = await sampledPrices(store, names, grid);
  return CarriedForward.of(
    rows,
    grid.times.length,
    ({ market }) => market,
    ({ price }) => BigInt(price),
  );
}
