// The optional candle filter (docs/internals/history-semantics.md, "Candle filter"): small fills far from the oracle, and
// fills of blocked makers, make no candle. They remain trades and volume.

import type { Fill } from './fill.ts';

/** A fill at a greater distance is filtered; one at exactly this distance is not. */
const FAR_PERCENT = 3n;

export interface CandleFilter {
  /** Only fills of less quote (1e6) are filtered; 0 filters none. */
  readonly belowQuote: bigint;
  /** Perp markets that the filter leaves alone. */
  readonly exemptMarkets: ReadonlySet<number>;
  /** Makers whose fills make no candle, keys in hex. */
  readonly blockedMakers: ReadonlySet<string>;
}

export const NO_FILTER: CandleFilter = { belowQuote: 0n, exemptMarkets: new Set(), blockedMakers: new Set() };

export function isFilteredOut(fill: Fill, maker: unknown, rules: CandleFilter): boolean {
  if (maker instanceof Uint8Array && rules.blockedMakers.has(Buffer.from(maker).toString('hex'))) return true;
  if (BigInt(fill.quote) >= rules.belowQuote || rules.exemptMarkets.has(fill.marketIndex)) return false;
  const distance = BigInt(Math.abs(fill.price - fill.oracle));
  return distance * 100n > BigInt(fill.oracle) * FAR_PERCENT;
}
