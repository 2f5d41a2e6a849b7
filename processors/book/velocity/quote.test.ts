import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AmmState } from '../../../schemas/index.ts';
import {
  AT_HUNDRED,
  anyTerms,
  inventoryOf,
  mirrored,
  ORACLE_TS,
  type QuotingTerms,
  quotingMarket,
} from '../../../test/support/processors/book/spread-terms.ts';
import { liveQuote, quotingOracle } from '../live-quote.ts';
import { greater } from '../whole.ts';
import { guardedSpreads } from './guard.ts';
import { velocitySpreads } from './quote.ts';
import type { Sides } from './sides.ts';
import { type SpreadTerms, sideSpreads } from './spread.ts';

const RUNS = 3_000;
const ONE = 1_000_000n;

function spreadsOf(terms: QuotingTerms) {
  const { amm, inputs, market, oracle } = quotingMarket(terms);
  return velocitySpreads(market, amm, inputs, quotingOracle(market, oracle));
}

describe("a Velocity vAMM's quote at the current oracle price", () => {
  it('changes with the oracle alone, while the account stays as it is', () => {
    // 4000 / 20 + 2000
    expect(spreadsOf({ oracle: { confidence: 400_000n } })).toEqual({ long: 2_200n, short: 2_200n, offset: 0n });
  });

  it('fades a stored confidence by the time of the price, not by a clock', () => {
    const longAfter = (seconds: bigint) =>
      spreadsOf({ inputs: { lastOracleConfPct: 10_000n }, oracle: { publishTs: ORACLE_TS + seconds } })?.long;
    // 10,000, 9500 and 8000 of confidence
    expect([longAfter(0n), longAfter(1n), longAfter(16n), longAfter(1_000n)]).toEqual([8_500n, 7_975n, 6_400n, 6_400n]);
  });

  it('does not remember an offset of another sign, and widens nothing for it', () => {
    const premium = {
      amm: { ...inventoryOf(10_000_000_000_000n), curveUpdateIntensity: 150 },
      market: { lastMarkPriceTwap5Min: 101_000_000n, last24hAvgFundingRate: AT_HUNDRED },
    };
    const [after, afterOther] = [5_000, -5_000].map((lastReferencePriceOffset) =>
      spreadsOf({ ...premium, inputs: { lastMarkPriceTwap: 101_000_000n, lastReferencePriceOffset } }),
    );
    expect(after?.offset).toBe(5_000n);
    expect(afterOther).toEqual(after);
  });

  it('is not guarded and has no offset where the curve follows no oracle', () => {
    const spreads = spreadsOf({ amm: { curveUpdateIntensity: 0 }, oracle: { price: 120_000_000n } });
    expect(spreads).toEqual({ long: 500n, short: 500n, offset: 0n });
  });

  it('never asks below nor bids above the oracle', () => {
    const some = fc.record({
      inventory: fc.bigInt({ min: -90n, max: 90n }),
      price: fc.bigInt({ min: 80_000_000n, max: 120_000_000n }),
      percent: fc.integer({ min: -100, max: 100 }),
      fees: fc.bigInt({ min: -5n, max: 10n ** 13n }),
      mark: fc.bigInt({ min: 98_000_000n, max: 102_000_000n }),
      intensity: fc.integer({ min: 1, max: 255 }),
    });
    fc.assert(
      fc.property(some, ({ inventory, price, percent, fees, mark, intensity }) => {
        const { amm, market, oracle } = quotingMarket({
          amm: {
            ...inventoryOf(inventory * 10n ** 12n),
            ammSpreadAdjustment: percent,
            totalFeeMinusDistributions: fees,
            curveUpdateIntensity: intensity,
          },
          inputs: { lastMarkPriceTwap: mark },
          market: { lastMarkPriceTwap5Min: mark, last24hAvgFundingRate: (mark - AT_HUNDRED) * 1_000n },
          oracle: { price },
        });
        const quote = liveQuote(market, amm, quotingOracle(market, oracle));
        const asked = (quote.askQuoteAssetReserve * quote.pegMultiplier * ONE) / quote.askBaseAssetReserve;
        const bid = (quote.bidQuoteAssetReserve * quote.pegMultiplier * ONE) / quote.bidBaseAssetReserve;
        // The reserves' truncation is below one part in 1e9.
        expect(asked * 1_000_000_001n).toBeGreaterThanOrEqual(price * ONE * 1_000_000_000n);
        expect(bid * 999_999_999n).toBeLessThanOrEqual(price * ONE * 1_000_000_000n);
      }),
      { numRuns: RUNS },
    );
  });
});

