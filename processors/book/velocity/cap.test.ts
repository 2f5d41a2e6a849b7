import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lesser } from '../whole.ts';
import { layeredCap, proportionalCap } from './cap.ts';

const side = fc.bigInt({ min: 0n, max: 2_000_000n });
const sides = fc.record({ long: side, short: side });
const total = ({ long, short }: { long: bigint; short: bigint }) => long + short;

describe('spreads within their target', () => {
  it('keep their proportion to one part, the larger one rounded up', () => {
    expect(proportionalCap({ long: 2n, short: 1n }, 2n)).toEqual({ long: 2n, short: 0n });
    fc.assert(
      fc.property(sides, side, (spreads, target) => {
        const capped = proportionalCap(spreads, target);
        if (total(spreads) <= target) {
          expect(capped).toEqual(spreads);
          return;
        }
        expect(total(capped)).toBe(target);
        const larger = spreads.long > spreads.short ? 'long' : 'short';
        const share = capped[larger] * total(spreads) - spreads[larger] * target;
        expect(share >= 0n && share < total(spreads)).toBe(true);
      }),
    );
  });

  it('give an earlier layer all its room before a later one has any', () => {
    fc.assert(
      fc.property(sides, fc.array(sides, { maxLength: 4 }), side, (spreads, layers, target) => {
        const capped = layeredCap(spreads, layers, target);
        expect(total(capped)).toBe(lesser(total(spreads), target));
        expect(capped.long).toBeLessThanOrEqual(spreads.long);
        expect(capped.short).toBeLessThanOrEqual(spreads.short);
        expect(capped.long >= 0n && capped.short >= 0n).toBe(true);
        // The first layer is granted whole where it fits.
        const [first] = layers;
        if (!first) return;
        const wanted = {
          long: lesser(first.long, spreads.long),
          short: lesser(first.short, spreads.short),
        };
        if (total(wanted) > target) return;
        expect(capped.long).toBeGreaterThanOrEqual(wanted.long);
        expect(capped.short).toBeGreaterThanOrEqual(wanted.short);
      }),
    );
  });
});
