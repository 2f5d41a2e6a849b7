// What ingest says of a market for its book: orders, the market account, its oracle, slots and checks. Units: see ../messages.ts.

import type { MarketRef } from '../market.ts';

export type OrderSource = 'user' | 'clob';

export type OrderType = 'market' | 'limit' | 'triggerMarket' | 'triggerLimit' | 'oracle';

export type Direction = 'long' | 'short';

export type TriggerCondition = 'above' | 'below' | 'triggeredAbove' | 'triggeredBelow';

/** One open order as the chain holds it now: absolute, never a delta. */
export interface OrderState {
  /** User account (not the wallet). */
  readonly maker: Uint8Array;
  /** Order id given by the exchange program; unique for its maker. */
  readonly orderId: number;
  readonly orderType: OrderType;
  readonly direction: Direction;
  readonly price: bigint;
  readonly baseAssetAmount: bigint;
  readonly baseAssetAmountFilled: bigint;
  readonly triggerPrice: bigint;
  readonly triggerCondition: TriggerCondition;
  readonly oraclePriceOffset: bigint;
  readonly postOnly: boolean;
  readonly reduceOnly: boolean;
  readonly auctionDurationSlots: number;
  readonly auctionStartPrice: bigint;
  readonly auctionEndPrice: bigint;
  readonly placedSlot: number;
  /** Unix seconds, 0 = none. */
  readonly maxTs: bigint;
  readonly bitFlags: number;
  /** Base amount of the maker's perp position in this market; kept current for reduce-only orders, else 0. */
  readonly positionBaseAmount: bigint;
  /** The market-level book's own order id, which is its queue priority; null for an order in a user account. */
  readonly bookOrderId: bigint | null;
}

export interface OrderRef {
  readonly maker: Uint8Array;
  readonly orderId: number;
}

/** What one account update changed among the open orders of one market. */
export interface BookOrders extends MarketRef {
  readonly slot: number;
  readonly source: OrderSource;
  /** The account that was read: a User account, or the market-level order account. */
  readonly account: Uint8Array;
  readonly upserts: readonly OrderState[];
  readonly removals: readonly OrderRef[];
}

/** AMM state that vAMM levels are computed from. Reserves 1e9, peg and spreads 1e6. */
export interface AmmState {
  readonly baseAssetReserve: bigint;
  readonly quoteAssetReserve: bigint;
  readonly sqrtK: bigint;
  readonly pegMultiplier: bigint;
  readonly minBaseAssetReserve: bigint;
  readonly maxBaseAssetReserve: bigint;
  readonly terminalQuoteAssetReserve: bigint;
  readonly concentrationCoef: bigint;
  /** Spread reserves as the chain stored them; zero when the program never computed them. */
  readonly askBaseAssetReserve: bigint;
  readonly askQuoteAssetReserve: bigint;
  readonly bidBaseAssetReserve: bigint;
  readonly bidQuoteAssetReserve: bigint;
  readonly baseAssetAmountWithAmm: bigint;
  readonly totalFeeMinusDistributions: bigint;
  /** Fees that the exchange took in this market; null in messages written before it was part of them. Quote, 1e6. */
  readonly totalExchangeFee: bigint | null;
  readonly netRevenueSinceLastFunding: bigint;
  readonly baseSpread: number;
  readonly maxSpread: number;
  readonly longSpread: number;
  readonly shortSpread: number;
  readonly referencePriceOffset: number;
  readonly curveUpdateIntensity: number;
  readonly ammSpreadAdjustment: number;
  readonly ammInventorySpreadAdjustment: number;
  readonly lastUpdateSlot: bigint;
}

/**
 * What the spreads and the reference offset of an AMM follow from beside its curve (protocol 4.3). Prices and their
 * deviations 1e6, volumes quote 1e6, shares 1e6, times Unix seconds.
 */
