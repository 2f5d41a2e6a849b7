// A naive ranking for comparison (docs/internals/accounts.md, "Positions and P&L"): every user, exact numbers, one sort. Its users are
// messages, in any order; test/e2e/harness/naive/ranking.ts reads the accounts of a cluster.

import type { PositionMarket, PositionState } from '../../../../schemas/index.ts';

export interface NaiveEntry {
  readonly user: string;
  readonly pnl: bigint;
}

export function naiveRanking(positions: Iterable<PositionState>, market: PositionMarket) {
  const users: NaiveEntry[] = [];
  for (const held of positions) {
    const pnl = naiveClaim(held, market);
    if (pnl !== 0n) users.push({ user: Buffer.from(held.user).toString('hex'), pnl });
  }
  users.sort((a, b) => compare(b.pnl, a.pnl) || compare(a.user, b.user));
  return { gainers: users.slice(0, 20), losers: users.slice(-20).reverse() };
}

function naiveClaim(held: PositionState, market: PositionMarket): bigint {
  const { baseAssetAmount: base, quoteAssetAmount: quote, quoteEntryAmount: entry } = held;
  const rate = base > 0n ? market.cumulativeFundingRateLong : market.cumulativeFundingRateShort;
  const owed = base === 0n ? 0n : -(((rate - held.lastCumulativeFundingRate) * base) / 10n ** 9n / 1000n);
  const pnl = (base * market.oraclePrice) / 10n ** 9n + quote + owed;
  if (pnl <= 0n) return pnl;
  const netUsers =
    (market.netBaseAssetAmount * market.oraclePrice) / 10n ** 9n +
    market.netQuoteAssetAmount +
    market.netUnsettledFundingPnl;
  const tokens = (scaled: bigint) =>
    (scaled * market.quoteCumulativeDepositInterest) / 10n ** BigInt(19 - market.quoteDecimals);
  const imbalance = netUsers - (tokens(market.pnlPoolScaledBalance) + tokens(market.feePoolScaledBalance) / 5n);
  const limit = (quote > entry ? quote - entry : 0n) + (imbalance < 0n ? -imbalance : 0n);
  return pnl < limit ? pnl : limit;
}

function compare<T>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
