// Properties of every derived order, for any book and any request.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Level } from '../levels.ts';
import { quotesOf } from '../quotes.ts';
import { deriveAuction } from './derive.ts';
import { estimateFill } from './estimate.ts';
import { limitPrice } from './order.ts';
import { DEFAULT_AUCTION_SETTINGS } from './slippage.ts';
import { AuctionError, type AuctionMarket, type AuctionRequest, smallest } from './types.ts';

const side = (isBid: boolean) =>
  fc
    .uniqueArray(fc.integer({ min: 1, max: 200_000_000 }), { maxLength: 12 })
    .chain((prices) =>
      fc
        .array(fc.bigInt({ min: 1n, max: 10n ** 13n }), { minLength: prices.length, maxLength: prices.length })
        .map((sizes): Level[] =>
          [...prices]
            .sort((a, b) => (isBid ? b - a : a - b))
            .map((price, at) => ({ price, dlob: sizes[at] ?? 1n, vamm: 0n })),
        ),
    );

const percent = fc.double({ min: 0, max: 120, noNaN: true });
const reference = fc.constantFrom('oracle', 'bestOffer', 'entry', 'worst', 'mark', 'best');
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

const market = fc
  .record({
    bids: side(true),
    asks: side(false),
    oracle: fc.bigInt({ min: 1n, max: 200_000_000n }),
    marketIndex: fc.constantFrom(0, 13, 20),
    buys: fc.option(fc.bigInt({ min: -50_000_000n, max: 50_000_000n })),
    ageMs: fc.constantFrom(0, 600_000, 600_001),
  })
  .map(({ bids, asks, oracle, marketIndex, buys, ageMs }): AuctionMarket => {
    const [bid, ask] = [bids[0], asks[0]].map((level) => (level ? BigInt(level.price) : null));
    return {
      marketType: 'perp',
      marketIndex,
      book: { bids, asks },
      quotes: quotesOf(bid ?? null, ask ?? null, oracle),
      oracle,
      recentFills: { takerBuyMicroBps: buys, takerSellMicroBps: buys, ageMs },
    };
  });

const request = fc
  .record({
    version: fc.integer({ min: 1, max: 4 }),
    direction: fc.constantFrom('long' as const, 'short' as const),
    amount: fc.bigInt({ min: 0n, max: 10n ** 14n }),
    assetType: fc.constantFrom('base' as const, 'quote' as const),
    slippagePercent: optional(percent),
    forceUpToSlippage: fc.boolean(),
    isOracleOrder: fc.boolean(),
    startOffset: optional(percent),
    endOffset: optional(percent),
    startFrom: optional(reference),
    endFrom: optional(reference),
  })
  .map((values) => {
    const given = Object.entries(values).filter(([, value]) => value !== undefined);
    return Object.fromEntries(given) as unknown as AuctionRequest;
  });

describe('derived orders', () => {
  it('run from the taker-friendly to the taker-hostile price and stay inside the tolerance', () => {
    let derived = 0;
    fc.assert(
      fc.property(market, request, (state, wanted) => {
        let auction: ReturnType<typeof deriveAuction>;
        try {
          auction = deriveAuction(wanted, state, DEFAULT_AUCTION_SETTINGS);
        } catch (error) {
          expect(error).toBeInstanceOf(AuctionError);
          return;
        }
        derived += 1;
        const { order, prices } = auction;
        const shift = order.orderType === 'oracle' ? prices.oracle : 0n;
        const sign = wanted.direction === 'long' ? 1n : -1n;
        const start = (order.auctionStartPrice + shift) * sign;
        const end = (order.auctionEndPrice + shift) * sign;
        expect(start).toBeLessThanOrEqual(end);
        if (order.price !== null && wanted.version === 1) expect(end).toBeLessThanOrEqual(order.price * sign);
        if (order.orderType === 'oracle') expect(order.oraclePriceOffset).not.toBe(0n);
        else expect([order.oraclePriceOffset, wanted.isOracleOrder]).toEqual([null, false]);
      }),
      { numRuns: 500 },
    );
    expect(derived).toBeGreaterThan(250);
  });

  it('reach the other side from version 2 on, whatever the tolerance', () => {
    fc.assert(
      fc.property(market, request, (state, wanted) => {
        const { book } = state;
        if (book.asks.length === 0 || book.bids.length === 0) return;
        const strict: AuctionRequest = { ...wanted, version: 2, assetType: 'base', slippagePercent: 0, endOffset: 0 };
        try {
          const { order, prices } = deriveAuction(strict, state, DEFAULT_AUCTION_SETTINGS);
          const end = order.auctionEndPrice + (order.orderType === 'oracle' ? prices.oracle : 0n);
          if (strict.direction === 'long') expect(end).toBeGreaterThanOrEqual(BigInt(book.asks[0]?.price ?? 0));
          else expect(end).toBeLessThanOrEqual(BigInt(book.bids[0]?.price ?? 0));
        } catch (error) {
          if (!(error instanceof AuctionError)) throw error;
        }
      }),
      { numRuns: 300 },
    );
  });

  it('have a limit that moves away from the taker as the tolerance grows', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 10n ** 15n }), percent, percent, (start, one, other) => {
        const [small, large] = one < other ? [one, other] : [other, one];
        expect(limitPrice('long', start, small)).toBeLessThanOrEqual(limitPrice('long', start, large));
        expect(limitPrice('short', start, small)).toBeGreaterThanOrEqual(limitPrice('short', start, large));
      }),
    );
  });
});

describe('estimated fills', () => {
  it('take at most the requested and the available size, and their mean is between best and worst', () => {
    fc.assert(
      fc.property(side(false), fc.bigInt({ min: 1n, max: 10n ** 14n }), (asks, amount) => {
        const estimate = estimateFill({ bids: [], asks }, 'long', amount, 'base');
        const available = asks.reduce((sum, { dlob }) => sum + dlob, 0n);
        expect(estimate.baseFilled).toBe(smallest(available, amount));
        if (asks.length === 0) return;
        // The quote of each level is truncated, so the mean may be short by one unit per level.
        const slack = (BigInt(asks.length) * 10n ** 9n) / estimate.baseFilled + 1n;
        expect(estimate.entryPrice).toBeLessThanOrEqual(estimate.worstPrice);
        expect(estimate.entryPrice + slack).toBeGreaterThanOrEqual(estimate.bestPrice);
      }),
    );
  });
});
