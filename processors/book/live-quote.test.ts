import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AmmState, BookMarket, BookOracle, SpreadInputs } from '../../schemas/index.ts';
import { liveCurve } from './live-curve.ts';
import { liveQuote, liveSpreads, quotingOracle } from './live-quote.ts';
import { ammOf, marketOf, oracleOf, spreadInputsOf } from './testing/messages.ts';
import { spreadReserves, vammBook } from './vamm.ts';

const AT_HUNDRED = 100_000_000n;
const NOW = 1_700_000_000n;
/** At its oracle of 100, with fees enough for every leverage and a base spread of 10 bps. */
const followed = { curveUpdateIntensity: 100, totalFeeMinusDistributions: 10n ** 15n, baseSpread: 1_000 } as const;
/** A tenth of the depth is with the users, who are long. */
const longUsers = {
  baseAssetAmountWithAmm: 10_000_000_000_000n,
  terminalQuoteAssetReserve: 990_099_009_900_990n,
} as const;

interface Given {
  readonly amm?: Partial<AmmState>;
  readonly inputs?: Partial<SpreadInputs>;
  readonly market?: Partial<BookMarket>;
  readonly oracle?: Partial<BookOracle>;
}

function given({ amm, inputs, market, oracle }: Given = {}) {
  const curve = ammOf({ ...followed, ...amm });
  const spreadInputs = spreadInputsOf(inputs);
  return {
    amm: curve,
    inputs: spreadInputs,
    market: marketOf({ last24hAvgFundingRate: 0n, amm: curve, spreadInputs, ...market }).value as BookMarket,
    oracle: oracleOf({ price: AT_HUNDRED, confidence: 0n, publishTs: NOW, ...oracle }).value as BookOracle,
  };
}

function spreadsOf(terms: Given = {}) {
  const { amm, inputs, market, oracle } = given(terms);
  return liveSpreads(market, amm, inputs, quotingOracle(market, oracle));
}

function quoteOf(terms: Given = {}) {
  const { amm, market, oracle } = given(terms);
  return liveQuote(market, amm, quotingOracle(market, oracle));
}