export interface SpreadInputs {
  /** A market whose prices lie between 0 and 1. */
  readonly isPrediction: boolean;
  readonly markStd: bigint;
  readonly oracleStd: bigint;
  readonly lastOracleConfPct: bigint;
  readonly longIntensityVolume: bigint;
  readonly shortIntensityVolume: bigint;
  readonly volume24H: bigint;
  readonly lastMarkPriceTwap: bigint;
  readonly lastOraclePriceTwapTs: bigint;
  /** Seconds. */
  readonly fundingPeriod: bigint;
  readonly lastFundingOracleTwap: bigint;
  readonly lastReferencePriceOffset: number;
  readonly referencePriceOffsetDeadbandPct: number;
  /** Base, 1e9; zero where the program has no such amount. */
  readonly baseAssetAmountWithUnsettledLp: bigint;
  /** Percent; null where the program knows no funding bias, which is Drift's. */
  readonly fundingBiasSensitivity: number | null;
}

/** A market account as it is now. Spot markets have `amm` null and perp-only members zero. */
export interface BookMarket extends MarketRef {
  readonly slot: number;
  readonly account: Uint8Array;
  readonly symbol: string;
  /** Lower camel case variant of the market status. */
  readonly status: string;
  readonly oracle: Uint8Array;
  readonly oracleSource: string;
  readonly tickSize: bigint;
  readonly stepSize: bigint;
  readonly minOrderSize: bigint;
  readonly pausedOperations: number;
  /** True when the exchange-wide or market-wide flags stop AMM fills. */
  readonly ammPaused: boolean;
  /** Market-level order account, null when the market has none. */
  readonly clobMarket: Uint8Array | null;
  readonly baseAssetAmountLong: bigint;
  readonly baseAssetAmountShort: bigint;
  readonly last24hAvgFundingRate: bigint;
  readonly mmOraclePrice: bigint;
  readonly mmOracleSlot: bigint;
  readonly mmOracleSequenceId: bigint;
  readonly lastOraclePriceTwap: bigint;
  readonly lastOraclePriceTwap5Min: bigint;
  readonly lastMarkPriceTwap5Min: bigint;
  readonly decimals: number;
  readonly amm: AmmState | null;
  /** Null for spot markets and in messages written before it was part of them. */
  readonly spreadInputs: SpreadInputs | null;
  /**
   * Guard rail of the exchange: how far an oracle may be from its 5-minute TWAP, a share of 1e6. Null for spot markets,
   * while the State account is not known, and in older messages.
   */
  readonly oracleTwap5MinPercentDivergence: bigint | null;
}

export interface BookOracle extends MarketRef {
  readonly slot: number;
  readonly price: bigint;
  readonly oracleSlot: bigint;
  readonly confidence: bigint;
  readonly hasSufficientNumberOfDataPoints: boolean;
  readonly twap: bigint | null;
  readonly twapConfidence: bigint | null;
  /** Pre-launch oracles only. */
  readonly maxPrice: bigint | null;
  readonly sequenceId: bigint | null;
  /** When the price was published, Unix seconds; null where its account does not say, and in older messages. */
  readonly publishTs: bigint | null;
}

/** A slot was reached; written to every partition of `book`. Time for reducers. */
export interface BookSlot {
  readonly slot: number;
}

/** When a slot's block was made, in chain order and about every `sampleSlots` slots; written to every partition of `book`. */
export interface BookTime {
  readonly slot: number;
  /** Block time, Unix seconds. */
  readonly ts: number;
}

/**
 * Brackets a full snapshot of one market's open orders: what is not upserted between begin and end (or by a live update
 * in between) is gone. `snapshotSlot` is the context slot of the read. Repeating a bracket changes nothing.
 */
export interface BookSnapshotBegin extends MarketRef {
  readonly snapshotSlot: number;
}

export interface BookSnapshotEnd extends MarketRef {
  readonly snapshotSlot: number;
}

/**
 * The shadow check found this book wrong. The records before this one hold it as it is now; from here on a new epoch
 * begins, and its first change is the whole book.
 */
export interface BookRepair extends MarketRef {
  readonly slot: number;
}

/** What a rebuild from a fresh read of the chain says of a market, true at exactly this place of the log. */
export interface BookCheck extends MarketRef {
  /** Slot of this place of the log. */
  readonly slot: number;
  readonly orders: number;
  /** OrderDigest of the orders. */
  readonly digest: string;
  /** Encoded BookMarket and BookOracle; null when they are not known, or cannot be told. */
  readonly market: Uint8Array | null;
  readonly oracle: Uint8Array | null;
}
