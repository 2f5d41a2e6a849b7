import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ORACLE_TS, quotingMarket } from '../../test/support/processors/book/spread-terms.ts';
import { driftCurve } from './drift/curve.ts';
import { driftQuote } from './drift/quote.ts';
import { liveQuote, quotingOracle } from './live-quote.ts';
import { vammBook } from './vamm.ts';
import { velocityQuote } from './velocity/quote.ts';

describe('the quote of a vAMM at the current oracle price', () => {
  it("follows the rule of the market's program", () => {
    // The two programs weigh a wide confidence differently.
    const quoteOf = (fundingBiasSensitivity: number | null) => {
      const { amm, inputs, market, oracle } = quotingMarket({
        inputs: { fundingBiasSensitivity },
        oracle: { confidence: 400_000n },
      });
      const seen = quotingOracle(market, oracle);
      return [
        liveQuote(market, amm, seen),
        velocityQuote(market, amm, inputs, seen),
        driftQuote(market, amm, inputs, seen),
      ] as const;
    };
    const [velocity, wantedVelocity, unwantedDrift] = quoteOf(0);
    expect(velocity).toEqual(wantedVelocity);
    expect(velocity).not.toEqual(unwantedDrift);
    const [drift, unwantedVelocity, wantedDrift] = quoteOf(null);
    expect(drift).toEqual(wantedDrift);
    expect(drift).not.toEqual(unwantedVelocity);
  });

  it('has the stored spreads where their inputs are unknown', () => {
    const { amm, market, oracle } = quotingMarket({ market: { spreadInputs: null } });
    const moved = { ...quotingOracle(market, oracle), price: 103_000_000n };
    expect(liveQuote(market, amm, moved)).toEqual(driftCurve(amm, moved.price));
    expect(liveQuote(market, amm, quotingOracle(market, oracle))).toBe(amm);
  });

  it("counts the distance between the market maker's oracle and the exchange's as uncertainty", () => {
    const { market, oracle } = quotingMarket({
      market: { mmOraclePrice: 100_500_000n, mmOracleSlot: 5n },
      oracle: { oracleSlot: 4n, confidence: 1_000n },
    });
    expect(quotingOracle(market, oracle)).toEqual({
      price: 100_500_000n,
      confidence: 501_000n,
      slot: 5n,
      ts: ORACLE_TS,
    });
  });

  it('never throws, whatever account and oracle say', () => {
    const amount = (max: bigint) => fc.bigInt({ min: 0n, max });
    const signed = (max: bigint) => fc.bigInt({ min: -max, max });
    const percent = fc.integer({ min: -128, max: 127 });
    const terms = fc.record({
      amm: fc.record({
        baseAssetReserve: amount(10n ** 20n),
        quoteAssetReserve: amount(10n ** 20n),
        sqrtK: amount(10n ** 20n),
        pegMultiplier: amount(10n ** 16n),
        minBaseAssetReserve: amount(10n ** 20n),
        maxBaseAssetReserve: amount(10n ** 20n),
        baseAssetAmountWithAmm: signed(10n ** 20n),
        totalFeeMinusDistributions: signed(10n ** 24n),
        netRevenueSinceLastFunding: signed(2n ** 63n),
        baseSpread: fc.nat({ max: 2 ** 32 - 1 }),
        maxSpread: fc.nat({ max: 2 ** 32 - 1 }),
        curveUpdateIntensity: fc.nat({ max: 255 }),
        ammSpreadAdjustment: percent,
        ammInventorySpreadAdjustment: percent,
      }),
      inputs: fc.record({
        isPrediction: fc.boolean(),
        markStd: amount(2n ** 64n),
        oracleStd: amount(2n ** 64n),
        lastOracleConfPct: amount(2n ** 64n),
        longIntensityVolume: amount(2n ** 64n),
        volume24H: amount(2n ** 64n),
        lastMarkPriceTwap: amount(2n ** 64n),
        lastOraclePriceTwapTs: signed(2n ** 63n),
        fundingPeriod: signed(2n ** 63n),
        lastFundingOracleTwap: signed(2n ** 63n),
        lastReferencePriceOffset: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
        referencePriceOffsetDeadbandPct: fc.nat({ max: 255 }),
        baseAssetAmountWithUnsettledLp: signed(10n ** 20n),
        fundingBiasSensitivity: fc.option(fc.nat({ max: 255 })),
        marketConfig: fc.option(fc.nat({ max: 255 })),
      }),
      market: fc.record({ last24hAvgFundingRate: signed(2n ** 63n), lastOraclePriceTwap: signed(2n ** 63n) }),
      oracle: fc.record({
        price: signed(2n ** 63n),
        confidence: amount(2n ** 64n),
        publishTs: fc.option(signed(2n ** 63n)),
      }),
    });
    fc.assert(
      fc.property(terms, (some) => {
        const { amm, market, oracle } = quotingMarket(some);
        const { bids, asks } = vammBook(market, liveQuote(market, amm, quotingOracle(market, oracle)), oracle.price);
        for (const { size } of [...bids, ...asks]) expect(size).toBeGreaterThan(0n);
      }),
      { numRuns: 3_000 },
    );
  });
});
