// Dynamic slippage: the tolerance of a market order without one (docs/internals/auctions.md, "Dynamic slippage").

import type { MarketRef } from '../../../schemas/index.ts';
import type { Quotes } from '../quotes.ts';

/** Spread part of a one-sided book, percent. */
const ONE_SIDED_PERCENT = 0.0005;
/** Share of the spread that counts. */
const SPREAD_SHARE = 0.9;
/** `Quotes.spreadPct` is percent times this. */
const SPREAD_PRECISION = 1e6;
/** From this version on the tolerance widens after the clamp. */
const WIDENED_FROM_VERSION = 2;
const WIDENING = 1.2;

export interface SlippageTier {
  readonly basePercent: number;
  readonly multiplier: number;
}

/** Tiers are sets of perp market indexes; the last tier has every other market and all spot markets. */
export interface AuctionSettings {
  readonly majors: ReadonlySet<number>;
  readonly midMajors: ReadonlySet<number>;
  readonly major: SlippageTier;
  readonly midMajor: SlippageTier;
  readonly nonMajor: SlippageTier;
  readonly minPercent: number;
  readonly maxPercent: number;
  /** Greatest spread part of a crossed book. */
  readonly crossSpreadCapPercent: number;
}

/** Values of the predecessor. */
export const DEFAULT_AUCTION_SETTINGS: AuctionSettings = {
  majors: new Set([0, 1, 2]),
  midMajors: new Set([4, 9, 13, 23, 59, 76]),
  major: { basePercent: 0, multiplier: 1.1 },
  midMajor: { basePercent: 0.25, multiplier: 1.25 },
  nonMajor: { basePercent: 0.5, multiplier: 1.5 },
  minPercent: 0.035,
  maxPercent: 5,
  crossSpreadCapPercent: 0.1,
};

export function isMajor({ marketType, marketIndex }: MarketRef, settings: AuctionSettings): boolean {
  return marketType === 'perp' && settings.majors.has(marketIndex);
}

function tierOf(market: MarketRef, settings: AuctionSettings): SlippageTier {
  if (isMajor(market, settings)) return settings.major;
  const isMidMajor = market.marketType === 'perp' && settings.midMajors.has(market.marketIndex);
  return isMidMajor ? settings.midMajor : settings.nonMajor;
}

export interface SlippageInputs {
  readonly market: MarketRef;
  readonly version: number;
  /** Null when a side of the book is empty. */
  readonly quotes: Pick<Quotes, 'bestBidPrice' | 'bestAskPrice' | 'spreadPct'> | null;
  /** Estimate at which the auction starts, and the worst estimate; 1e6. */
  readonly startPrice: bigint;
  readonly worstPrice: bigint;
}

/** Percent. Always finite; inside the settings' bounds in version 1, and 1.2 times that from version 2 on. */
export function dynamicSlippagePercent(inputs: SlippageInputs, settings: AuctionSettings): number {
  const { basePercent, multiplier } = tierOf(inputs.market, settings);
  const spread = basePercent + spreadPercent(inputs.quotes, settings.crossSpreadCapPercent);
  const wanted = Math.max(spread, sizePercent(inputs.startPrice, inputs.worstPrice)) * multiplier;
  const percent = Math.min(Math.max(wanted, settings.minPercent), settings.maxPercent);
  return inputs.version >= WIDENED_FROM_VERSION ? percent * WIDENING : percent;
}

function spreadPercent(quotes: SlippageInputs['quotes'], crossedCap: number): number {
  if (quotes === null) return ONE_SIDED_PERCENT;
  const percent = (Number(quotes.spreadPct) / SPREAD_PRECISION) * SPREAD_SHARE;
  return quotes.bestBidPrice > quotes.bestAskPrice ? Math.min(percent, crossedCap) : percent;
}

/** Half the way from the start to the worst price; 0 without a start price. */
function sizePercent(startPrice: bigint, worstPrice: bigint): number {
  if (startPrice <= 0n) return 0;
  const start = Number(startPrice);
  return (Math.abs(start - Number(worstPrice)) / start / 2) * 100;
}
