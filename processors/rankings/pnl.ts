// P&L of perp positions as exact integers: protocol reference 4.9. Division truncates toward zero.

import type { PositionMarket, PositionState } from '../../schemas/index.ts';

/** Base amounts 1e9. */
const BASE_SCALE = 1_000_000_000n;
/** Cumulative funding is 1e9: price 1e6 times this. */
const FUNDING_BUFFER = 1_000n;
/** Scaled balance 1e9 times cumulative interest 1e10: a token amount is their product over 10^(19 - decimals). */
const BALANCE_EXPONENT = 19;
/** Share of the fee pool that may pay P&L. */
const FEE_POOL_DIVISOR = 5n;

export type Holding = Pick<
  PositionState,
  'baseAssetAmount' | 'quoteAssetAmount' | 'quoteEntryAmount' | 'lastCumulativeFundingRate'
>;

/** P&L of a position at the oracle price with the funding it has not paid yet, quote 1e6. */
export function positionPnl(held: Holding, market: PositionMarket): bigint {
  const { baseAssetAmount: base, quoteAssetAmount: quote, lastCumulativeFundingRate: last } = held;
  if (base === 0n) return quote;
  const cumulative = base > 0n ? market.cumulativeFundingRateLong : market.cumulativeFundingRateShort;
  const funding = ((cumulative - last) * base) / BASE_SCALE / FUNDING_BUFFER;
  return (base * market.oraclePrice) / BASE_SCALE + quote - funding;
}

/** What the pools hold beyond the P&L of all users, quote 1e6, never negative: gains may be claimed out of it. */
export function excessOf(market: PositionMarket): bigint {
  const netPnl =
    (market.netBaseAssetAmount * market.oraclePrice) / BASE_SCALE +
    market.netQuoteAssetAmount +
    market.netUnsettledFundingPnl;
  const pools =
    tokenAmount(market.pnlPoolScaledBalance, market) +
    tokenAmount(market.feePoolScaledBalance, market) / FEE_POOL_DIVISOR;
  return pools > netPnl ? pools - netPnl : 0n;
}

/** Quote amount above the entry, never negative: what trading has left in the position already. */
export function surplusOf({ quoteAssetAmount, quoteEntryAmount }: Holding): bigint {
  return quoteAssetAmount > quoteEntryAmount ? quoteAssetAmount - quoteEntryAmount : 0n;
}

/** Claimable P&L, quote 1e6: a loss in full, a gain as far as surplus and `excess` reach. */
export function claimablePnl(held: Holding, market: PositionMarket, excess: bigint): bigint {
  const pnl = positionPnl(held, market);
  const most = surplusOf(held) + excess;
  if (pnl < most) return pnl;
  return most;
}

function tokenAmount(scaledBalance: bigint, { quoteCumulativeDepositInterest, quoteDecimals }: PositionMarket): bigint {
  return (
    (scaledBalance * quoteCumulativeDepositInterest) / 10n ** BigInt(Math.max(0, BALANCE_EXPONENT - quoteDecimals))
  );
}