describe('the quote of a vAMM at the oracle of the moment', () => {
  it('is half the base spread to each side of a quiet market without inventory', () => {
    const quote = quoteOf();
    const plain = { base: quote.baseAssetReserve, quote: quote.quoteAssetReserve };
    const [ask, bid] = [500n, -500n].map((spread) => spreadReserves(plain, quote.sqrtK, spread));
    expect(quote).toMatchObject({
      askBaseAssetReserve: ask?.base,
      askQuoteAssetReserve: ask?.quote,
      bidBaseAssetReserve: bid?.base,
      bidQuoteAssetReserve: bid?.quote,
    });
  });

  it('has the spreads that the chain stored where what they follow from is not known', () => {
    const { amm, market, oracle } = given({ market: { spreadInputs: null } });
    const moved = { ...quotingOracle(market, oracle), price: 103_000_000n };
    expect(liveQuote(market, amm, moved)).toEqual(liveCurve(amm, moved.price));
    expect(liveQuote(market, amm, quotingOracle(market, oracle))).toBe(amm);
  });

  it('changes with the oracle alone, while the account stays as it is', () => {
    const quiet = spreadsOf();
    expect(spreadsOf({ oracle: { confidence: 400_000n } })?.long).toBe(4_000);
    expect(spreadsOf({ oracle: { price: 100_300_000n } })?.long).toBeGreaterThan(3_000);
    expect(spreadsOf({ oracle: { price: 100_300_000n } })?.short).toBe(quiet?.short);
  });

  it('forgets an uncertainty of before by the time of the price, not by a clock', () => {
    const inputs = { lastOracleConfPct: 10_000n };
    const longAfter = (seconds: bigint) => spreadsOf({ inputs, oracle: { publishTs: NOW + seconds } })?.long;
    expect([longAfter(0n), longAfter(1n), longAfter(16n), longAfter(1_000n)]).toEqual([10_000, 9_500, 8_000, 8_000]);
  });

  it('dates a price that does not say its time by slots since the account was updated', () => {
    const inputs = { lastOracleConfPct: 10_000n };
    const terms = { inputs, amm: { lastUpdateSlot: 100n }, oracle: { publishTs: null, oracleSlot: 103n } };
    // 3 slots of 400 ms are one whole second.
    expect(spreadsOf(terms)?.long).toBe(9_500);
  });

  it("counts what is between the market maker's oracle and the exchange's as uncertainty", () => {
    const { market, oracle } = given({
      market: { mmOraclePrice: 100_500_000n, mmOracleSlot: 5n },
      oracle: { oracleSlot: 4n, confidence: 1_000n },
    });
    expect(quotingOracle(market, oracle)).toEqual({ price: 100_500_000n, confidence: 501_000n, slot: 5n, ts: NOW });
  });

  it('is wider for who would add to the inventory', () => {
    const spreads = spreadsOf({ amm: longUsers });
    expect(spreads?.long).toBeGreaterThan(5 * (spreads?.short ?? 0));
    expect(spreads?.short).toBe(500);
  });

  it('keeps dynamic spreads without a base spread on Velocity, and not on Drift, as the two programs do', () => {
    const terms = (fundingBiasSensitivity: number | null) =>
      spreadsOf({ amm: { baseSpread: 0 }, inputs: { fundingBiasSensitivity }, oracle: { confidence: 400_000n } });
    expect(terms(0)).toEqual({ long: 4_000, short: 4_000, offset: 0 });
    expect(terms(null)).toEqual({ long: 0, short: 0, offset: 0 });
  });

  it.each([
    ['twice as wide for a full bias of 100 %', 100, -AT_HUNDRED, 2],
    ['by half as much for 50 %', 50, -AT_HUNDRED, 1.5],
    ['by half as much at half the rate of the constant part of funding', 100, -416_666n, 1.5],
    ['not while the vAMM receives funding', 100, AT_HUNDRED, 1],
    ['not without a sensitivity', 0, -AT_HUNDRED, 1],
  ])('is wider on the side of the inventory for which the vAMM pays funding: %s', (_, percent, rate, times) => {
    const spreads = (fundingBiasSensitivity: number) =>
      spreadsOf({ amm: longUsers, inputs: { fundingBiasSensitivity }, market: { last24hAvgFundingRate: rate } });
    const [plain, biased] = [spreads(0), spreads(percent)];
    expect(biased?.long).toBeCloseTo((plain?.long ?? 0) * times, -1);
    expect(biased?.short).toBe(plain?.short);
  });

  it('has a spread of 500 doubled to 1000 by a full bias of 100 % (protocol 4.3)', () => {
    const spreads = spreadsOf({
      amm: { baseAssetAmountWithAmm: 1n },
      inputs: { fundingBiasSensitivity: 100 },
      market: { last24hAvgFundingRate: -AT_HUNDRED },
    });
    expect(spreads).toEqual({ long: 1_000, short: 500, offset: 0 });
  });

  it('moves to the side of a lasting premium that the inventory agrees with, by steps from where it was', () => {
    const premium = {
      amm: { ...longUsers, curveUpdateIntensity: 150, lastUpdateSlot: 100n },
      inputs: { lastMarkPriceTwap: 101_000_000n },
      market: { lastMarkPriceTwap5Min: 101_000_000n, last24hAvgFundingRate: AT_HUNDRED },
    };
    const settled = { ...premium, inputs: { ...premium.inputs, lastReferencePriceOffset: 1 } };
    expect(spreadsOf(settled)?.offset).toBe(5_000);
    const offsetAfter = (slots: bigint) => spreadsOf({ ...premium, oracle: { oracleSlot: 100n + slots } })?.offset;
    expect([offsetAfter(0n), offsetAfter(2n), offsetAfter(50n)]).toEqual([10, 200, 500]);
    const disagreeing = { ...premium, amm: { ...premium.amm, baseAssetAmountWithAmm: -1n } };
    expect(spreadsOf(disagreeing)?.offset).toBe(0);
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
        const { amm, market, oracle } = given(some);
        const { bids, asks } = vammBook(market, liveQuote(market, amm, quotingOracle(market, oracle)), oracle.price);
        for (const { size } of [...bids, ...asks]) expect(size).toBeGreaterThan(0n);
      }),
      { numRuns: 3_000 },
    );
  });
});
