// Spread reserves of a Velocity vAMM: docs/internals/vamm-quotes.md, "Velocity: spread reserves".

import type { AmmState } from '../../../schemas/index.ts';
import type { Reserves } from '../vamm.ts';
import { greater, lesser } from '../whole.ts';
import { ONE, type Sides } from './sides.ts';

export interface QuotedReserves {
  readonly bid: Reserves;
  readonly ask: Reserves;
}

/** Reserves of both sides. Without an offset the ask is not below the reserve price, nor the bid above it. */
export function quotedReserves(curve: AmmState, spreads: Sides, offset: bigint): QuotedReserves {
  const plain = { base: curve.baseAssetReserve, quote: curve.quoteAssetReserve };
  const ask = movedReserves(plain, curve.sqrtK, offset + spreads.long);
  const bid = movedReserves(plain, curve.sqrtK, offset - spreads.short);
  if (offset !== 0n) return { bid, ask };
  return {
    ask: { base: lesser(ask.base, plain.base), quote: greater(ask.quote, plain.quote) },
    bid: { base: greater(bid.base, plain.base), quote: lesser(bid.quote, plain.quote) },
  };
}

/** The quote reserve moved by half of a signed spread, the base reserve by the invariant; unmoved without a quote reserve. */
function movedReserves(plain: Reserves, sqrtK: bigint, spread: bigint): Reserves {
  const quote = plain.quote + (plain.quote * spread) / (2n * ONE);
  return quote > 0n ? { base: (sqrtK * sqrtK) / quote, quote } : plain;
}
