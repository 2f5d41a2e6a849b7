// Best prices, mark price and spreads, and the oracle in force: docs/internals/book-rules.md, "Oracle selection".

import type { BookMarket, BookOracle, ViewOracle } from '../../schemas/index.ts';
import { magnitude } from './whole.ts';

const PERCENT = 100n * 1_000_000n;
const SHARE = 1_000_000n;
/**
 * |market-maker price - 5-minute TWAP| must stay below this share of the TWAP, or below the exchange's guard rail where
 * that is larger.
 */
const DIVERGENCE_MAX = SHARE / 2n;
/** |market-maker price - exchange price| may be at most this share of the exchange price. */
const GAP_MAX = SHARE / 100n;
/** Sequence ids are comparable when within 1/10,000 of each other. */
const SEQUENCE_DIVISOR = 10_000n;

export interface Quotes {
  /** All 1e6. */
  readonly bestBidPrice: bigint;
  readonly bestAskPrice: bigint;
  readonly markPrice: bigint;
  readonly spreadQuote: bigint;
  /** Percent times 1e6. */
  readonly spreadPct: bigint;
}

/** Null when a side is empty. `oracle` is the oracle in force, null when unknown. */
export function quotesOf(bid: bigint | null, ask: bigint | null, oracle: bigint | null): Quotes | null {
  if (bid === null || ask === null) return null;
  const markPrice = markOf(bid, ask, oracle);
  const spreadQuote = ask > bid ? ask - bid : 0n;
  const spreadPct = markPrice === 0n ? 0n : (spreadQuote * PERCENT) / markPrice;
  return { bestBidPrice: bid, bestAskPrice: ask, markPrice, spreadQuote, spreadPct };
}

function markOf(bid: bigint, ask: bigint, oracle: bigint | null): bigint {
  if (bid <= ask || oracle === null) return (bid + ask) / 2n;
  if (bid > oracle && ask > oracle) return ask;
  if (bid < oracle && ask < oracle) return bid;
  return oracle;
}

export function viewOracle(oracle: BookOracle): ViewOracle {
  return {
    price: oracle.price,
    slot: oracle.oracleSlot,
    confidence: oracle.confidence,
    hasSufficientNumberOfDataPoints: oracle.hasSufficientNumberOfDataPoints,
    twap: oracle.twap,
    twapConfidence: oracle.twapConfidence,
    maxPrice: oracle.maxPrice,
  };
}

export function sameOracle(left: ViewOracle | null, right: ViewOracle | null): boolean {
  if (left === null || right === null) return left === right;
  return (
    left.price === right.price &&
    left.slot === right.slot &&
    left.confidence === right.confidence &&
    left.hasSufficientNumberOfDataPoints === right.hasSufficientNumberOfDataPoints &&
    left.twap === right.twap &&
    left.twapConfidence === right.twapConfidence &&
    left.maxPrice === right.maxPrice
  );
}

/**
 * The market-maker oracle when the market has a fresh one near the exchange's, else null (docs/internals/book-rules.md,
 * "Oracle selection"). The distance between the two adds to its confidence.
 */
export function marketMakerOracle(market: BookMarket, exchange: BookOracle): ViewOracle | null {
  const { mmOraclePrice: price, mmOracleSlot: slot, lastOraclePriceTwap5Min: twap } = market;
  if (market.marketType !== 'perp' || price <= 0n || exchange.price <= 0n || twap <= 0n) return null;
  // Older checkpoints have no guard rail.
  const guardRail = market.oracleTwap5MinPercentDivergence ?? 0n;
  const divergenceMax = guardRail > DIVERGENCE_MAX ? guardRail : DIVERGENCE_MAX;
  if (shareOf(price - twap, twap) >= divergenceMax) return null;
  if (shareOf(price - exchange.price, exchange.price) > GAP_MAX) return null;
  if (!atLeastAsRecent(market, exchange)) return null;
  return {
    price,
    slot,
    confidence: exchange.confidence + magnitude(price - exchange.price),
    hasSufficientNumberOfDataPoints: true,
    twap: null,
    twapConfidence: null,
    maxPrice: null,
  };
}

/** True when the market maker's price is at least as recent; equally recent prices count as its own. */
function atLeastAsRecent(market: BookMarket, exchange: BookOracle): boolean {
  const own = market.mmOracleSequenceId;
  const other = exchange.sequenceId ?? 0n;
  if (own > 0n && other > 0n && magnitude(own - other) * SEQUENCE_DIVISOR <= other) return own >= other;
  return market.mmOracleSlot >= exchange.oracleSlot;
}

/** |gap| as a share of `whole` in 1e6, rounded down; `whole` above 0. */
function shareOf(gap: bigint, whole: bigint): bigint {
  return (magnitude(gap) * SHARE) / whole;
}
