// Keeps both quotes on their side of the oracle: docs/internals/vamm-quotes.md, "Velocity: the oracle guard".

import { ceilDiv, greater, lesser, squareRoot } from '../whole.ts';
import { ONE, type Sides } from './sides.ts';

/**
 * Widens spreads so that the ask is not below the oracle and the bid not above it. That holds for reserve price * (1 + spread),
 * and for the price of the moved reserves. Together at most 100 %. Prices above zero.
 */
export function guardedSpreads(spreads: Sides, offset: bigint, reservePrice: bigint, oraclePrice: bigint): Sides {
  const needed = neededSpreads(offset, reservePrice, oraclePrice);
  const short = greater(spreads.short, lesser(needed.short, ONE - spreads.long));
  const long = greater(spreads.long, lesser(needed.long, ONE - short));
  return { long, short };
}

function neededSpreads(offset: bigint, reservePrice: bigint, oraclePrice: bigint): Sides {
  const ratioDown = (oraclePrice * ONE) / reservePrice;
  const ratioUp = ceilDiv(oraclePrice * ONE, reservePrice);
  const square = oraclePrice * ONE * ONE;
  const rootDown = squareRoot(square / reservePrice);
  const rootUp = rootDown * rootDown * reservePrice === square ? rootDown : rootDown + 1n;
  return {
    long: greater(ratioUp - ONE - offset, withMargin(2n * (rootUp - ONE) - offset)),
    short: greater(ONE + offset - ratioDown, withMargin(offset + 2n * (ONE - rootDown))),
  };
}

/** One part more, because moving the reserves truncates. */
function withMargin(spread: bigint): bigint {
  return spread > 0n ? spread + 1n : spread;
}
