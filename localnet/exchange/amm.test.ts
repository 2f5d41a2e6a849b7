import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  askPrice,
  baseToPrice,
  bidPrice,
  fillFromAmm,
  newAmm,
  repeg,
  reservePrice,
  swapBase,
  updateSpreads,
} from './amm.ts';
import type { PerpMarket } from './markets.ts';
import { PERP_LISTINGS } from './markets.ts';

const [SOL] = PERP_LISTINGS;

function market(): PerpMarket {
  if (!SOL) throw new Error('no listing');
  return { amm: newAmm(SOL, 1), market_stats: { last_oracle_conf_pct: 0n } } as unknown as PerpMarket;
}

const sizes = fc.bigInt({ min: 10_000_000n, max: 2_000_000_000_000n });
const sides = fc.constantFrom('long', 'short' as const);

describe('the vAMM', () => {
  it('quotes an ask above and a bid below its reserve price', () => {
    const perp = market();
    const price = reservePrice(perp.amm.base_asset_reserve, perp.amm.quote_asset_reserve, perp.amm.peg_multiplier);
    updateSpreads(perp, price, price / 2_000n, 2);
    expect(askPrice(perp.amm)).toBeGreaterThan(price);
    expect(bidPrice(perp.amm)).toBeLessThan(price);
    // Half of a spread of 200 parts per million moves the quote reserve, and the price moves by about the whole.
    expect(Number(askPrice(perp.amm)) / Number(price) - 1).toBeCloseTo(perp.amm.long_spread / 1e6, 5);
  });

  it('gives back no more than it took for a round trip', () => {
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

  it('counts what users hold against it and earns its spread', () => {
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

  it('fills to a price and not beyond', () => {
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

  it('moves its peg so that the reserve price meets the oracle', () => {
    const { amm } = market();
    fillFromAmm(amm, 500_000_000_000n, 'long');
    const oracle = 160_000_000n;
    expect(repeg(amm, oracle)).not.toBeNull();
    const price = reservePrice(amm.base_asset_reserve, amm.quote_asset_reserve, amm.peg_multiplier);
    expect(Math.abs(Number(price - oracle))).toBeLessThan(3);
    expect(repeg(amm, oracle)).toBeNull();
  });
});
