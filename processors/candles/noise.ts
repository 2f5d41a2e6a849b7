// The optional noise filter (history reference 7.2): small fills far from the oracle, and fills of some makers, make no
// candle. They stay trades, and volume.

import type { Fill } from './fill.ts';

/** More than so far from the oracle is far; exactly so far is kept. */
const FAR_PERCENT = 3n;

export interface NoiseRules {
  /** Only fills of less quote (1e6) than this are noise; 0: none are. */
  readonly belowQuote: bigint;
  /** Perp markets whose fills are never noise. */
  readonly exemptMarkets: ReadonlySet<number>;
  /** Keys in hex of makers whose fills make no candle. */
  readonly blockedMakers: ReadonlySet<string>;
}

export const NO_NOISE: NoiseRules = { belowQuote: 0n, exemptMarkets: new Set(), blockedMakers: new Set() };

export function isNoise(fill: Fill, maker: unknown, rules: NoiseRules): boolean {
  if (maker instanceof Uint8Array && rules.blockedMakers.has(Buffer.from(maker).toString('hex'))) return true;
  if (BigInt(fill.quote) >= rules.belowQuote || rules.exemptMarkets.has(fill.marketIndex)) return false;
  const distance = BigInt(Math.abs(fill.price - fill.oracle));
  return distance * 100n > BigInt(fill.oracle) * FAR_PERCENT;
}
