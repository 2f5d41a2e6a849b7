// Lists of market indexes in settings, and which markets are served by them.

import type { MarketRef } from '../schemas/index.ts';
import { type Config, ConfigError } from './config.ts';

/** Throws ConfigError when `text` is no list of indexes separated by commas; empty is the empty list. */
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
 * Whether a market is served: any when neither list is set; else those of the lists, so that one list alone leaves out the
 * other type (reference 5.4). Throws ConfigError when a list does not parse.
 */
export function marketFilter(config: Pick<Config, 'perpMarketsToLoad' | 'spotMarketsToLoad'>): MarketFilter {
  const perp = marketIndexes('perpMarketsToLoad', config.perpMarketsToLoad);
  const spot = marketIndexes('spotMarketsToLoad', config.spotMarketsToLoad);
  if (perp.size === 0 && spot.size === 0) return () => true;
  return ({ marketType, marketIndex }) => (marketType === 'perp' ? perp : spot).has(marketIndex);
}
