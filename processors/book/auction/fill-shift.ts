// Shifts the estimates of a crossed book by recent fills, from version 2 on (docs/internals/auctions.md, "Fill quality").

import type { Direction } from '../../../schemas/index.ts';
import { type AuctionMarket, type AuctionPrices, distance } from './types.ts';

/** Older means are ignored. */
const FRESH_MS = 600_000;
/** Means are rounded to 0.01 basis points, 1/1,000,000 of the price. */
const MICRO_BPS_PER_STEP = 10_000n;
const STEPS = 1_000_000n;

/**
 * Mean distance of recent taker fills from `oracle`, 1e6. Null when the book is neither crossed nor locked, and when the
 * direction has no fresh mean. A mean of 0 applies.
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

/**
 * The estimates moved by `shift`. The mark becomes the shifted oracle when that is nearer to the oracle than to the mark, or
 * when the mark is not favourable to the taker.
 */
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