describe("any Velocity vAMM's spreads", () => {
  const total = ({ long, short }: Sides) => long + short;
  const plain = (terms: SpreadTerms, amm: Partial<AmmState> = {}): SpreadTerms => ({
    ...terms,
    curve: { ...terms.curve, ammSpreadAdjustment: 0, ammInventorySpreadAdjustment: 0, ...amm },
  });
  const magnitude = (value: bigint) => (value < 0n ? -value : value);
  const most = (...values: bigint[]) => values.reduce((left, right) => greater(left, right));

  function targetOf({ curve, inputs, confidence, oracleStd, reservePrice, oraclePrice }: SpreadTerms): bigint {
    const gap = magnitude(((reservePrice - oraclePrice) * ONE) / reservePrice);
    const deviation = (most(inputs.markStd, oracleStd) * ONE) / reservePrice;
    const uncertain = most(2n * confidence, deviation);
    return most(BigInt(curve.maxSpread), gap > ONE ? ONE : gap, uncertain > ONE ? ONE : uncertain);
  }

  it('are whole, not negative, and together within their target before the last adjustment', () => {
    let capped = 0;
    fc.assert(
      fc.property(anyTerms, (terms) => {
        const { curve } = terms;
        const spreads = sideSpreads({ ...terms, curve: { ...curve, ammSpreadAdjustment: 0 } });
        expect(spreads.long >= 0n && spreads.short >= 0n).toBe(true);
        expect(total(spreads)).toBeLessThanOrEqual(targetOf(terms));
        if (total(spreads) === targetOf(terms)) capped += 1;
      }),
      { numRuns: RUNS },
    );
    expect(capped).toBeGreaterThan(RUNS / 20);
  });

  it('are at least half the base spread and the way to the oracle while the target has room for both', () => {
    let roomy = 0;
    fc.assert(
      fc.property(anyTerms, (any) => {
        const terms = plain(any, { totalFeeMinusDistributions: 10n ** 12n });
        const half = BigInt(terms.curve.baseSpread) / 2n;
        const gap = ((terms.reservePrice - terms.oraclePrice) * ONE) / terms.reservePrice;
        if (magnitude(gap) > ONE) return;
        // The volatility of a side is at most this.
        const volatility = most(terms.confidence, (terms.oracleStd + terms.inputs.markStd) / 100n);
        if (targetOf(terms) < magnitude(gap) + 2n * most(half, volatility)) return;
        roomy += 1;
        const spreads = sideSpreads(terms);
        expect(spreads.long).toBeGreaterThanOrEqual(most(half, gap < 0n ? -gap : 0n));
        expect(spreads.short).toBeGreaterThanOrEqual(most(half, gap > 0n ? gap : 0n));
      }),
      { numRuns: RUNS },
    );
    expect(roomy).toBeGreaterThan(RUNS / 10);
  });

  it('are those of the other side in a mirror', () => {
    let mirrors = 0;
    fc.assert(
      fc.property(anyTerms, (any) => {
        if (any.oraclePrice >= 2n * any.reservePrice) return;
        // An even depth, no leverage, as in the mirror; at equal wants the cap rounds one side up.
        const curve = { ...any.curve, terminalQuoteAssetReserve: any.curve.quoteAssetReserve };
        const terms = { ...any, curve: { ...curve, totalFeeMinusDistributions: 10n ** 30n } };
        const seen = sideSpreads(mirrored(terms));
        const spreads = sideSpreads(terms);
        expect(magnitude(seen.short - spreads.long)).toBeLessThanOrEqual(1n + spreads.long / 50n);
        if (total(spreads) >= targetOf(terms) || terms.curve.ammSpreadAdjustment !== 0) return;
        mirrors += 1;
        expect(seen).toEqual({ long: spreads.short, short: spreads.long });
      }),
      { numRuns: RUNS },
    );
    expect(mirrors).toBeGreaterThan(RUNS / 20);
  });

  it('do not shrink as confidence grows, without an inventory and a bound', () => {
    fc.assert(
      fc.property(anyTerms, fc.bigInt({ min: 1n, max: 50_000n }), (any, more) => {
        const terms = plain(any, { ...inventoryOf(0n), totalFeeMinusDistributions: 1n, maxSpread: 2 ** 32 - 1 });
        const [narrow, wide] = [sideSpreads(terms), sideSpreads({ ...terms, confidence: terms.confidence + more })];
        expect(wide.long).toBeGreaterThanOrEqual(narrow.long);
        expect(wide.short).toBeGreaterThanOrEqual(narrow.short);
      }),
      { numRuns: RUNS },
    );
  });

  it('grow with the inventory on its side alone, while nothing caps them', () => {
    const sizes = fc.tuple(fc.bigInt({ min: 1n, max: 99n }), fc.bigInt({ min: 1n, max: 99n }), fc.boolean());
    let uncapped = 0;
    fc.assert(
      fc.property(anyTerms, sizes, (any, [one, other, isShort]) => {
        const spreadsAt = (size: bigint) => {
          const terms = plain(any, inventoryOf((isShort ? -size : size) * 10n ** 12n));
          const spreads = sideSpreads(terms);
          return { ...spreads, isCapped: total(spreads) >= targetOf(terms) };
        };
        const [narrow, wide] = one < other ? [spreadsAt(one), spreadsAt(other)] : [spreadsAt(other), spreadsAt(one)];
        if (narrow.isCapped || wide.isCapped) return;
        uncapped += 1;
        const [loaded, free] = isShort ? (['short', 'long'] as const) : (['long', 'short'] as const);
        expect(wide[loaded]).toBeGreaterThanOrEqual(narrow[loaded]);
        expect(wide[free]).toBe(narrow[free]);
      }),
      { numRuns: RUNS },
    );
    expect(uncapped).toBeGreaterThan(RUNS / 50);
  });

  it('are only widened by the guard', () => {
    fc.assert(
      fc.property(anyTerms, fc.bigInt({ min: -30_000n, max: 30_000n }), (terms, offset) => {
        const spreads = sideSpreads(terms);
        const guarded = guardedSpreads(spreads, offset, terms.reservePrice, terms.oraclePrice);
        expect(guarded.long >= spreads.long && guarded.short >= spreads.short).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });
});
