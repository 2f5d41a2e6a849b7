// Recent fills weighed into the estimates of a crossed book, from version 2 on (reference 4.3).

import type { Direction } from '../../../schemas/index.ts';
import { type AuctionMarket, type AuctionPrices, distance } from './types.ts';

/** Older means are left out. */
const FRESH_MS = 600_000;
/** Means are kept to 0.01 basis points, which is 1/1,000,000 of the price. */
const MICRO_BPS_PER_STEP = 10_000n;
const STEPS = 1_000_000n;

/**
 * How far takers were lately filled from `oracle`, 1e6; null when that does not count: the book is neither crossed nor
 * locked, or the mean for the direction is not there or not fresh. A mean of 0 counts.
 */
export function fillShift(market: AuctionMarket, direction: Direction, oracle: bigint): bigint | null {
  const { quotes, recentFills } = market;
  if (quotes === null || quotes.bestBidPrice < quotes.bestAskPrice || recentFills === null) return null;
  if (recentFills.ageMs > FRESH_MS) return null;
  const mean = direction === 'long' ? recentFills.takerBuyMicroBps : recentFills.takerSellMicroBps;
  return mean === null ? null : (oracle * roundHalfUp(mean)) / STEPS;
}

function roundHalfUp(microBps: bigint): bigint {
  const moved = microBps + MICRO_BPS_PER_STEP / 2n;
  const rest = ((moved % MICRO_BPS_PER_STEP) + MICRO_BPS_PER_STEP) % MICRO_BPS_PER_STEP;
  return (moved - rest) / MICRO_BPS_PER_STEP;
}

/** The estimates moved by `shift`; the mark only where it would flatter the taker less than the shifted oracle does. */
export function shiftPrices(prices: AuctionPrices, direction: Direction, shift: bigint): AuctionPrices {
  const { oracle, mark } = prices;
  const adjusted = oracle + shift;
  const isFavourable = direction === 'long' ? mark < oracle : mark > oracle;
  const isOracleNearer = distance(oracle, adjusted) < distance(mark, adjusted);
  return {
    oracle: adjusted,
    mark: isOracleNearer || !isFavourable ? adjusted : mark,
    best: prices.best + shift,
    entry: prices.entry + shift,
    worst: prices.worst + shift,
    impact: prices.impact,
  };
}
