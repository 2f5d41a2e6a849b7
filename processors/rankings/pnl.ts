// P&L of perp positions as exact integers (docs/internals/accounts.md, "Positions and P&L"). Division truncates toward zero.

import {
  BASE_PRECISION,
  type PositionMarket,
  type PositionState,
  positionPnl,
  tokenAmount,
} from '../../schemas/index.ts';

/** Share of the fee pool that may pay P&L. */
const FEE_POOL_DIVISOR = 5n;

export type PnlPosition = Pick<
  PositionState,
  'baseAssetAmount' | 'quoteAssetAmount' | 'quoteEntryAmount' | 'lastCumulativeFundingRate'
>;

/** Balance of the pools above the P&L of all users, quote 1e6, never negative. It limits claims of gains. */
export function excessOf(market: PositionMarket): bigint {
  const netPnl =
    (market.netBaseAssetAmount * market.oraclePrice) / BASE_PRECISION +
    market.netQuoteAssetAmount +
    market.netUnsettledFundingPnl;
  const { quoteCumulativeDepositInterest: interest, quoteDecimals } = market;
  const pools =
    tokenAmount(market.pnlPoolScaledBalance, interest, quoteDecimals) +
    tokenAmount(market.feePoolScaledBalance, interest, quoteDecimals) / FEE_POOL_DIVISOR;
  return pools > netPnl ? pools - netPnl : 0n;
}

/** Quote amount above the entry, never negative: realised gains that are still in the position. */
export function surplusOf({ quoteAssetAmount, quoteEntryAmount }: PnlPosition): bigint {
  return quoteAssetAmount > quoteEntryAmount ? quoteAssetAmount - quoteEntryAmount : 0n;
}

/** Claimable P&L, quote 1e6: a loss in full, a gain up to surplus and `excess`. */
export function claimablePnl(held: PnlPosition, market: PositionMarket, excess: bigint): bigint {
  const pnl = positionPnl(held, market, market.oraclePrice);
  const most = surplusOf(held) + excess;
  if (pnl < most) return pnl;
  return most;
}
