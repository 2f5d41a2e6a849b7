// Names of the base and the quote asset of a perp market.

import type { MarketRegistry } from '../views/registry.ts';

const PERP_SUFFIX = '-PERP';

/** The base asset: `SOL` for `SOL-PERP`. Any other symbol is returned as it is. */
export function baseAssetOf(symbol: string): string {
  return symbol.endsWith(PERP_SUFFIX) ? symbol.slice(0, -PERP_SUFFIX.length) : symbol;
}

/** Symbol of spot market 0, which quotes all perps; empty until that market is known. */
export function quoteAssetOf(markets: MarketRegistry): string {
  return markets.get({ marketType: 'spot', marketIndex: 0 })?.symbol ?? '';
}
