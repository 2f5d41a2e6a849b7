// Check values of the auction rules, one test per value. They are typed in here, so that no code under test makes them.

import { describe, expect, it } from 'vitest';
import type { Direction } from '../../../schemas/index.ts';
import type { Level } from '../levels.ts';
import { quotesOf } from '../quotes.ts';
import { deriveAuction } from './derive.ts';
import { estimateFill } from './estimate.ts';
import { auctionOrder, limitPrice, type OrderTerms, referencePrices } from './order.ts';
import { DEFAULT_AUCTION_SETTINGS, dynamicSlippagePercent } from './slippage.ts';
import type { AssetType, AuctionBook, AuctionMarket, AuctionRequest, Reference } from './types.ts';

const dlob = (price: number, size: bigint): Level => ({ price, dlob: size, vamm: 0n });
const vamm = (price: number, size: bigint): Level => ({ price, dlob: 0n, vamm: size });

const BOOK: AuctionBook = {
  bids: [vamm(98_000_000, 1_000_000_000n), dlob(97_000_000, 500_000_000n)],
  asks: [vamm(100_000_000, 400_000_000n), vamm(102_000_000, 600_000_000n), dlob(110_000_000, 1_000_000_000n)],
};

describe('estimated prices', () => {
  type Values = [entry: bigint, best: bigint, worst: bigint, impact: bigint, base: bigint, quote: bigint];
  type Row = [
    name: string,
    assetType: AssetType,
    amount: bigint,
    direction: Direction,
    book: AuctionBook,
    values: Values,
  ];
  const missing = 9_007_199_254_740_991n;
  const rows: Row[] = [
    [
      'estimates a buy over two levels',
      'base',
      1_000_000_000n,
      'long',
      BOOK,
      [101_200_000n, 100_000_000n, 102_000_000n, 12_000n, 1_000_000_000n, 101_200_000n],
    ],
    [
      'fills no more than the book has',
      'base',
      5_000_000_000n,
      'long',
      BOOK,
      [105_600_000n, 100_000_000n, 110_000_000n, 56_000n, 2_000_000_000n, 211_200_000n],
    ],
    [
      'estimates a sale over two levels',
      'base',
      1_200_000_000n,
      'short',
      BOOK,
      [97_833_333n, 98_000_000n, 97_000_000n, 1_700n, 1_200_000_000n, 117_400_000n],
    ],
    [
      'estimates an amount in quote',
      'quote',
      50_000_000n,
      'long',
      BOOK,
      [100_393_700n, 100_000_000n, 102_000_000n, 3_937n, 498_039_215n, 50_000_000n],
    ],
    [
      'answers the largest number as prices of a buy without asks',
      'base',
      1_000_000_000n,
      'long',
      { ...BOOK, asks: [] },
      [0n, missing, missing, 1_000_000n, 0n, 0n],
    ],
    [
      'answers zeros for a sale without bids',
      'base',
      1_000_000_000n,
      'short',
      { ...BOOK, bids: [] },
      [0n, 0n, 0n, 0n, 0n, 0n],
    ],
  ];
  for (const [name, assetType, amount, direction, book, values] of rows) {
    it(name, () => {
      const [entryPrice, bestPrice, worstPrice, priceImpact, baseFilled, quoteFilled] = values;
      expect(estimateFill(book, direction, amount, assetType)).toEqual({
        entryPrice,
        bestPrice,
        worstPrice,
        priceImpact,
        baseFilled,
        quoteFilled,
      });
    });
  }
});

describe('dynamic slippage', () => {
  const wide = { bestBidPrice: 98_000_000n, bestAskPrice: 100_000_000n, spreadPct: 2_020_202n };
  const narrow = { bestBidPrice: 99_990_000n, bestAskPrice: 100_010_000n, spreadPct: 20_000n };
  type Row = [
    name: string,
    marketIndex: number,
    version: number,
    quotes: typeof wide | null,
    startPrice: bigint,
    worstPrice: bigint,
    expected: number,
  ];
  const rows: Row[] = [
    ['takes a share of the spread for a major', 0, 1, wide, 99_000_000n, 102_000_000n, 1.99999998],
    ['widens in version 2', 0, 2, wide, 99_000_000n, 102_000_000n, 2.3999999759999997],
    ['is wider for a mid-major', 13, 1, wide, 100_000_000n, 102_000_000n, 2.5852272499999995],
    ['is widest for any other market', 20, 1, wide, 100_000_000n, 102_000_000n, 3.4772726999999994],
    ['stays at the least slippage of a narrow book', 0, 1, narrow, 100_000_000n, 100_010_000n, 0.035],
    ['widens in version 2 after the limit to the least', 0, 2, narrow, 100_000_000n, 100_010_000n, 0.042],
    ['starts from the base of any other market in a narrow book', 30, 1, narrow, 100_000_000n, 100_010_000n, 0.777],
    ['stays at the least slippage without a book', 0, 1, null, 100_000_000n, 100_000_000n, 0.035],
  ];
  for (const [name, marketIndex, version, quotes, startPrice, worstPrice, expected] of rows) {
    it(name, () => {
      const inputs = { market: { marketType: 'perp' as const, marketIndex }, version, quotes, startPrice, worstPrice };
      const percent = dynamicSlippagePercent(inputs, DEFAULT_AUCTION_SETTINGS);
      expect(Math.abs(percent - expected)).toBeLessThan(1e-9);
    });
  }
});

