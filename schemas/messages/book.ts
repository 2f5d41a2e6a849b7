// Messages from ingest to the book reducer: orders, market accounts, oracles, slots and checks. Units: see index.ts.

import type { MarketRef } from '../chain/market.ts';

export type OrderSource = 'user' | 'clob';

export type OrderType = 'market' | 'limit' | 'triggerMarket' | 'triggerLimit' | 'oracle';

export type Direction = 'long' | 'short';

export type TriggerCondition = 'above' | 'below' | 'triggeredAbove' | 'triggeredBelow';

/** One open order as the chain has it: absolute, never a delta. */
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
  /** The maker's perp position in this market, base amount; current for reduce-only orders, else 0. */
  readonly positionBaseAmount: bigint;
  /** The market-level book's own order id, which is its queue priority; null for an order in a user account. */
  readonly bookOrderId: bigint | null;
}

export interface OrderRef {
  readonly maker: Uint8Array;
  readonly orderId: number;
}

/** The transaction that last wrote an order. */
export interface Cause {
  readonly slot: number;
  /** 64 bytes */
  readonly signature: Uint8Array;
  /** Index of the transaction in its block; null while unknown. */
  readonly index: number | null;
}

/** The changes of one account update to the open orders of one market. */
export interface BookOrders extends MarketRef {
  readonly slot: number;
  readonly source: OrderSource;
  /** The account that was read: a User account, or the market-level order account. */
  readonly account: Uint8Array;
  readonly upserts: readonly OrderState[];
  readonly removals: readonly OrderRef[];
  /** The transaction that wrote the account; null or absent where the source does not know it. */
  readonly cause?: Cause | null;
}

/** AMM state, the input of vAMM levels. Reserves 1e9, peg and spreads 1e6. */
export interface AmmState {
  readonly baseAssetReserve: bigint;
  readonly quoteAssetReserve: bigint;
  readonly sqrtK: bigint;
  readonly pegMultiplier: bigint;
  readonly minBaseAssetReserve: bigint;
  readonly maxBaseAssetReserve: bigint;
  readonly terminalQuoteAssetReserve: bigint;
  readonly concentrationCoef: bigint;
  /** Spread reserves as the chain stores them; zero when the program never computed them. */
  readonly askBaseAssetReserve: bigint;
  readonly askQuoteAssetReserve: bigint;
  readonly bidBaseAssetReserve: bigint;
  readonly bidQuoteAssetReserve: bigint;
  readonly baseAssetAmountWithAmm: bigint;
  readonly totalFeeMinusDistributions: bigint;
  /** Fees that the exchange earned in this market, quote 1e6; null in older messages. */
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
 * Inputs of an AMM's live quote besides its curve (docs/internals/vamm-quotes.md). Prices and their deviations 1e6, volumes
 * quote 1e6, shares 1e6, times Unix seconds.
 */
export interface SpreadInputs {
  /** True for a market with prices between 0 and 1. */
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
  /** Percent; null for Drift, whose program has no funding bias. */
  readonly fundingBiasSensitivity: number | null;
  /** Bits of the market; bit 0 keeps k constant. Null where the program has none, and in older messages. */
  readonly marketConfig: number | null;
}

/** Current state of a market account. In spot markets `amm` is null and perp-only members are zero. */
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
  /** Null for spot markets and in older messages. */
  readonly spreadInputs: SpreadInputs | null;
  /**
   * Guard rail of the exchange: largest deviation of an oracle from its 5-minute TWAP, a share of 1e6. Null for spot markets,
   * while the State account is unknown, and in older messages.
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
  /** Publish time of the price, Unix seconds; null where its account does not have it, and in older messages. */
  readonly publishTs: bigint | null;
}

/** The chain has reached a slot. Every partition of `book` gets one: it is the clock of reducers. */
export interface BookSlot {
  readonly slot: number;
}

/** Time of a slot's block, in chain order, about every `sampleSlots` slots. Every partition of `book` gets one. */
export interface BookTime {
  readonly slot: number;
  /** Block time, Unix seconds. */
  readonly ts: number;
}

/**
 * Brackets a full snapshot of one market's open orders. Orders without an upsert between begin and end are removed, live
 * updates included. `snapshotSlot` is the context slot of the read. Repeating a bracket changes nothing.
 */
export interface BookSnapshotBegin extends MarketRef {
  readonly snapshotSlot: number;
}

export interface BookSnapshotEnd extends MarketRef {
  readonly snapshotSlot: number;
}

/**
 * The shadow check found a wrong book. The records before this one contain its true state. A new epoch begins here, and its
 * first change is the whole book.
 */
export interface BookRepair extends MarketRef {
  readonly slot: number;
}

/**
 * Records of abandoned slots are undone by the records from here to the `BookRevert` without such a slot. Every partition of
 * `book.processed` gets both.
 */
export interface BookRevert {
  readonly slot: number;
  /** First abandoned slot whose changes are undone; null ends the undo. */
  readonly reverted: number | null;
}

/** State of a market from a fresh read of the chain, valid at exactly this offset of the log. */
export interface BookCheck extends MarketRef {
  /** Slot of this offset in the log. */
  readonly slot: number;
  readonly orders: number;
  /** OrderDigest of the orders. */
  readonly digest: string;
  /** Encoded BookMarket and BookOracle; null when unknown or not comparable. */
  readonly market: Uint8Array | null;
  readonly oracle: Uint8Array | null;
}
