// Lists of market indexes in settings, and the markets that they select.

import type { MarketRef } from '../schemas/index.ts';
import { type Config, ConfigError } from './config.ts';

/** Parses indexes separated by commas; empty text is the empty list. Throws ConfigError for other text. */
export function marketIndexes(name: string, text: string): ReadonlySet<number> {
  const parts = text.split(',').map((part) => part.trim());
  if (text.trim() === '') return new Set();
  if (!parts.every((part) => /^\d{1,5}$/.test(part))) {
    throw new ConfigError(`${name} must be market indexes separated by commas, not "${text}"`);
  }
  return new Set(parts.map(Number));
}

export type MarketFilter = (market: MarketRef) => boolean;

/**
 * Selects the markets to serve: all when neither list is set, else those of the lists. One list alone therefore leaves out the
 * other type (docs/internals/order-book-server.md, "Predecessor names"). Throws ConfigError for an invalid list.
 */
export function marketFilter(config: Pick<Config, 'perpMarketsToLoad' | 'spotMarketsToLoad'>): MarketFilter {
  const perp = marketIndexes('perpMarketsToLoad', config.perpMarketsToLoad);
  const spot = marketIndexes('spotMarketsToLoad', config.spotMarketsToLoad);
  if (perp.size === 0 && spot.size === 0) return () => true;
  return ({ marketType, marketIndex }) => (marketType === 'perp' ? perp : spot).has(marketIndex);
}