describe('order prices', () => {
  interface Row {
    readonly name: string;
    readonly direction?: Direction;
    readonly best?: bigint;
    readonly entry?: bigint;
    readonly worst?: bigint;
    readonly startFrom: Reference;
    readonly startOffset: number;
    readonly slippage: number;
    readonly isFixed?: true;
    readonly force?: true;
    readonly isUnbounded?: true;
    readonly buffer?: bigint;
    readonly limit: bigint;
    readonly start: bigint;
    readonly end: bigint;
    /** A fixed order's price, null when absent; else the order's oracle offset. */
    readonly carried: bigint | null;
  }
  const sale = { direction: 'short', best: 98_000_000n, entry: 97_833_333n, worst: 97_000_000n } as const;
  const rows: Row[] = [
    {
      name: 'ends at the tolerance by the defaults of a major',
      startFrom: 'mark',
      startOffset: 0,
      slippage: 1.99999998,
      limit: 100_979_901n,
      start: -1_000_000n,
      end: 979_901n,
      carried: 979_901n,
    },
    {
      name: 'ends below the oracle where the tolerance does',
      startFrom: 'mark',
      startOffset: 0,
      slippage: 0.5,
      limit: 99_495_000n,
      start: -1_000_000n,
      end: -505_000n,
      carried: -505_000n,
    },
    {
      name: 'has a fixed price in a market order',
      startFrom: 'bestOffer',
      startOffset: -0.1,
      slippage: 5,
      isFixed: true,
      limit: 105_000_000n,
      start: 99_900_000n,
      end: 102_102_000n,
      carried: 105_000_000n,
    },
    {
      name: 'ends at the whole tolerance when forced',
      startFrom: 'bestOffer',
      startOffset: -0.1,
      slippage: 5,
      force: true,
      limit: 105_000_000n,
      start: -100_000n,
      end: 5_000_000n,
      carried: 5_000_000n,
    },
    {
      name: 'has no price without a bound',
      startFrom: 'mark',
      startOffset: 0,
      slippage: 5,
      isFixed: true,
      isUnbounded: true,
      limit: 113_850_000n,
      start: 99_000_000n,
      end: 102_102_000n,
      carried: null,
    },
    {
      name: 'mirrors the prices for a sale',
      ...sale,
      startFrom: 'bestOffer',
      startOffset: -0.1,
      slippage: 1,
      limit: 97_020_000n,
      start: -1_902_000n,
      end: -2_980_000n,
      carried: -2_980_000n,
    },
    {
      name: 'counts a buffer in the limit and again in the end',
      ...sale,
      startFrom: 'mark',
      startOffset: 0,
      slippage: 1,
      buffer: 100_000n,
      limit: 97_910_000n,
      start: -1_000_000n,
      end: -2_190_000n,
      carried: -2_190_000n,
    },
    {
      name: 'starts at the best offer by the defaults of version 3',
      startFrom: 'bestOffer',
      startOffset: -0.05,
      slippage: 1,
      limit: 101_000_000n,
      start: -50_000n,
      end: 1_000_000n,
      carried: 1_000_000n,
    },
    {
      name: 'moves an offset of 0 to 1',
      startFrom: 'oracle',
      startOffset: 0,
      slippage: 0,
      limit: 100_000_000n,
      start: 0n,
      end: 0n,
      carried: 1n,
    },
  ];
  for (const row of rows) {
    it(row.name, () => {
      const { direction = 'long', best = 100_000_000n, entry = 101_200_000n, worst = 102_000_000n } = row;
      const prices = { oracle: 100_000_000n, mark: 99_000_000n, best, entry, worst, impact: 0n };
      const references = referencePrices(direction, prices);
      const { buffer: endBuffer = 0n } = row;
      const terms: OrderTerms = {
        direction,
        startReference: references[row.startFrom],
        endReference: references.worst,
        startOffset: row.startOffset,
        endOffset: 0.1,
        slippagePercent: row.isUnbounded ? Number.POSITIVE_INFINITY : row.slippage,
        forceUpToSlippage: row.force ?? false,
        endBuffer,
        mustCross: null,
        oracle: row.isFixed ? null : prices.oracle,
      };
      const bound = limitPrice(direction, terms.startReference, terms.slippagePercent);
      expect(direction === 'long' ? bound + endBuffer : bound - endBuffer).toBe(row.limit);
      expect(auctionOrder(terms)).toEqual({
        orderType: row.isFixed ? 'market' : 'oracle',
        price: row.isFixed ? row.carried : null,
        auctionStartPrice: row.start,
        auctionEndPrice: row.end,
        oraclePriceOffset: row.isFixed ? null : row.carried,
      });
    });
  }
});

