import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ammOf } from '../../../test/support/processors/book/messages.ts';
import { driftCurve } from './curve.ts';

const AT_HUNDRED = 100_000_000n;
/** Equal reserves, so that the peg is the price: 100 quote units a base unit. */
const followed = { curveUpdateIntensity: 100, totalFeeMinusDistributions: 10n ** 12n, totalExchangeFee: 0n } as const;
const priceOf = (amm: ReturnType<typeof ammOf>) => (amm.quoteAssetReserve * amm.pegMultiplier) / amm.baseAssetReserve;

describe('a Drift curve at the current oracle', () => {
  it('moves its peg to the oracle for nothing when users hold no net position', () => {
    const amm = ammOf({ ...followed, totalFeeMinusDistributions: 0n });
    const live = driftCurve(amm, 103_000_000n);
    expect(live.pegMultiplier).toBe(103_000_000n);
    expect(live).toMatchObject({
      sqrtK: amm.sqrtK,
      baseAssetReserve: amm.baseAssetReserve,
      totalFeeMinusDistributions: 0n,
    });
  });

  it('has no spread reserves after a move, so its spreads decide them', () => {
    const stored = {
      askBaseAssetReserve: 1n,
      askQuoteAssetReserve: 1n,
      bidBaseAssetReserve: 1n,
      bidQuoteAssetReserve: 1n,
    };
    const none = {
      askBaseAssetReserve: 0n,
      askQuoteAssetReserve: 0n,
      bidBaseAssetReserve: 0n,
      bidQuoteAssetReserve: 0n,
    };
    expect(driftCurve(ammOf({ ...followed, ...stored }), 101_000_000n)).toMatchObject(none);
    expect(driftCurve(ammOf({ ...followed, ...stored }), AT_HUNDRED)).toMatchObject(stored);
  });

  it('stays as stored when the market does not follow its oracle', () => {
    const amm = ammOf({ ...followed, curveUpdateIntensity: 0 });
    expect(driftCurve(amm, 103_000_000n)).toBe(amm);
  });

  it('stays as stored when its price is already the oracle price', () => {
    const amm = ammOf(followed);
    expect(driftCurve(amm, AT_HUNDRED)).toBe(amm);
  });

  it('stays as stored when the message lacks the fees that would pay', () => {
    const amm = ammOf({ ...followed, totalExchangeFee: null });
    expect(driftCurve(amm, 103_000_000n)).toBe(amm);
  });

  it.each([
    ['no oracle price', {}, 0n],
    ['no base', { baseAssetReserve: 0n }, AT_HUNDRED],
    ['no quote', { quoteAssetReserve: 0n }, AT_HUNDRED],
    ['an inventory larger than the curve', { baseAssetAmountWithAmm: -(10n ** 15n) }, AT_HUNDRED],
  ])('stays as the chain has it with %s', (_, terms, oracle) => {
    const amm = ammOf({ ...followed, ...terms });
    expect(driftCurve(amm, oracle)).toBe(amm);
  });

  it('pays its users for a move in their favour from the fees left', () => {
    // Users are long a tenth of the curve: a higher peg pays them the difference.
    const amm = ammOf({ ...followed, ...longUsers });
    const live = driftCurve(amm, 101_000_000n);
    expect(live.sqrtK).toBe(amm.sqrtK);
    expect(live.totalFeeMinusDistributions).toBeLessThan(amm.totalFeeMinusDistributions);
    expect(priceOf(live)).toBeGreaterThanOrEqual(100_999_900n);
  });

  it('lowers k and goes only part of the way when it cannot pay', () => {
    const amm = ammOf({ ...followed, ...longUsers, totalFeeMinusDistributions: 0n, maxSpread: 500_000 });
    const live = driftCurve(amm, 110_000_000n);
    expect(live.sqrtK).toBe((amm.sqrtK * 999n) / 1_000n);
    expect(priceOf(live)).toBeLessThan(110_000_000n);
  });

  it('never throws for any account, and never quotes from a peg or reserves below one', () => {
    const amount = (max: bigint) => fc.bigInt({ min: 0n, max });
    const signed = (max: bigint) => fc.bigInt({ min: -max, max });
    const terms = fc.record({
      baseAssetReserve: amount(10n ** 16n),
      quoteAssetReserve: amount(10n ** 16n),
      terminalQuoteAssetReserve: amount(10n ** 16n),
      sqrtK: amount(10n ** 16n),
      pegMultiplier: amount(10n ** 12n),
      baseAssetAmountWithAmm: signed(10n ** 16n),
      totalFeeMinusDistributions: signed(10n ** 18n),
      totalExchangeFee: fc.option(amount(10n ** 18n)),
      maxSpread: fc.nat({ max: 1_000_000 }),
      curveUpdateIntensity: fc.nat({ max: 200 }),
    });
    fc.assert(
      fc.property(terms, signed(10n ** 12n), (some, oracle) => {
        const amm = ammOf(some);
        const live = driftCurve(amm, oracle);
        if (live === amm) return;
        expect(live.pegMultiplier).toBeGreaterThan(0n);
        expect(live.baseAssetReserve).toBeGreaterThan(0n);
      }),
      { numRuns: 2_000 },
    );
  });
});

const longUsers = {
  baseAssetReserve: 900_000_000_000_000n,
  quoteAssetReserve: 1_111_111_111_111_111n,
  terminalQuoteAssetReserve: 1_000_000_000_000_000n,
  baseAssetAmountWithAmm: 100_000_000_000_000n,
  pegMultiplier: 81_000_000n,
} as const;
