// P&L of a perp position (docs/internals/accounts.md, "Positions and P&L"). Divisions truncate toward zero.

import { BASE_PRECISION } from './scales.ts';

/** Base 1e9 times funding 1e9 to quote 1e6. */
const FUNDING_SCALE = 10n ** 12n;

export interface HeldPosition {
  /** Base 1e9. */
  readonly baseAssetAmount: bigint;
  /** Quote 1e6. */
  readonly quoteAssetAmount: bigint;
  /** Funding 1e9. */
  readonly lastCumulativeFundingRate: bigint;
}

/** Funding 1e9. */
export interface CumulativeFunding {
  readonly cumulativeFundingRateLong: bigint;
  readonly cumulativeFundingRateShort: bigint;
}

/** P&L at a price (1e6), with the funding that the position has not settled yet; quote 1e6. */
export function positionPnl(held: HeldPosition, funding: CumulativeFunding, price: bigint): bigint {
  const { baseAssetAmount: base, quoteAssetAmount: quote, lastCumulativeFundingRate: last } = held;
  if (base === 0n) return quote;
  const cumulative = base > 0n ? funding.cumulativeFundingRateLong : funding.cumulativeFundingRateShort;
  return (base * price) / BASE_PRECISION + quote - ((cumulative - last) * base) / FUNDING_SCALE;
}
