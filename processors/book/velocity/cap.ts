// Limits the sum of both spreads to their target: docs/internals/vamm-quotes.md, "Velocity: the cap".

import { ceilDiv, lesser } from '../whole.ts';
import { eachSide, NO_SPREADS, type Sides } from './sides.ts';

/** Both sides in proportion, together at most `target`. The larger one is rounded up, the smaller one gets the rest. */
export function proportionalCap({ long, short }: Sides, target: bigint): Sides {
  const total = long + short;
  if (total <= target) return { long, short };
  if (long > short) {
    const larger = ceilDiv(long * target, total);
    return { long: larger, short: target - larger };
  }
  const larger = ceilDiv(short * target, total);
  return { long: target - larger, short: larger };
}

/**
 * Both sides, together at most `target`. `layers` split them by importance, most important first; a layer takes at most the
 * rest of its side, and the last layer is that rest. Layers get room in this order: the first that does not fit is
 * squeezed, later ones get none.
 */
export function layeredCap(spreads: Sides, layers: readonly Sides[], target: bigint): Sides {
  if (spreads.long + spreads.short <= target) return spreads;
  let left = spreads;
  let room = target;
  let granted = NO_SPREADS;
  for (const wanted of [...layers, spreads]) {
    const layer = eachSide((side) => lesser(wanted[side], left[side]));
    const fitting = proportionalCap(layer, room);
    left = eachSide((side) => left[side] - layer[side]);
    room -= fitting.long + fitting.short;
    granted = eachSide((side) => granted[side] + fitting[side]);
  }
  return granted;
}
