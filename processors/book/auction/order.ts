// From estimates to the prices of an order (docs/internals/auctions.md, "Order prices"). Divisions truncate toward zero.

import { type Direction, PRICE_PRECISION } from '../../../schemas/index.ts';
import {
  AuctionError,
  type AuctionOrder,
  type AuctionPrices,
  largest,
  type Reference,
  smallest,
  U64_MAX,
  wholeOf,
} from './types.ts';

/** Tolerance without any bound, and the largest tolerance with a bound; percent. */
const UNBOUNDED_PERCENT = 15;
const LARGEST_PERCENT = 99;
/** Offsets are in hundredths of a percent. */
const OFFSET_DIVISOR = 10_000n;
const I64_MAX = 2n ** 63n - 1n;

/** The percentage that a tolerance applies; `Infinity` means no bound. */
export function appliedPercent(percent: number): number {
  if (percent === Number.POSITIVE_INFINITY) return UNBOUNDED_PERCENT;
  return Math.min(percent, LARGEST_PERCENT);
}

/** Worst price that the tolerance allows, from the auction's start price; 1e6. */
export function limitPrice(direction: Direction, start: bigint, percent: number): bigint {
  const fraction = wholeOf(appliedPercent(percent) * 1e6) / 100n;
  return (start * (direction === 'long' ? PRICE_PRECISION + fraction : PRICE_PRECISION - fraction)) / PRICE_PRECISION;
}

/** Every reference price. An oracle, best offer or mark that is not positive takes the one most favourable to the taker. */
export function referencePrices(direction: Direction, prices: AuctionPrices): Record<Reference, bigint> {
  const { oracle, best: bestOffer, mark, entry, worst } = prices;
  const better = direction === 'long' ? smallest : largest;
  const known = [oracle, bestOffer, mark].filter((price) => price > 0n);
  if (known.length === 0) throw new AuctionError('noPrices');
  const best = known.reduce(better);
  const orBest = (price: bigint): bigint => (price > 0n ? price : best);
  return { oracle: orBest(oracle), bestOffer: orBest(bestOffer), entry, worst, mark: orBest(mark), best };
}

export interface OrderTerms {
  readonly direction: Direction;
  /** Reference prices of the auction's start and end; 1e6. */
  readonly startReference: bigint;
  readonly endReference: bigint;
  /** Percent; the signs are ignored. */
  readonly startOffset: number;
  readonly endOffset: number;
  /** Percent, `Infinity` for no bound. */
  readonly slippagePercent: number;
  readonly forceUpToSlippage: boolean;
  /** Raw price units, 0 for none. */
  readonly endBuffer: bigint;
  /** Best price of the other side that the end must reach; null when it need not. */
  readonly mustCross: bigint | null;
  /** Oracle that offsets are measured from; null for a fixed-price order. */
  readonly oracle: bigint | null;
}

/** Prices of the order. Throws AuctionError `outOfRange` when one of them cannot be put into an order. */
export function auctionOrder(terms: OrderTerms): AuctionOrder {
  const { direction, startReference, slippagePercent, endBuffer, oracle } = terms;
  const bound = limitPrice(direction, startReference, slippagePercent);
  const limit = direction === 'long' ? bound + endBuffer : bound - endBuffer;
  const { start, end } = auctionPrices(terms, limit);
  const order =
    oracle === null ? fixedOrder(start, end, limit, slippagePercent) : oracleOrder(terms, start, end, oracle);
  // A fixed order has prices; an oracle order has distances, which may be negative.
  const least = oracle === null ? 1n : -I64_MAX;
  for (const value of [order.auctionStartPrice, order.auctionEndPrice]) {
    if (value > I64_MAX || value < least) throw new AuctionError('outOfRange');
  }
  if (order.price !== null && (order.price < 0n || order.price > U64_MAX)) throw new AuctionError('outOfRange');
  return order;
}

function fixedOrder(start: bigint, end: bigint, limit: bigint, slippagePercent: number): AuctionOrder {
  const price = slippagePercent === Number.POSITIVE_INFINITY ? null : limit;
  return { orderType: 'market', price, auctionStartPrice: start, auctionEndPrice: end, oraclePriceOffset: null };
}

/** The exchange reads an offset of 0 as a fixed price, so 0 moves by one in the direction of the taker. */
function oracleOrder({ direction }: OrderTerms, start: bigint, end: bigint, oracle: bigint): AuctionOrder {
  const offset = end - oracle;
  const nudge = direction === 'long' ? 1n : -1n;
  return {
    orderType: 'oracle',
    price: null,
    auctionStartPrice: start - oracle,
    auctionEndPrice: offset,
    oraclePriceOffset: offset === 0n ? nudge : offset,
  };
}

function auctionPrices(terms: OrderTerms, limit: bigint): { readonly start: bigint; readonly end: bigint } {
  const { direction, startReference, endReference, endBuffer, forceUpToSlippage, mustCross } = terms;
  const isLong = direction === 'long';
  // For a long the far side is up; the mirrored comparisons serve a short.
  const farther = isLong ? largest : smallest;
  const nearer = isLong ? smallest : largest;
  const sign = isLong ? 1n : -1n;
  const startShift = (startReference * hundredths(terms.startOffset)) / OFFSET_DIVISOR;
  const endFraction = (PRICE_PRECISION * hundredths(terms.endOffset)) / OFFSET_DIVISOR;
  const worstUse = farther(endReference, startReference);
  const wished = ((PRICE_PRECISION + sign * endFraction) * worstUse) / PRICE_PRECISION;
  let end = (forceUpToSlippage ? limit : nearer(limit, wished)) + sign * endBuffer;
  if (mustCross !== null) end = farther(end, mustCross + sign * endFraction);
  return { start: nearer(startReference - sign * startShift, end), end };
}

/** |percent| in hundredths of a percent; the double product is truncated, so 0.29 gives 28. */
function hundredths(percent: number): bigint {
  return wholeOf(Math.abs(percent * 100));
}
