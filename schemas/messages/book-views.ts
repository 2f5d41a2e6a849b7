// The published book: diffs, snapshots, and the description of its market. Units: see index.ts.

import type { MarketRef } from '../chain/market.ts';
import type { Cause, OrderSource } from './book.ts';

/** Absolute state of one published level. All sizes zero: the level is removed. */
export interface ViewLevel {
  readonly price: number;
  readonly dlob: bigint;
  readonly vamm: bigint;
}

/** One visible resting order. Walk order: price, then `rank` ascending, member by member. */
export interface ViewOrder {
  readonly price: number;
  readonly size: bigint;
  readonly maker: Uint8Array;
  readonly orderId: number;
  readonly source: OrderSource;
  /** Walk order among equal prices: list precedence, then slot or book id, then arrival. */
  readonly rank: readonly number[];
  /** The transaction that last wrote the order; null or absent where unknown. */
  readonly cause?: Cause | null;
}

export interface ViewOrderRef {
  readonly maker: Uint8Array;
  readonly orderId: number;
  readonly source: OrderSource;
  /** The transaction that removed the order; null or absent where unknown, and where no transaction did. */
  readonly cause?: Cause | null;
}

export interface ViewOracle {
  readonly price: bigint;
  readonly slot: bigint;
  readonly confidence: bigint;
  readonly hasSufficientNumberOfDataPoints: boolean;
  readonly twap: bigint | null;
  readonly twapConfidence: bigint | null;
  readonly maxPrice: bigint | null;
}

/** Head of every book view message. `seq` is contiguous inside an epoch and starts at 1. */
export interface BookViewHead extends MarketRef {
  readonly epoch: number;
  readonly seq: number;
  /** Slot of the newest slot, market or order update applied. */
  readonly slot: number;
  /** Slot of the newest market account update. */
  readonly marketSlot: number;
  readonly oracle: ViewOracle | null;
  /** Market-maker oracle, or the exchange oracle when the program uses that one. */
  readonly mmOracle: ViewOracle | null;
  readonly isMmOracleActive: boolean;
}

/** One published change. Lists are per side; `gone` names removed orders. */
export interface BookViewDiff extends BookViewHead {
  readonly bids: readonly ViewLevel[];
  readonly asks: readonly ViewLevel[];
  readonly bidOrders: readonly ViewOrder[];
  readonly askOrders: readonly ViewOrder[];
  readonly gone: readonly ViewOrderRef[];
  /** First abandoned slot whose changes this one undoes; null or absent for any other change. */
  readonly revert?: number | null;
}

/** The whole published book: the state after `seq`. Levels and orders in walk order. */
export interface BookViewSnapshot extends BookViewHead {
  readonly bids: readonly ViewLevel[];
  readonly asks: readonly ViewLevel[];
  readonly bidOrders: readonly ViewOrder[];
  readonly askOrders: readonly ViewOrder[];
}

/** Description of a market: registry data, and the inputs of market summaries. */
export interface MarketView extends MarketRef {
  readonly slot: number;
  readonly symbol: string;
  readonly status: string;
  readonly tickSize: bigint;
  readonly stepSize: bigint;
  readonly minOrderSize: bigint;
  readonly decimals: number;
  readonly oraclePrice: bigint | null;
  readonly openInterestBase: bigint;
  readonly last24hAvgFundingRate: bigint;
  /** The exchange oracle as in the published book; null while it is unknown, and in older messages. */
  readonly oracle: ViewOracle | null;
  /** True while the first full read of its orders runs: the published book is incomplete. */
  readonly isLoading: boolean;
}
