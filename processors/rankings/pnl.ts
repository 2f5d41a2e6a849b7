// P&L of perp positions as exact integers (docs/internals/accounts.md, "Positions and P&L"). Division truncates toward zero.

import { BASE_PRECISION, type PositionMarket, type PositionState } from '../../schemas/index.ts';

/** Cumulative funding has 9 decimals, prices have 6. */
const FUNDING_BUFFER = 1_000n;
/** Scaled balance 1e9 times cumulative interest 1e10, over 10^(19 - decimals), is a token amount. */
const BALANCE_EXPONENT = 19;
/** Share of the fee pool that may pay P&L. */
const FEE_POOL_DIVISOR = 5n;

export type PnlPosition = Pick<
  PositionState,
  'baseAssetAmount' | 'quoteAssetAmount' | 'quoteEntryAmount' | 'lastCumulativeFundingRate'
>;

/** P&L of a position at the oracle price, with the funding it has not paid yet; quote 1e6. */
function positionPnl(held: PnlPosition, market: PositionMarket): bigint {
  const { baseAssetAmount: base, quoteAssetAmount: quote, lastCumulativeFundingRate: last } = held;
  if (base === 0n) return quote;
  const cumulative = base > 0n ? market.cumulativeFundingRateLong : market.cumulativeFundingRateShort;
  const funding = ((cumulative - last) * base) / BASE_PRECISION / FUNDING_BUFFER;
  return (base * market.oraclePrice) / BASE_PRECISION + quote - funding;
}

/** Balance of the pools above the P&L of all users, quote 1e6, never negative. It limits claims of gains. */
export function excessOf(market: PositionMarket): bigint {
  const netPnl =
    (market.netBaseAssetAmount * market.oraclePrice) / BASE_PRECISION +
    market.netQuoteAssetAmount +
    market.netUnsettledFundingPnl;
  const pools =
    tokenAmount(market.pnlPoolScaledBalance, market) +
    tokenAmount(market.feePoolScaledBalance, market) / FEE_POOL_DIVISOR;
  return pools > netPnl ? pools - netPnl : 0n;
}

/** Quote amount above the entry, never negative: realised gains that are still in the position. */
export function surplusOf({ quoteAssetAmount, quoteEntryAmount }: PnlPosition): bigint {
  return quoteAssetAmount > quoteEntryAmount ? quoteAssetAmount - quoteEntryAmount : 0n;
}

/** Claimable P&L, quote 1e6: a loss in full, a gain up to surplus and `excess`. */
export function claimablePnl(held: PnlPosition, market: PositionMarket, excess: bigint): bigint {
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
