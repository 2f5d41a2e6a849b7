// Estimates the fill of an order by walking the levels it would take (docs/internals/auctions.md, "Estimates").

import { BASE_PRECISION, type Direction, PRICE_PRECISION } from '../../../schemas/index.ts';
import { type AssetType, type AuctionBook, distance, NO_ASK_PRICE, smallest } from './types.ts';

export interface Estimate {
  readonly entryPrice: bigint;
  readonly bestPrice: bigint;
  readonly worstPrice: bigint;
  /** |entry - best| / best, 1e6. */
  readonly priceImpact: bigint;
  readonly baseFilled: bigint;
  readonly quoteFilled: bigint;
}

/**
 * Walks asks for a long, bids for a short. Too little liquidity is no error: the estimate covers the available part. An
 * empty side has best and worst at 2^53 - 1 (long) or 0 (short).
 */
export function estimateFill(book: AuctionBook, direction: Direction, amount: bigint, assetType: AssetType): Estimate {
  const levels = direction === 'long' ? book.asks : book.bids;
  const first = levels[0];
  const bestPrice = first ? BigInt(first.price) : direction === 'long' ? NO_ASK_PRICE : 0n;
  let worstPrice = bestPrice;
  let base = 0n;
  let quote = 0n;
  for (const level of levels) {
    if ((assetType === 'base' ? base : quote) >= amount) break;
    const price = BigInt(level.price);
    const size = level.dlob + level.vamm + (level.indicative ?? 0n);
    worstPrice = price;
    if (assetType === 'base') {
      const taken = smallest(size, amount - base);
      base += taken;
      quote += (taken * price) / BASE_PRECISION;
    } else {
      const taken = smallest((size * price) / BASE_PRECISION, amount - quote);
      quote += taken;
      base += taken === 0n ? 0n : (taken * BASE_PRECISION) / price;
    }
  }
  const entryPrice = base === 0n ? 0n : (quote * BASE_PRECISION) / base;
  const priceImpact = bestPrice === 0n ? 0n : (distance(entryPrice, bestPrice) * PRICE_PRECISION) / bestPrice;
  return { entryPrice, bestPrice, worstPrice, priceImpact, baseFilled: base, quoteFilled: quote };
}
