// Derives an order from a request and its market's state: defaults, estimates, recent fills, slippage, prices.
// Rules: docs/internals/auctions.md.

import { BASE_PRECISION } from '../../../schemas/index.ts';
import { estimateFill } from './estimate.ts';
import { fillShift, shiftPrices } from './fill-shift.ts';
import { appliedPercent, auctionOrder, referencePrices } from './order.ts';
import { type AuctionSettings, dynamicSlippagePercent, isMajor } from './slippage.ts';
import {
  type Auction,
  AuctionError,
  type AuctionMarket,
  type AuctionPrices,
  type AuctionRequest,
  REFERENCES,
  type Reference,
  U64_MAX,
} from './types.ts';

/** From this version on recent fills count. */
const FILLS_FROM_VERSION = 2;
/** From this version on auctions are short and start at the touch in every market. */
const FAST_FROM_VERSION = 3;

interface Defaults {
  readonly auctionDuration: number;
  readonly startFrom: Reference;
  readonly startOffset: number;
}

const END_FROM: Reference = 'worst';
const END_OFFSET_PERCENT = 0.1;
const FAST: Defaults = { auctionDuration: 5, startFrom: 'bestOffer', startOffset: -0.05 };
const MAJOR: Defaults = { auctionDuration: 20, startFrom: 'mark', startOffset: 0 };
const OTHER: Defaults = { auctionDuration: 20, startFrom: 'bestOffer', startOffset: -0.1 };

function defaultsOf(request: AuctionRequest, market: AuctionMarket, settings: AuctionSettings): Defaults {
  if (request.version >= FAST_FROM_VERSION) return FAST;
  return isMajor(market, settings) ? MAJOR : OTHER;
}

/**
 * The order of a request, and the estimates behind it. Explicit options win over defaults one by one.
 * Throws AuctionError when no price is known, or an option leads to no valid order.
 */
export function deriveAuction(request: AuctionRequest, market: AuctionMarket, settings: AuctionSettings): Auction {
  const { direction, version } = request;
  const defaults = defaultsOf(request, market, settings);
  const startFrom = reference(request.startFrom ?? defaults.startFrom);
  const endFrom = reference(request.endFrom ?? END_FROM);
  const estimated = estimatePrices(request, market);
  const weighsFills = version >= FILLS_FROM_VERSION && market.recentFills !== null && !isEmpty(market);
  const shift = weighsFills ? fillShift(market, direction, estimated.oracle) : null;
  const prices = shift === null ? estimated : shiftPrices(estimated, direction, shift);
  const references = referencePrices(direction, prices);
  const slippagePercent = slippageOf(request, market, settings, prices, startFrom);
  const order = auctionOrder({
    direction,
    startReference: references[startFrom],
    endReference: references[endFrom],
    startOffset: request.startOffset ?? defaults.startOffset,
    endOffset: request.endOffset ?? END_OFFSET_PERCENT,
    slippagePercent,
    forceUpToSlippage: request.forceUpToSlippage ?? false,
    endBuffer: request.endBuffer ?? 0n,
    mustCross: weighsFills ? otherSideBest(request, market) : null,
    oracle: (request.isOracleOrder ?? true) && prices.oracle > 0n ? prices.oracle : null,
  });
  return {
    order,
    baseAssetAmount: baseAmount(request, prices.entry),
    auctionDuration: request.auctionDuration ?? defaults.auctionDuration,
    prices,
    slippagePercent: appliedPercent(slippagePercent),
  };
}

function reference(name: string): Reference {
  const found = REFERENCES.find((known) => known === name);
  if (!found) throw new AuctionError('unknownReference');
  return found;
}

function isEmpty({ book }: AuctionMarket): boolean {
  return book.bids.length === 0 && book.asks.length === 0;
}

/** Estimates from the book; for an empty book all of them are the oracle. */
function estimatePrices({ direction, amount, assetType }: AuctionRequest, market: AuctionMarket): AuctionPrices {
  const { book, oracle, quotes } = market;
  if (isEmpty(market)) {
    if (oracle === null || oracle <= 0n) throw new AuctionError('noPrices');
    return { oracle, mark: oracle, best: oracle, entry: oracle, worst: oracle, impact: 0n };
  }
  const { bestPrice, entryPrice, worstPrice, priceImpact } = estimateFill(book, direction, amount, assetType);
  return {
    oracle: oracle ?? 0n,
    mark: quotes?.markPrice ?? oracle ?? 0n,
    best: bestPrice,
    entry: entryPrice,
    worst: worstPrice,
    impact: priceImpact,
  };
}

function slippageOf(
  request: AuctionRequest,
  market: AuctionMarket,
  settings: AuctionSettings,
  prices: AuctionPrices,
  startFrom: Reference,
): number {
  if (request.allowInfSlippage) return Number.POSITIVE_INFINITY;
  if (request.slippagePercent !== undefined) return request.slippagePercent;
  const startPrice = prices[startFrom === 'bestOffer' ? 'best' : startFrom];
  const inputs = { market, version: request.version, quotes: market.quotes, startPrice, worstPrice: prices.worst };
  return dynamicSlippagePercent(inputs, settings);
}

/** Best price that the end of the auction must reach: the best ask for a long, the best bid for a short. */
function otherSideBest({ direction }: AuctionRequest, { book }: AuctionMarket): bigint | null {
  const best = (direction === 'long' ? book.asks : book.bids)[0];
  return best ? BigInt(best.price) : null;
}

function baseAmount({ amount, assetType, maxLeverageSize }: AuctionRequest, entry: bigint): bigint {
  if (maxLeverageSize !== undefined) return maxLeverageSize;
  if (assetType === 'base') return amount;
  if (entry <= 0n) throw new AuctionError('noPrices');
  const base = (amount * BASE_PRECISION) / entry;
  if (base > U64_MAX) throw new AuctionError('outOfRange');
  return base;
}
