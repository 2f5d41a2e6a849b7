// Terms of a vAMM's spreads for tests. The curve is at its oracle of 100, the base spread is 1000 parts, fees allow
// any leverage, and either side is 1e14 base deep.

import fc from 'fast-check';
import type { SpreadTerms } from '../../../../processors/book/velocity/spread.ts';
import type { AmmState, BookMarket, BookOracle, SpreadInputs } from '../../../../schemas/index.ts';
import { ammOf, marketOf, oracleOf, spreadInputsOf } from './messages.ts';

export const AT_HUNDRED = 100_000_000n;
/** Time of the oracle price, Unix seconds. */
export const ORACLE_TS = 1_700_000_000n;
const RESERVE = 10n ** 15n;

export interface GivenTerms {
  readonly amm?: Partial<AmmState>;
  readonly inputs?: Partial<SpreadInputs>;
  readonly terms?: Partial<SpreadTerms>;
}

/** An inventory with its terminal quote reserve. */
export function inventoryOf(base: bigint): Partial<AmmState> {
  return { baseAssetAmountWithAmm: base, terminalQuoteAssetReserve: (RESERVE * RESERVE) / (RESERVE + base) };
}

/** A curve that follows its oracle. */
export function followingAmm(amm: Partial<AmmState> = {}): AmmState {
  return ammOf({ curveUpdateIntensity: 100, totalFeeMinusDistributions: RESERVE, baseSpread: 1_000, ...amm });
}

export interface QuotingTerms {
  readonly amm?: Partial<AmmState>;
  readonly inputs?: Partial<SpreadInputs>;
  readonly market?: Partial<BookMarket>;
  readonly oracle?: Partial<BookOracle>;
}

/** A market whose vAMM quotes at the current oracle price, and that oracle. */
export function quotingMarket({ amm, inputs, market, oracle }: QuotingTerms = {}) {
  const curve = followingAmm(amm);
  const spreadInputs = spreadInputsOf(inputs);
  return {
    amm: curve,
    inputs: spreadInputs,
    market: marketOf({ last24hAvgFundingRate: 0n, amm: curve, spreadInputs, ...market }).value as BookMarket,
    oracle: oracleOf({ price: AT_HUNDRED, confidence: 0n, publishTs: ORACLE_TS, ...oracle }).value as BookOracle,
  };
}

/** Terms of a Velocity vAMM. */
export function spreadTerms({ amm, inputs, terms }: GivenTerms = {}): SpreadTerms {
  return {
    curve: followingAmm(amm),
    inputs: spreadInputsOf(inputs),
    last24hAvgFundingRate: 0n,
    reservePrice: AT_HUNDRED,
    oraclePrice: AT_HUNDRED,
    confidence: 0n,
    oracleStd: 0n,
    ...terms,
  };
}

const whole = (min: number, max: number) => fc.bigInt({ min: BigInt(min), max: BigInt(max) });
const nearby = fc.oneof(whole(0, 3_000), whole(0, 300_000));

/** Any market that an administrator and a day's trading can produce. */
export const anyTerms: fc.Arbitrary<SpreadTerms> = fc
  .record({
    intensity: fc.integer({ min: 1, max: 255 }),
    baseSpread: fc.oneof(fc.nat({ max: 3 }), fc.nat({ max: 20_000 })),
    maxSpread: fc.nat({ max: 600_000 }),
    percents: fc.tuple(fc.constantFrom(0, 0, -100, -37, 1, 40, 127), fc.constantFrom(0, 0, -100, -37, 1, 40, 127)),
    revenue: fc.oneof(whole(-1e8, 1e8), whole(-1e11, 1e11)),
    fees: fc.oneof(whole(-1e9, 1e9), whole(1, 1e15)),
    /** Parts per thousand of the base reserve. */
    inventory: fc.oneof(fc.constant(0n), whole(-200, 200)),
    markStd: nearby,
    oracleStd: nearby,
    confidence: nearby,
    volumes: fc.tuple(whole(0, 1e12), whole(0, 1e12), whole(0, 2e12)),
    fundingRate: fc.oneof(fc.constant(0n), whole(-1e8, 1e8)),
    bias: fc.nat({ max: 255 }),
    /** Parts per million of the reserve price. */
    oracle: fc.oneof(whole(999_000, 1_001_000), whole(500_000, 2_000_000), whole(1, 9_000_000)),
  })
  .map((some) => {
    const [longIntensityVolume, shortIntensityVolume, volume24H] = some.volumes;
    const [ammSpreadAdjustment, ammInventorySpreadAdjustment] = some.percents;
    return spreadTerms({
      amm: {
        ...inventoryOf((RESERVE * some.inventory) / 1_000n),
        curveUpdateIntensity: some.intensity,
        baseSpread: some.baseSpread,
        maxSpread: some.maxSpread,
        ammSpreadAdjustment,
        ammInventorySpreadAdjustment,
        netRevenueSinceLastFunding: some.revenue,
        totalFeeMinusDistributions: some.fees,
      },
      inputs: {
        markStd: some.markStd * 100n,
        longIntensityVolume,
        shortIntensityVolume,
        volume24H,
        fundingBiasSensitivity: some.bias,
      },
      terms: {
        last24hAvgFundingRate: some.fundingRate,
        oraclePrice: (AT_HUNDRED * some.oracle) / 1_000_000n,
        confidence: some.confidence,
        oracleStd: some.oracleStd * 100n,
      },
    });
  });

/** The mirrored market: inventory, funding, volumes and the oracle's side reversed. */
export function mirrored(terms: SpreadTerms): SpreadTerms {
  const { curve, inputs } = terms;
  return {
    ...terms,
    curve: {
      ...curve,
      baseAssetAmountWithAmm: -curve.baseAssetAmountWithAmm,
      // Without leverage, which differs between the signs on one curve.
      terminalQuoteAssetReserve: curve.quoteAssetReserve,
    },
    inputs: {
      ...inputs,
      longIntensityVolume: inputs.shortIntensityVolume,
      shortIntensityVolume: inputs.longIntensityVolume,
    },
    last24hAvgFundingRate: -terms.last24hAvgFundingRate,
    oraclePrice: 2n * terms.reservePrice - terms.oraclePrice,
  };
}
