// Drift's live spreads, reference offset, spread reserves and levels of the vAMM beside the published client library, which
// is given the same account, oracle, time and slot. Velocity's rule is another: processors/book/velocity/*.test.ts.

import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { BookEngine, driftSpreads, liveQuote, marketMakerOracle, quotingOracle } from '../../processors/index.ts';
import { type CurveTerms, curves, twinCurve } from './harness/peer/curve.ts';
import { loadSdk, type PeerStruct, type Sdk } from './harness/peer/sdk.ts';
import { type LiveTwin, liveTerms, liveTwin } from './harness/peer/spread.ts';

const RUNS = 6_000;
const LEVEL_RUNS = 1_500;
const SHARES = 1_000_000n;
const SIDES = ['bid', 'ask'] as const;

let sdk: Sdk;
beforeAll(() => {
  sdk = loadSdk();
});

/** The library's result, or null where it divides by zero: spreads beyond 100 %, and a side that is sold out. */
function theirs<T>(twin: LiveTwin, ask: (account: PeerStruct, oracle: PeerStruct) => T): T | null {
  const { marketAccount, mmOraclePriceData } = twin.request as Record<string, PeerStruct>;
  const { amm } = marketAccount as { readonly amm: PeerStruct };
  try {
    return ask(amm, mmOraclePriceData as PeerStruct);
  } catch (error) {
    if (error instanceof Error && error.message === 'Assertion failed') return null;
    throw error;
  }
}

/** The library's offset before a change of its sign is smoothed. */
function theirOffset(twin: LiveTwin, reservePrice: bigint): number {
  const { amm, market, inputs } = twin;
  const { curveUpdateIntensity: intensity, maxSpread } = amm;
  if (intensity <= 100) return 0;
  const big = (value: bigint) => new sdk.BN(String(value));
  const inventory = amm.baseAssetAmountWithAmm;
  const ratio = BigInt(
    sdk
      .calculateInventoryLiquidityRatioForReferencePriceOffset(
        big(inventory),
        big(amm.baseAssetReserve),
        big(amm.minBaseAssetReserve),
        big(amm.maxBaseAssetReserve),
      )
      .toString(),
  );
  const deadband = (SHARES * BigInt(inputs.referencePriceOffsetDeadbandPct)) / 100n;
  const beyond = ratio > deadband ? ratio - deadband : 0n;
  const signed = inventory + inputs.baseAssetAmountWithUnsettledLp < 0n ? -beyond : beyond;
  const most = intensity === 200 ? Math.max(maxSpread / 2, 10_000) : Math.min(maxSpread / 2, 100 * (intensity - 100));
  return Number(
    sdk
      .calculateReferencePriceOffset(
        big(reservePrice),
        big(market.last24hAvgFundingRate),
        big(signed),
        big(market.lastOraclePriceTwap5Min),
        big(market.lastMarkPriceTwap5Min),
        big(market.lastOraclePriceTwap),
        big(inputs.lastMarkPriceTwap),
        most,
      )
      .toString(),
  );
}

describe('the oracle in force beside the client library', () => {
  it('is the same price, slot and confidence', () => {
    // Both sides of every bound; slots and sequences of one length, since the library compares their digits as text.
    const near = (bound: bigint) => fc.bigInt({ min: bound - 3n, max: bound + 3n });
    const around = (usual: bigint, ...bounds: readonly bigint[]) =>
      fc.oneof(
        { weight: 4, arbitrary: near(usual) },
        ...bounds.map((bound) => ({ weight: 1, arbitrary: near(bound) })),
      );
    const terms = fc.record({
      price: around(10_000n, 10_100n, 9_900n, 3n),
      exchange: near(10_000n),
      twap: around(10_000n, 20_000n, 6_667n, 50_000n, 5_556n),
      guardRail: fc.constantFrom(0n, 100_000n, 500_000n, 800_000n),
      slots: fc.tuple(near(500n), near(500n)),
      sequences: fc.tuple(around(2_000_000n, 0n, 1_999_800n, 2_000_200n, 1_500_000n), around(2_000_000n, 0n)),
      confidence: fc.bigInt({ min: 0n, max: 50n }),
    });
    const plain = twinCurve(sdk, fc.sample(curves, 1)[0] as CurveTerms);
    const seen = { own: 0, exchange: 0, 'by sequence': 0 };
    fc.assert(
      fc.property(terms, ({ price, exchange, twap, guardRail, slots, sequences, confidence }) => {
        const [own, other] = sequences.map((id) => (id < 0n ? 0n : id)) as [bigint, bigint];
        // Of equal sequences the library takes the exchange's, the reference the market maker's.
        fc.pre(own === 0n || own !== other);
        const market = {
          ...plain.market,
          mmOraclePrice: price,
          mmOracleSlot: slots[0],
          mmOracleSequenceId: own,
          lastOraclePriceTwap5Min: twap,
          oracleTwap5MinPercentDivergence: guardRail,
        };
        const oracle = { ...plain.oracle, price: exchange, oracleSlot: slots[1], confidence, sequenceId: other };
        const big = (value: bigint) => new sdk.BN(String(value));
        const amm = {
          mmOraclePrice: big(price),
          mmOracleSlot: big(slots[0]),
          mmOracleSequenceId: big(own),
          historicalOracleData: { lastOraclePriceTwap5Min: big(twap) },
        };
        const priceDivergence = { oracleTwap5MinPercentDivergence: big(guardRail) };
        const data = { price: big(exchange), slot: big(slots[1]), confidence: big(confidence), sequenceId: big(other) };
        const client = {
          getPerpMarketAccount: () => ({ amm }),
          getOracleDataForPerpMarket: () => data,
          accountSubscriber: { getStateAccountAndSlot: () => ({ data: { oracleGuardRails: { priceDivergence } } }) },
        };
        const theirs = sdk.DriftClient.prototype.getMMOracleDataForPerpMarket.call(client, 0);
        const ours = quotingOracle(market, oracle);
        expect([ours.price, ours.slot, ours.confidence].map(String)).toEqual(
          [theirs.price, theirs.slot, theirs.confidence].map(String),
        );
        const isOwn = marketMakerOracle(market, oracle) !== null;
        seen[isOwn ? 'own' : 'exchange'] += 1;
        if (isOwn && slots[0] < slots[1]) seen['by sequence'] += 1;
      }),
      { numRuns: RUNS },
    );
    for (const [what, count] of Object.entries(seen)) expect(count, what).toBeGreaterThan(RUNS / 100);
  });
});

