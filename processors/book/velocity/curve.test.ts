import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AmmState, BookMarket, SpreadInputs } from '../../../schemas/index.ts';
import { marketOf, spreadInputsOf } from '../../../test/support/processors/book/messages.ts';
import { AT_HUNDRED, followingAmm, inventoryOf } from '../../../test/support/processors/book/spread-terms.ts';
import { velocityCurve } from './curve.ts';

interface Given {
  readonly amm?: Partial<AmmState>;
  readonly inputs?: Partial<SpreadInputs>;
  readonly minOrderSize?: bigint;
}

const stored = (given: Given) => followingAmm({ baseSpread: 0, ...given.amm });
function curveAt(oracle: bigint, given: Given = {}): AmmState {
  const { value } = marketOf({ minOrderSize: given.minOrderSize ?? 10_000_000n });
  return velocityCurve(value as BookMarket, stored(given), spreadInputsOf(given.inputs), oracle);
}

/** A twentieth of the curve, half of the depth. Users are long, so a higher peg pays them. */
const usersLong = inventoryOf(50_000_000_000_000n);
const usersShort = inventoryOf(-50_000_000_000_000n);
const broke = { totalFeeMinusDistributions: 0n };

describe("a Velocity vAMM's curve at the current oracle price", () => {
  it('moves its peg to the oracle for nothing when users hold no net position', () => {
    expect(curveAt(103_000_000n, { amm: { totalFeeMinusDistributions: -5n } })).toMatchObject({
      pegMultiplier: 103_000_000n,
      totalFeeMinusDistributions: -5n,
      sqrtK: 10n ** 15n,
    });
  });

  it('pays users for the move from all fees left, the exchange fee included', () => {
    // (1e15 - 909,090,909,090,909) * 1e6 / 1e9 = 90,909,090,909 of 1e12
    const amm = {
      ...inventoryOf(10n ** 14n),
      totalFeeMinusDistributions: 10n ** 12n,
      totalExchangeFee: 2n * 10n ** 12n,
    };
    expect(curveAt(101_000_000n, { amm })).toMatchObject({
      pegMultiplier: 101_000_000n,
      totalFeeMinusDistributions: 909_090_909_091n,
      netRevenueSinceLastFunding: -90_909_090_909n,
    });
  });

  it('lowers k by a thousandth without fees, and goes as far as that pays for', () => {
    // sqrt k 999e12, ratio 0.999000001: base 999,000,001,000,000, quote 999,000,000,000,000^2 / base. Closing the inventory
    // of 5e13 at the peg of 100: 4,761,904,761,904 before, 4,761,677,779,064 after, so 226,982,840 are freed. A peg part costs
    // ceil(47,616,777,790,642 / 1000) + 1 = 47,616,777,792: 226,982,840e6 / 47,616,777,792 = 4766.
    expect(curveAt(101_000_000n, { amm: { ...usersLong, ...broke, maxSpread: 500_000 } })).toMatchObject({
      sqrtK: 999_000_000_000_000n,
      baseAssetReserve: 999_000_001_000_000n,
      quoteAssetReserve: 998_999_999_000_000n,
      terminalQuoteAssetReserve: 951_383_221_209_358n,
      pegMultiplier: 100_004_766n,
      totalFeeMinusDistributions: -226_941_562n,
    });
  });

  it('lowers k for users who are short as well', () => {
    expect(curveAt(99_000_000n, { amm: { ...usersShort, ...broke, maxSpread: 500_000 } })).toMatchObject({
      sqrtK: 999_000_000_000_000n,
      pegMultiplier: 99_994_732n,
      totalFeeMinusDistributions: -277_277_765n,
    });
  });

  it('trades between bounds of its concentration once k is lower', () => {
    // Closed base 999,000,001,000,000 + 5e13 = 1,049,000,001,000,000, over and times 1.414213
    expect(curveAt(101_000_000n, { amm: { ...usersLong, ...broke, maxSpread: 500_000 } })).toMatchObject({
      minBaseAssetReserve: 741_755_309_136_601n,
      maxBaseAssetReserve: 1_483_509_438_414_213n,
    });
  });

  it('continues to half of the largest spread from the oracle, whatever is left', () => {
    // 110 less 5 % of it is 104.5; the cost per part is rounded up, so the peg ends one part short.
    const given = { amm: { ...usersLong, ...broke, maxSpread: 100_000 }, inputs: { marketConfig: 1 } };
    expect(curveAt(110_000_000n, given).pegMultiplier).toBe(104_499_999n);
  });

  it.each<[string, Given]>([
    ['the market says so', { inputs: { marketConfig: 1 } }],
    ['its intensity is below 100', { amm: { curveUpdateIntensity: 99 } }],
    ['the inventory is all of the thinner depth', { amm: { maxBaseAssetReserve: 1_050_000_000_000_000n } }],
    ['the smallest order is as large as the depth', { minOrderSize: 100_000_000_000_000n }],
  ])('keeps its k when %s', (_, given) => {
    const amm = { ...usersLong, ...broke, maxSpread: 500_000, ...given.amm };
    expect(curveAt(101_000_000n, { ...given, amm }).sqrtK).toBe(10n ** 15n);
  });

  it('keeps k only for its own bit of the market', () => {
    const amm = { ...usersLong, ...broke, maxSpread: 500_000 };
    expect(curveAt(101_000_000n, { amm, inputs: { marketConfig: 2 } }).sqrtK).toBe(999_000_000_000_000n);
    expect(curveAt(101_000_000n, { amm, inputs: { marketConfig: null } }).sqrtK).toBe(999_000_000_000_000n);
  });

  it('does not move where fees would have to go below zero for it', () => {
    const amm = { ...usersLong, totalFeeMinusDistributions: 10n ** 9n, maxSpread: 500_000 };
    expect(curveAt(101_000_000n, { amm })).toEqual(stored({ amm }));
  });

  it.each<[string, Partial<AmmState>, bigint]>([
    ['the market does not follow its oracle', { curveUpdateIntensity: 0 }, 103_000_000n],
    ['its price is the oracle', {}, AT_HUNDRED],
    ['there is no oracle price', {}, 0n],
    ['there is no base', { baseAssetReserve: 0n }, AT_HUNDRED],
    ['there is no quote', { quoteAssetReserve: 0n }, AT_HUNDRED],
    ['the inventory is larger than the curve', { baseAssetAmountWithAmm: -(10n ** 15n) }, AT_HUNDRED],
  ])('stays as the chain has it when %s', (_, amm, oracle) => {
    expect(curveAt(oracle, { amm })).toEqual(stored({ amm }));
  });

  it('never goes beyond the oracle while fees pay, and never to a peg or reserves below one', () => {
    const terms = fc.record({
      inventory: fc.bigInt({ min: -3n * 10n ** 14n, max: 3n * 10n ** 14n }),
      fees: fc.bigInt({ min: -(10n ** 9n), max: 10n ** 13n }),
      maxSpread: fc.nat({ max: 600_000 }),
      intensity: fc.nat({ max: 255 }),
      oracle: fc.bigInt({ min: 1n, max: 400_000_000n }),
    });
    fc.assert(
      fc.property(terms, ({ inventory, fees, maxSpread, intensity, oracle }) => {
        const amm = {
          ...inventoryOf(inventory),
          totalFeeMinusDistributions: fees,
          maxSpread,
          curveUpdateIntensity: intensity,
        };
        const moved = curveAt(oracle, { amm });
        expect(moved.pegMultiplier).toBeGreaterThan(0n);
        expect(moved.baseAssetReserve).toBeGreaterThan(0n);
        expect(moved.quoteAssetReserve).toBeGreaterThan(0n);
        expect(moved.sqrtK).toBeLessThanOrEqual(10n ** 15n);
        expect(moved.sqrtK).toBeGreaterThanOrEqual(999_000_000_000_000n);
        if (moved.sqrtK !== 10n ** 15n) return;
        const [low, high] = oracle < AT_HUNDRED ? [oracle, AT_HUNDRED] : [AT_HUNDRED, oracle];
        expect(moved.pegMultiplier >= low - 1n && moved.pegMultiplier <= high).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});