describe('recent fills', () => {
  const crossed = (ageMs: number): AuctionMarket => ({
    marketType: 'perp',
    marketIndex: 0,
    book: { bids: [dlob(100_200_000, 2_000_000_000n)], asks: [dlob(100_100_000, 2_000_000_000n)] },
    quotes: quotesOf(100_200_000n, 100_100_000n, 100_000_000n),
    oracle: 100_000_000n,
    recentFills: { takerBuyMicroBps: 3_250_000n, takerSellMicroBps: null, ageMs },
  });
  const derived = (ageMs: number, options: Partial<AuctionRequest> = {}) =>
    deriveAuction(
      { version: 2, direction: 'long', amount: 1_000_000_000n, assetType: 'base', ...options },
      crossed(ageMs),
      DEFAULT_AUCTION_SETTINGS,
    );

  it('moves the prices of a crossed book by the recent mean of takers, and ends at the best ask', () => {
    expect(crossed(0).quotes?.markPrice).toBe(100_100_000n);
    const { order, prices, slippagePercent } = derived(1000);
    expect(prices).toEqual({
      oracle: 100_032_500n,
      mark: 100_032_500n,
      best: 100_132_500n,
      entry: 100_132_500n,
      worst: 100_132_500n,
      impact: 0n,
    });
    expect(slippagePercent).toBeCloseTo(0.0659785569689851, 9);
    expect(order).toMatchObject({ auctionStartPrice: 0n, auctionEndPrice: 68_500n, oraclePriceOffset: 68_500n });
  });

  it('ignores means of more than ten minutes ago, and still ends at the best ask', () => {
    const { order, prices } = derived(600_001, { slippagePercent: 0 });
    expect(prices).toMatchObject({ oracle: 100_000_000n, mark: 100_100_000n, best: 100_100_000n });
    expect(prices.oracle + order.auctionEndPrice).toBe(100_101_000n);
    expect(derived(600_000).prices.oracle).toBe(100_032_500n);
  });

  it.each([
    ['0', 0n, 100_000_000n],
    ['+0.01 basis points', 10_000n, 100_000_100n],
    ['-0.01 basis points', -10_000n, 99_999_900n],
    ['less than half of 0.01 basis points', 4_999n, 100_000_000n],
  ])('a fresh mean of %s counts: the mark of a crossed book is the shifted oracle', (_, mean, oracle) => {
    const market = crossed(1000);
    const recentFills = { takerBuyMicroBps: mean, takerSellMicroBps: null, ageMs: 0 };
    const request: AuctionRequest = { version: 2, direction: 'long', amount: 1_000_000_000n, assetType: 'base' };
    const { prices } = deriveAuction(request, { ...market, recentFills }, DEFAULT_AUCTION_SETTINGS);
    expect(market.quotes?.markPrice).toBe(100_100_000n);
    expect(prices).toMatchObject({ oracle, mark: oracle, best: 100_100_000n + oracle - 100_000_000n });
  });

  it('a mean below one price unit in a cheap market moves the mark to the oracle', () => {
    const cheap: AuctionMarket = {
      ...crossed(1000),
      book: { bids: [dlob(12, 2_000_000_000n)], asks: [dlob(11, 2_000_000_000n)] },
      quotes: quotesOf(12n, 11n, 10n),
      oracle: 10n,
    };
    const request: AuctionRequest = { version: 2, direction: 'long', amount: 1_000_000_000n, assetType: 'base' };
    const { prices } = deriveAuction(request, cheap, DEFAULT_AUCTION_SETTINGS);
    expect(cheap.quotes?.markPrice).toBe(11n);
    expect(prices).toMatchObject({ oracle: 10n, mark: 10n, best: 11n, entry: 11n });
  });
});