describe("Drift's live spreads beside the client library", () => {
  it('are the same spreads, offset and spread reserves, to the last digit', () => {
    const seen = {
      'fixed curve': 0,
      'capped by the largest spread': 0,
      'no fees left': 0,
      'losses since funding': 0,
      'offset quoted': 0,
      'offset smoothed': 0,
      'prediction market': 0,
      "market maker's oracle": 0,
      'half a part': 0,
    };
    let beyond = 0;
    fc.assert(
      fc.property(curves, liveTerms, (terms, live) => {
        const twin = liveTwin(sdk, terms, live);
        const { amm, market, oracle, inputs } = twin;
        const ours = liveQuote(market, amm, quotingOracle(market, oracle));
        const expected = theirs(twin, (account, about) => {
          const [now, slot] = [new sdk.BN(String(twin.now)), new sdk.BN(String(twin.slot))];
          const updated = sdk.calculateUpdatedAMM(account, about);
          const [long, short] = sdk.calculateSpread(updated, about, now);
          const reserves = sdk.calculateSpreadReserves(updated, about, now, inputs.isPrediction, slot);
          return { updated, long, short, reserves };
        });
        if (expected === null) {
          beyond += 1;
          return;
        }
        const { updated, reserves } = expected;
        const spreads = driftSpreads(market, ours, inputs, quotingOracle(market, oracle));
        const reservePrice = (ours.quoteAssetReserve * ours.pegMultiplier) / ours.baseAssetReserve;
        const offset = theirOffset({ ...twin, amm: ours }, reservePrice);
        const isSmoothed = amm.curveUpdateIntensity > 100 && Math.sign(offset) !== Math.sign(live.lastOffset);
        if (!isSmoothed) {
          expect(spreads).toEqual({ long: expected.long, short: expected.short, offset });
        }
        const [bid, ask] = reserves;
        expect({
          base: ours.baseAssetReserve,
          quote: ours.quoteAssetReserve,
          bid: [ours.bidBaseAssetReserve, ours.bidQuoteAssetReserve],
          ask: [ours.askBaseAssetReserve, ours.askQuoteAssetReserve],
        }).toEqual({
          base: BigInt(updated.baseAssetReserve.toString()),
          quote: BigInt(updated.quoteAssetReserve.toString()),
          bid: [BigInt(bid.baseAssetReserve.toString()), BigInt(bid.quoteAssetReserve.toString())],
          ask: [BigInt(ask.baseAssetReserve.toString()), BigInt(ask.quoteAssetReserve.toString())],
        });
        if (amm.curveUpdateIntensity === 0) seen['fixed curve'] += 1;
        if (expected.long + expected.short >= live.maxSpread) seen['capped by the largest spread'] += 1;
        if (ours.totalFeeMinusDistributions <= 0n) seen['no fees left'] += 1;
        if (ours.netRevenueSinceLastFunding < -25_000_000n) seen['losses since funding'] += 1;
        if (offset !== 0) seen['offset quoted'] += 1;
        if (isSmoothed) seen['offset smoothed'] += 1;
        if (live.isPrediction) seen['prediction market'] += 1;
        if (live.makerGap !== null) seen["market maker's oracle"] += 1;
        if (!Number.isInteger(expected.long)) seen['half a part'] += 1;
      }),
      { numRuns: RUNS },
    );
    for (const [what, count] of Object.entries(seen)) expect(count, what).toBeGreaterThan(RUNS / 50);
    expect(beyond).toBeLessThan(RUNS / 4);
  });

  it('give a book the same levels', () => {
    let compared = 0;
    fc.assert(
      fc.property(curves, liveTerms, (terms, live) => {
        const twin = liveTwin(sdk, terms, live);
        const engine = new BookEngine(twin.market);
        engine.applyMarket(twin.market);
        engine.applyOracle(twin.oracle);
        const { bids, asks } = engine.snapshot();
        const expected = theirs(twin, () => {
          const generator = sdk.getVammL2Generator(twin.request);
          return { bid: [...generator.getL2Bids()], ask: [...generator.getL2Asks()] };
        });
        if (expected === null) return;
        for (const side of SIDES) {
          const byPrice = new Map<number, bigint>();
          for (const { price, size } of expected[side]) {
            const at = Number(price.toString());
            if (!Number.isSafeInteger(at)) continue; // no book of ours has a price beyond 2^53
            byPrice.set(at, (byPrice.get(at) ?? 0n) + BigInt(size.toString()));
          }
          const sorted = [...byPrice].sort(([left], [right]) => (side === 'bid' ? right - left : left - right));
          const ours = (side === 'bid' ? bids : asks).map(({ price, vamm }) => [price, vamm]);
          expect(ours).toEqual(sorted);
          compared += ours.length;
        }
      }),
      { numRuns: LEVEL_RUNS },
    );
    expect(compared).toBeGreaterThan(LEVEL_RUNS * 10);
  });
});
