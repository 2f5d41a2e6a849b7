// Trading snapshots of one account from its sums by bucket (docs/internals/history-semantics.md, "Snapshots"). All divisions
// truncate toward zero; all amounts are quote 1e6 unless noted.

import { BASE_PRECISION, quoteValue } from '../../../schemas/index.ts';
import type { FillsRow, PerpMoneyRow } from '../queries/snapshots.ts';
import type { BalancePoint } from './balances.ts';
import { byBucket, type CarriedForward } from './series.ts';

/**
 * An account at a point, from the events at or before it.
 *
 * - `cumulativeRealizedPnl`: sum over fills that closed something. A closed long adds closed quote less existing entry, a short
 *   the opposite, both less the fee share (docs/internals/history-semantics.md, "Closed positions").
 * - `cumulativeFunding`: funding payments. `cumulativeSettledPnl`: `pnl` of settlements.
 * - `cumulativeFeePaid`, `cumulativeFeeRebate`: sums of the positive and the negative fees on the account's side of its fills.
 *   Both sums are positive.
 * - `cumulativeTakerVolume`, `cumulativeMakerVolume`: quote of its fills with liquidations, without position transfers.
 * - `unrealizedPnl`: base * oracle / 1e9 + entry, summed over its perp positions. Base is bought less sold. An opening fill
 *   subtracts its quote from the entry (long) or adds it (short). A closing fill restores the existing entry, a flip does both.
 *   Expiry removes a position as its settlement says. The oracle price is the newest sample at or before the point, at most a
 *   day older than the first point. Without one it is the price of the account's last fill there.
 * - `unsettledPnl`: sum of quote received less quote paid less fees over all fills, funding, amounts that liquidations moved,
 *   and expired positions at their settle price. Settled P&L is subtracted, and base * oracle / 1e9 of each position added.
 * - `accountBalance`: value of its tokens (`TokenBalance.worth`) plus `unsettledPnl`.
 */
export interface TradingSnapshot {
  /** Unix seconds. */
  readonly ts: number;
  readonly accountBalance: string;
  readonly unrealizedPnl: string;
  readonly cumulativeRealizedPnl: string;
  readonly unsettledPnl: string;
  readonly cumulativeSettledPnl: string;
  readonly cumulativeFunding: string;
  readonly cumulativeFeePaid: string;
  readonly cumulativeFeeRebate: string;
  readonly cumulativeTakerVolume: string;
  readonly cumulativeMakerVolume: string;
}

export interface TradingMetrics {
  readonly cumulativeMakerVolume: string;
  readonly cumulativeTakerVolume: string;
  readonly cumulativeFeePaid: string;
  readonly cumulativeFeeRebate: string;
}

export interface TradingInputs {
  readonly times: readonly number[];
  readonly fills: readonly FillsRow[];
  readonly money: readonly PerpMoneyRow[];
  /** By point. */
  readonly balances: readonly BalancePoint[];
  /** Oracle price 1e6 by `perp-0`. */
  readonly prices: CarriedForward<bigint>;
}

interface Position {
  base: bigint;
  entry: bigint;
  /** Oracle price of the last fill. */
  price: bigint;
}

class Totals {
  realized = 0n;
  funding = 0n;
  settled = 0n;
  feePaid = 0n;
  feeRebate = 0n;
  takerVolume = 0n;
  makerVolume = 0n;
  /** Quote proceeds of positions before settlement. */
  cash = 0n;
  readonly positions = new Map<number, Position>();

  position(marketIndex: number): Position {
    const position = this.positions.get(marketIndex) ?? { base: 0n, entry: 0n, price: 0n };
    this.positions.set(marketIndex, position);
    return position;
  }
}

/** Points from the account's first event, oldest first, and its totals at the last point. */
export function tradingSnapshots({ times, fills, money, balances, prices }: TradingInputs): {
  readonly snapshots: readonly TradingSnapshot[];
  readonly metrics: TradingMetrics;
} {
  const totals = new Totals();
  const [fillsBy, moneyBy] = [byBucket(fills, times.length), byBucket(money, times.length)];
  const snapshots: TradingSnapshot[] = [];
  let hasBegun = false;
  for (const [point, ts] of times.entries()) {
    const [newFills, newMoney] = [fillsBy[point] ?? [], moneyBy[point] ?? []];
    for (const row of newFills) takeFills(totals, row);
    for (const row of newMoney) takeMoney(totals, row);
    const tokens = balances[point]?.balances ?? [];
    hasBegun ||= newFills.length > 0 || newMoney.length > 0 || tokens.length > 0;
    if (!hasBegun) continue;
    const worth = tokens.reduce((sum, { balance, worth }) => sum + worth(balance), 0n);
    snapshots.push(snapshot(ts, totals, worth, (marketIndex) => prices.at(`perp-${marketIndex}`, point)));
  }
  return { snapshots, metrics: metricsOf(totals) };
}

function takeFills(totals: Totals, row: FillsRow): void {
  totals.takerVolume += BigInt(row.takerVolume);
  totals.makerVolume += BigInt(row.makerVolume);
  totals.feePaid += BigInt(row.feePaid);
  totals.feeRebate += BigInt(row.feeRebate);
  totals.realized += BigInt(row.realized);
  if (row.marketType !== 'perp') return;
  totals.cash += BigInt(row.cash);
  const position = totals.position(row.marketIndex);
  position.base += BigInt(row.base);
  position.entry += BigInt(row.entry);
  position.price = BigInt(row.oraclePrice);
}

function takeMoney(totals: Totals, row: PerpMoneyRow): void {
  totals.funding += BigInt(row.funding);
  totals.settled += BigInt(row.settled);
  totals.cash += BigInt(row.funding) - BigInt(row.settled) + BigInt(row.moved);
  if (row.expiredBase === '0' && row.expiredEntry === '0') return;
  const position = totals.position(row.marketIndex);
  position.base -= BigInt(row.expiredBase);
  position.entry -= BigInt(row.expiredEntry);
}

function snapshot(
  ts: number,
  totals: Totals,
  tokensWorth: bigint,
  priceOf: (marketIndex: number) => bigint | null,
): TradingSnapshot {
  let [entries, worth] = [0n, 0n];
  for (const [marketIndex, { base, entry, price }] of totals.positions) {
    entries += entry;
    worth += quoteValue(base, priceOf(marketIndex) ?? price, BASE_PRECISION);
  }
  const unsettledPnl = totals.cash + worth;
  return {
    ts,
    accountBalance: String(tokensWorth + unsettledPnl),
    unrealizedPnl: String(worth + entries),
    cumulativeRealizedPnl: String(totals.realized),
    unsettledPnl: String(unsettledPnl),
    cumulativeSettledPnl: String(totals.settled),
    cumulativeFunding: String(totals.funding),
    cumulativeFeePaid: String(totals.feePaid),
    cumulativeFeeRebate: String(totals.feeRebate),
    cumulativeTakerVolume: String(totals.takerVolume),
    cumulativeMakerVolume: String(totals.makerVolume),
  };
}

function metricsOf({ makerVolume, takerVolume, feePaid, feeRebate }: Totals): TradingMetrics {
  return {
    cumulativeMakerVolume: String(makerVolume),
    cumulativeTakerVolume: String(takerVolume),
    cumulativeFeePaid: String(feePaid),
    cumulativeFeeRebate: String(feeRebate),
  };
}
