// Changes of perp positions, and the ranking of claimable P&L. Units: see index.ts.

import type { MarketRef } from '../chain/market.ts';

export interface PositionState extends MarketRef {
  readonly slot: number;
  readonly user: Uint8Array;
  readonly authority: Uint8Array;
  readonly baseAssetAmount: bigint;
  readonly quoteAssetAmount: bigint;
  readonly quoteEntryAmount: bigint;
  readonly quoteBreakEvenAmount: bigint;
  readonly lastCumulativeFundingRate: bigint;
  readonly openOrders: number;
}

/**
 * Market inputs of the P&L of perp positions, from one slot or later. Cumulative funding 1e9, scaled balances 1e9, cumulative
 * interest 1e10. The net amounts are the users' against the AMM, unsettled LP amounts included.
 */
export interface PositionMarket extends MarketRef {
  readonly slot: number;
  readonly oraclePrice: bigint;
  readonly cumulativeFundingRateLong: bigint;
  readonly cumulativeFundingRateShort: bigint;
  readonly netBaseAssetAmount: bigint;
  readonly netQuoteAssetAmount: bigint;
  readonly netUnsettledFundingPnl: bigint;
  readonly pnlPoolScaledBalance: bigint;
  readonly feePoolScaledBalance: bigint;
  /** Of the quote spot market, the currency of both pools. */
  readonly quoteCumulativeDepositInterest: bigint;
  readonly quoteDecimals: number;
}

export interface RankedUser {
  /** User account (not the wallet). */
  readonly user: Uint8Array;
  /** Claimable P&L, quote 1e6; never 0. */
  readonly pnl: bigint;
}

/** The largest claimable gains (best first) and losses (worst first) of a perp market, at most 20 each. */
export interface PnlRanking extends MarketRef {
  readonly slot: number;
  readonly gainers: readonly RankedUser[];
  readonly losers: readonly RankedUser[];
}
