import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { baseToPrice, fillFromAmm, newAmm, repeg, reservePrice, swapBase } from './amm.ts';
import type { Amm } from './markets.ts';
import { PERP_LISTINGS } from './markets.ts';

const [SOL] = PERP_LISTINGS;

function market(): { amm: Amm } {
  if (!SOL) throw new Error('no listing');
  return { amm: newAmm(SOL, 1) };
}

const sizes = fc.bigInt({ min: 10_000_000n, max: 2_000_000_000_000n });
const sides = fc.constantFrom('long', 'short' as const);

describe('the vAMM', () => {
  it('returns at most its input for a round trip', () => {
    fc.assert(
      fc.property(sizes, sides, (size, side) => {
        const { amm } = market();
        const there = swapBase(amm, amm.base_asset_reserve, amm.quote_asset_reserve, size, side);
        const back = swapBase(amm, there.base, there.quote, size, side === 'long' ? 'short' : 'long');
        const gain = side === 'long' ? back.exchanged - there.exchanged : there.exchanged - back.exchanged;
        expect(gain).toBeLessThanOrEqual(0n);
      }),
    );
  });

  it("counts the users' net position and earns its spread", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(sizes, sides), { maxLength: 12 }), (fills) => {
        const { amm } = market();
        let held = 0n;
        for (const [size, side] of fills) {
          const { surplus } = fillFromAmm(amm, size, side);
          expect(surplus).toBeGreaterThanOrEqual(-1n);
          held += side === 'long' ? size : -size;
        }
        expect(amm.base_asset_amount_with_amm).toBe(held);
        expect(amm.base_asset_reserve).toBe(amm.sqrt_k - held);
      }),
    );
  });

  it('fills up to a price', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 150 }), sides, (bps, side) => {
        const { amm } = market();
        const start = reservePrice(amm.base_asset_reserve, amm.quote_asset_reserve, amm.peg_multiplier);
        const target = start + ((side === 'long' ? 1n : -1n) * start * BigInt(bps)) / 10_000n;
        const base = baseToPrice(amm, amm.base_asset_reserve, target, side, 1n);
        const after = swapBase(amm, amm.base_asset_reserve, amm.quote_asset_reserve, base, side);
        const reached = reservePrice(after.base, after.quote, amm.peg_multiplier);
        expect(side === 'long' ? reached <= target + 1n : reached >= target - 1n).toBe(true);
        expect(Math.abs(Number(reached - target))).toBeLessThan(Number(target) / 1e5);
      }),
    );
  });

  it('moves its peg to align the reserve price with the oracle', () => {
    const { amm } = market();
    fillFromAmm(amm, 500_000_000_000n, 'long');
    const oracle = 160_000_000n;
    expect(repeg(amm, oracle, 10_000_000n)).not.toBeNull();
    const price = reservePrice(amm.base_asset_reserve, amm.quote_asset_reserve, amm.peg_multiplier);
    expect(Math.abs(Number(price - oracle))).toBeLessThan(3);
    expect(repeg(amm, oracle, 10_000_000n)).toBeNull();
  });
});
