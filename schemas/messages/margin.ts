// Inputs of account health, written together at each block time: changed markets, changed accounts, then the time.
// Units: see index.ts. Weights and margin ratios 1e4, IMF factors 1e6, scaled balances 1e9, cumulative interest 1e10.

import type { MarketRef } from '../chain/market.ts';

export interface MarginBalance {
  /** Spot market. */
  readonly marketIndex: number;
  readonly scaledBalance: bigint;
  readonly isBorrow: boolean;
}

export interface MarginPosition {
  /** Perp market. */
  readonly marketIndex: number;
  readonly baseAssetAmount: bigint;
  readonly quoteAssetAmount: bigint;
  readonly lastCumulativeFundingRate: bigint;
  /** Base of the open buy orders. */
  readonly openBids: bigint;
  /** Base of the open sell orders; zero or negative. */
  readonly openAsks: bigint;
  readonly openOrders: number;
  /** The position has its own collateral, and its own liquidation. */
  readonly isIsolated: boolean;
  readonly isolatedScaledBalance: bigint;
  /** The program liquidates this isolated position. */
  readonly isBeingLiquidated: boolean;
}

/** A User account as it is now. A closed account has no balances and no positions. */
export interface AccountMargin {
  readonly slot: number;
  readonly user: Uint8Array;
  readonly authority: Uint8Array;
  /** The program liquidates the account, or holds it bankrupt. */
  readonly isBeingLiquidated: boolean;
  readonly balances: readonly MarginBalance[];
  readonly positions: readonly MarginPosition[];
}

export interface PerpMargin {
  readonly marginRatioMaintenance: number;
  readonly pnlAssetWeightMaintenance: number;
  readonly cumulativeFundingRateLong: bigint;
  readonly cumulativeFundingRateShort: bigint;
  /** Spot market of P&L and of isolated collateral. */
  readonly quoteMarketIndex: number;
}

export interface SpotMargin {
  readonly assetWeightMaintenance: number;
  readonly liabilityWeightMaintenance: number;
  readonly cumulativeDepositInterest: bigint;
  readonly cumulativeBorrowInterest: bigint;
  readonly decimals: number;
}

/** A market as it is now. */
export interface MarketMargin extends MarketRef {
  readonly slot: number;
  readonly symbol: string;
  readonly status: string;
  readonly oraclePrice: bigint;
  /** Price at which a market in settlement values positions. */
  readonly expiryPrice: bigint;
  readonly imfFactor: number;
  /** Null for spot markets. */
  readonly perp: PerpMargin | null;
  /** Null for perp markets. */
  readonly spot: SpotMargin | null;
}

/** Ingest writes every account and market again. Accounts that it does not write until the next whole time are closed. */
export interface MarginBegin {
  readonly slot: number;
}

/** The records before this one hold the state at a block time. */
export interface MarginTime {
  readonly slot: number;
  /** Block time of `slot`, Unix seconds. */
  readonly ts: number;
  /** Every open account was written since the newest `MarginBegin`. */
  readonly isWhole: boolean;
}
