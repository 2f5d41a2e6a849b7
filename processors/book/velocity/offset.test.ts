import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AmmState, BookMarket, SpreadInputs } from '../../../schemas/index.ts';
import { marketOf, spreadInputsOf } from '../../../test/support/processors/book/messages.ts';
import { AT_HUNDRED, followingAmm } from '../../../test/support/processors/book/spread-terms.ts';
import { referenceOffset } from './offset.ts';

interface Given {
  readonly amm?: Partial<AmmState>;
  readonly inputs?: Partial<SpreadInputs>;
  readonly market?: Partial<BookMarket>;
}

const TENTH = 10_000_000_000_000n;
const above = { lastMarkPriceTwap5Min: 101_000_000n, last24hAvgFundingRate: 100_000_000n };
const below = { lastMarkPriceTwap5Min: 99_000_000n, last24hAvgFundingRate: -100_000_000n };

/** At an intensity of 150 the offset is at most 100 * 50 parts; the largest spread is 50,000, the mean depth 1e14. */
function offsetOf({ amm, inputs, market }: Given): number {
  const curve = followingAmm({ curveUpdateIntensity: 150, baseAssetAmountWithAmm: TENTH, ...amm });
  const twaps = { lastOraclePriceTwap: AT_HUNDRED, lastOraclePriceTwap5Min: AT_HUNDRED };
  const { value } = marketOf({ ...twaps, lastMarkPriceTwap5Min: AT_HUNDRED, last24hAvgFundingRate: 0n, ...market });
  return Number(referenceOffset(value as BookMarket, curve, spreadInputsOf(inputs), AT_HUNDRED));
}

describe("a Velocity vAMM's reference offset", () => {
  it.each<[string, Given, number]>([
    // All premiums at their bound of 0.5; an inventory of a tenth has it whole.
    ['is whole from a tenth of the depth on', { market: above }, 5_000],
    ['is in proportion to a smaller inventory', { amm: { baseAssetAmountWithAmm: TENTH / 2n }, market: above }, 2_500],
    // 10 % less 3 % of the depth: 70,000 of 100,000
    ['is less by the dead band', { inputs: { referencePriceOffsetDeadbandPct: 3 }, market: above }, 3_500],
    ['is nothing within the dead band', { inputs: { referencePriceOffsetDeadbandPct: 10 }, market: above }, 0],
    [
      'is up to half the largest spread at intensity 200',
      { amm: { curveUpdateIntensity: 200 }, market: above },
      25_000,
    ],
    [
      'is up to half the largest spread at intensity 255',
      { amm: { curveUpdateIntensity: 255 }, market: above },
      25_000,
    ],
    ['is up to 1 % there at least', { amm: { curveUpdateIntensity: 200, maxSpread: 4_000 }, market: above }, 10_000],
    ['is up to half of a small largest spread below that', { amm: { maxSpread: 4_000 }, market: above }, 2_000],
    ['is nothing up to intensity 100', { amm: { curveUpdateIntensity: 100 }, market: above }, 0],
    [
      'is nothing for an inventory on the other side of the premium',
      { amm: { baseAssetAmountWithAmm: -TENTH }, market: above },
      0,
    ],
    [
      'is below zero with users short under the oracle',
      { amm: { baseAssetAmountWithAmm: -TENTH }, inputs: { lastMarkPriceTwap: 99_000_000n }, market: below },
      -5_000,
    ],
    ['is nothing without an inventory', { amm: { baseAssetAmountWithAmm: 0n }, market: above }, 0],
    ['is nothing without a funding rate', { market: { ...above, last24hAvgFundingRate: 0n } }, 0],
    // 1250 * 24 = 30,000, less 1e8 / 3333 = 30,003: -3 / 3 is no part of 100
    ['counts only funding beyond its constant part', { market: { last24hAvgFundingRate: 1_250_000n } }, 0],
    // 24,000 - 30,003 = -6003; / 3 = -2001, -20 parts: the other side
    [
      'takes funding below its constant part for a discount',
      { amm: { baseAssetAmountWithAmm: -TENTH }, market: { last24hAvgFundingRate: 1_000_000n } },
      -5_000,
    ],
  ])('%s', (_, given, expected) => {
    expect(offsetOf(given)).toBe(expected);
  });

  it('has the sign of the inventory, and grows with it up to its bound', () => {
    const some = fc.record({
      intensity: fc.integer({ min: 101, max: 255 }),
      inventory: fc.bigInt({ min: -2n * 10n ** 14n, max: 2n * 10n ** 14n }),
      maxSpread: fc.nat({ max: 600_000 }),
      referencePriceOffsetDeadbandPct: fc.nat({ max: 30 }),
      mark: fc.bigInt({ min: 98_000_000n, max: 102_000_000n }),
      last24hAvgFundingRate: fc.bigInt({ min: -100_000_000n, max: 100_000_000n }),
    });
    let quoted = 0;
    fc.assert(
      fc.property(some, ({ intensity, inventory, maxSpread, mark, last24hAvgFundingRate, ...dead }) => {
        const given = (baseAssetAmountWithAmm: bigint) =>
          offsetOf({
            amm: { curveUpdateIntensity: intensity, maxSpread, baseAssetAmountWithAmm },
            inputs: { ...dead, lastMarkPriceTwap: mark },
            market: { lastMarkPriceTwap5Min: mark, last24hAvgFundingRate },
          });
        const offset = given(inventory);
        const most =
          intensity >= 200 ? Math.max(maxSpread / 2, 10_000) : Math.min(maxSpread / 2, 100 * (intensity - 100));
        expect(Math.abs(offset)).toBeLessThanOrEqual(most);
        expect(Number.isInteger(offset)).toBe(true);
        if (offset !== 0) expect(Math.sign(offset)).toBe(inventory > 0n ? 1 : -1);
        expect(Math.abs(given(2n * inventory))).toBeGreaterThanOrEqual(Math.abs(offset));
        if (offset !== 0) quoted += 1;
      }),
      { numRuns: 2_000 },
    );
    expect(quoted).toBeGreaterThan(300);
  });
});
