// Values calculated by hand from docs/internals/vamm-quotes.md, with the calculation beside each. Unless a line says otherwise:
// base spread 1000, largest spread 50,000, reserve and oracle price 100, depth 1e14 on either side, volumes 1000 of 10,000.

import { describe, expect, it } from 'vitest';
import { type GivenTerms, inventoryOf, spreadTerms } from '../../../test/support/processors/book/spread-terms.ts';
import { sideSpreads } from './spread.ts';

const spreadsOf = (given: GivenTerms) => {
  const { long, short } = sideSpreads(spreadTerms(given));
  return [Number(long), Number(short)];
};
const flat = { baseSpread: 0 };
/** A tenth of the depth. */
const tenth = inventoryOf(10_000_000_000_000n);
const half = inventoryOf(50_000_000_000_000n);

describe("a Velocity vAMM's spreads", () => {
  it.each<[string, GivenTerms, number[]]>([
    // 1000 / 2
    ['are half the base spread in a quiet market', {}, [500, 500]],
    // 3 / 2
    [
      'are half the base spread of a curve that follows no oracle',
      { amm: { baseSpread: 3, curveUpdateIntensity: 0 } },
      [1, 1],
    ],
    // 1900 / 20
    ['count a small confidence by a twentieth', { amm: flat, terms: { confidence: 1_900n } }, [95, 95]],
    // 2500 / 20 + 500: no step at 25 bps
    ['count a confidence beyond 20 bps fully there', { amm: flat, terms: { confidence: 2_500n } }, [625, 625]],
    // 10,000 / 20 + 8000
    ['count a large confidence almost fully', { amm: flat, terms: { confidence: 10_000n } }, [8_500, 8_500]],
    // 50,000 / 20 + 48,000 = 50,500, at most 50,000; target max(50,000, 2 * 50,000)
    ['count a confidence at most fully', { amm: flat, terms: { confidence: 50_000n } }, [50_000, 50_000]],
    // (2 + 1) % / 2 = 15,000; / 4 = 3750; half of the volume was bought: 1875; 1 of 10,000 sold counts as 1 %: 37
    [
      'are wider by deviation and by each side of the volume',
      {
        amm: flat,
        inputs: { markStd: 2_000_000n, longIntensityVolume: 5_000n, shortIntensityVolume: 1n },
        terms: { oracleStd: 1_000_000n },
      },
      [1_875, 37],
    ],
    // d = (100 - 100.3) / 100 = -3000
    ['keep the asks clear of a higher oracle', { terms: { oraclePrice: 100_300_000n } }, [3_000, 500]],
    // 3000 + 400 / 20
    ['add volatility on the way there', { terms: { oraclePrice: 100_300_000n, confidence: 400n } }, [3_020, 500]],
    ['keep the bids clear of a lower oracle', { terms: { oraclePrice: 99_700_000n } }, [500, 3_000]],
    // most = 50,000 / 500 = 100; 1 + 100 * 0.1 = 11; 500 * 11, and 5500 * 1.00001
    ['are wider on the side of the inventory', { amm: tenth }, [5_500, 500]],
    // inventory 10,000 * 100 - (1e15 - 990099009900990) * 0.1 / 1e3 = 9900.990099; fees the same: 1 + 0.999999 + 0.000001
    [
      'are twice as wide where unpaid value and fees are equal',
      { amm: { ...tenth, totalFeeMinusDistributions: 9_900_990_099n } },
      [11_000, 500],
    ],
    // ten times (5500, 500) = (55,000, 5000), capped: ceil(55,000 * 50,000 / 60,000) = ceil(45,833.3), and the rest
    ['are ten times as wide without fees', { amm: { ...tenth, totalFeeMinusDistributions: 0n } }, [45_834, 4_166]],
    // 1000 * 50 / 25 = 2000, at most 50,000 / 10; half of that to each side
    ['are wider after losses', { amm: { netRevenueSinceLastFunding: -50_000_000n } }, [1_500, 1_500]],
    // 5500 + 2000 and 500 + 1000
    [
      'are wider after losses, above all on the side of the inventory',
      { amm: { ...tenth, netRevenueSinceLastFunding: -50_000_000n } },
      [7_500, 1_500],
    ],
    // 50,000 / 10 / 2 to each side
    [
      'are wider by a tenth of the target after large losses',
      { amm: { netRevenueSinceLastFunding: -30_000_000_000n } },
      [3_000, 3_000],
    ],
    // daily = -1e8 * 1e6 / 1e8 * 24 = -24e6, beyond 300,030: twice
    [
      'are twice as wide for a full funding bias of 100 %',
      {
        amm: inventoryOf(1n),
        inputs: { fundingBiasSensitivity: 100 },
        terms: { last24hAvgFundingRate: -100_000_000n },
      },
      [1_000, 500],
    ],
    // -6250 * 24 = -150,000; 150,000 / 300,030 = 0.49995; 500 * 1.49995 = 749.975
    [
      'have a funding bias in proportion to the rate, up to one part in 3333',
      { amm: inventoryOf(1n), inputs: { fundingBiasSensitivity: 100 }, terms: { last24hAvgFundingRate: -625_000n } },
      [749, 500],
    ],
    [
      'have no funding bias while the vAMM receives funding',
      { amm: inventoryOf(1n), inputs: { fundingBiasSensitivity: 100 }, terms: { last24hAvgFundingRate: 100_000_000n } },
      [500, 500],
    ],
    // 5500 - 2750; 500 - 250, but at least the floor of 500
    [
      'stay at their floor under a negative inventory adjustment',
      { amm: { ...tenth, ammInventorySpreadAdjustment: -50 } },
      [2_750, 500],
    ],
    // 5500 + 1815; 500 + 165
    ['grow by a positive inventory adjustment', { amm: { ...tenth, ammInventorySpreadAdjustment: 33 } }, [7_315, 665]],
    // 500 * 1.5; 500 - 495; 500 - 500, but at least 1
    ['grow by the last adjustment', { amm: { ammSpreadAdjustment: 50 } }, [750, 750]],
    ['shrink by the last adjustment below their floor', { amm: { ammSpreadAdjustment: -99 } }, [5, 5]],
    ['are at least one part after the last adjustment', { amm: { ammSpreadAdjustment: -100 } }, [1, 1]],
    [
      'are adjusted at intensity 0',
      { amm: { baseSpread: 1, curveUpdateIntensity: 0, ammSpreadAdjustment: 10 } },
      [1, 1],
    ],
  ])('%s', (_, given, expected) => {
    expect(spreadsOf(given)).toEqual(expected);
  });

  it.each<[string, GivenTerms, number[]]>([
    // long 20,000 * (1 + 10 * 0.5) = 120,000, short 500, target 50,000. Granted: 20,000 to the oracle, 500 and 500 to the
    // floors, the 29,000 left of 99,500 to the inventory.
    [
      'gives the oracle its way, then the floors, then the inventory',
      {
        amm: { ...half, totalFeeMinusDistributions: 10n ** 18n },
        terms: { oraclePrice: 102_000_000n },
      },
      [49_500, 500],
    ],
    // floors 30,000 and 30,000 squeezed to 50,000
    ['squeezes the floors in their proportion', { amm: { baseSpread: 60_000 } }, [25_000, 25_000]],
    // floors 24,000 and 24,000 stand; of the retreat of 2500 and 2500 the 2000 left
    [
      'gives the rest last',
      { amm: { baseSpread: 48_000, netRevenueSinceLastFunding: -30_000_000_000n } },
      [25_000, 25_000],
    ],
    // d = -1,500,000 counts as -1e6 in the spread and the target, so that the oracle alone takes all of it
    ['leaves nothing else beside an oracle far away', { terms: { oraclePrice: 250_000_000n } }, [1_000_000, 0]],
  ])('while capped %s', (_, given, expected) => {
    expect(spreadsOf(given)).toEqual(expected);
  });
});
