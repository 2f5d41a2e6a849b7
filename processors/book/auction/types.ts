// Inputs and results of auctions. Prices and quote amounts 1e6, base amounts 1e9, slippage in percent.

import type { Direction, MarketRef } from '../../../schemas/index.ts';
import type { Level } from '../levels.ts';
import type { Quotes } from '../quotes.ts';

/** Price of a missing ask: 2^53 - 1. */
export const NO_ASK_PRICE = 9_007_199_254_740_991n;
/** Largest u64: the size of a max-leverage order, and the upper limit of an order. */
export const U64_MAX = 18_446_744_073_709_551_615n;

export type AssetType = 'base' | 'quote';

/** Prices from which an offset may be measured. `bestOffer` is the best level of the side that the order takes. */
export const REFERENCES = ['oracle', 'bestOffer', 'entry', 'worst', 'mark', 'best'] as const;
export type Reference = (typeof REFERENCES)[number];

/** `noPrices`: no price is known. `unknownReference`: no such reference price. `outOfRange`: beyond the fields of an order. */
export type AuctionErrorCode = 'noPrices' | 'unknownReference' | 'outOfRange';

export class AuctionError extends Error {
  override readonly name = 'AuctionError';
  readonly code: AuctionErrorCode;

  constructor(code: AuctionErrorCode) {
    super(`no auction: ${code}`);
    this.code = code;
  }
}

/** Levels best first; either side may be empty. */
export interface AuctionBook {
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
}

/** Means over recent taker fills of the market, millionths of a basis point from the oracle; null without fills. */
export interface RecentFills {
  readonly takerBuyMicroBps: bigint | null;
  readonly takerSellMicroBps: bigint | null;
  /** Age of the means when the request is answered. */
  readonly ageMs: number;
}

/** State of the market when the request is answered. */
export interface AuctionMarket extends MarketRef {
  readonly book: AuctionBook;
  /** Best prices, mark and spread of the whole book; null when a side is empty. */
  readonly quotes: Quotes | null;
  /** Market-maker oracle (perp) or oracle (spot); null when unknown. */
  readonly oracle: bigint | null;
  readonly recentFills: RecentFills | null;
}

/** A requested order. Absent options take the defaults of the version (docs/internals/auctions.md, "Defaults"). */
export interface AuctionRequest {
  readonly version: number;
  readonly direction: Direction;
  readonly amount: bigint;
  readonly assetType: AssetType;
  readonly reduceOnly?: boolean;
  /** Percent; absent means dynamic. */
  readonly slippagePercent?: number;
  readonly allowInfSlippage?: boolean;
  readonly forceUpToSlippage?: boolean;
  readonly isOracleOrder?: boolean;
  /** Units of 400 ms. */
  readonly auctionDuration?: number;
  /** Percent; the sign is ignored. */
  readonly startOffset?: number;
  readonly endOffset?: number;
  readonly startFrom?: string;
  readonly endFrom?: string;
  /** Raw price units past the end price. */
  readonly endBuffer?: bigint;
  /** Replaces the base amount of the order. */
  readonly maxLeverageSize?: bigint;
  readonly userOrderId?: number;
}

/** Prices of an order for the exchange. Start and end are offsets from the oracle for type `oracle`. */
export interface AuctionOrder {
  readonly orderType: 'oracle' | 'market';
  /** Slippage bound of a fixed-price order; null when there is none. */
  readonly price: bigint | null;
  readonly auctionStartPrice: bigint;
  readonly auctionEndPrice: bigint;
  readonly oraclePriceOffset: bigint | null;
}

export interface Auction {
  readonly order: AuctionOrder;
  readonly baseAssetAmount: bigint;
  readonly auctionDuration: number;
  readonly prices: AuctionPrices;
  /** Applied tolerance, percent. */
  readonly slippagePercent: number;
}

/** Estimates in the response: after the shift of version 2. */
export interface AuctionPrices {
  readonly oracle: bigint;
  readonly mark: bigint;
  readonly best: bigint;
  readonly entry: bigint;
  readonly worst: bigint;
  /** Fraction of the best price, 1e6. */
  readonly impact: bigint;
}

export function largest(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

export function smallest(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

export function distance(a: bigint, b: bigint): bigint {
  return a > b ? a - b : b - a;
}

/** A double truncated to a whole number. Throws AuctionError `outOfRange` when it is not finite. */
export function wholeOf(value: number): bigint {
  if (!Number.isFinite(value)) throw new AuctionError('outOfRange');
  return BigInt(Math.trunc(value));
}
