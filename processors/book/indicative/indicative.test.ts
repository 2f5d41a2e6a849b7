import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BookViewSnapshot, MakerQuote, MakerQuotes, ViewOracle, ViewOrder } from '../../../schemas/index.ts';
import { BookView, type Level, levelSize, type Side } from '../index.ts';
import { bestMakers } from '../makers.ts';
import { MAX_MAKERS_PER_MARKET, QUOTE_FRESH_MS, QuoteBoard } from './board.ts';
import { indicativeOrders, walkOrder } from './orders.ts';
import { type IndicativeView, indicativeView, withIndicative } from './view.ts';

const MARKET = { marketType: 'perp', marketIndex: 0 } as const;
const KEY = 'perp-0';
const maker = (seed: number): Uint8Array => new Uint8Array(32).fill(seed);

const side = (price: number | bigint, size: number | bigint) => ({ price: BigInt(price), size: BigInt(size) });
const fixed = (bid: MakerQuote['bid'], ask: MakerQuote['ask'] = null): MakerQuote => ({
  isOracleOffset: false,
  bid,
  ask,
});
const floating = (bid: MakerQuote['bid'], ask: MakerQuote['ask'] = null): MakerQuote => ({
  isOracleOffset: true,
  bid,
  ask,
});
const sent = (quotes: readonly MakerQuote[], receivedAtMs = 9500, seed = 1): MakerQuotes => ({
  ...MARKET,
  receivedAtMs,
  maker: maker(seed),
  quotes,
});

const oracleAt = (price: number): ViewOracle => ({
  price: BigInt(price),
  slot: 1n,
  confidence: 1n,
  hasSufficientNumberOfDataPoints: true,
  twap: null,
  twapConfidence: null,
  maxPrice: null,
});

interface Firm {
  readonly bids?: readonly Level[];
  readonly asks?: readonly Level[];
  readonly bidOrders?: readonly ViewOrder[];
  readonly oracle?: number;
  readonly mmOracle?: number;
}

function bookOf({ bids = [], asks = [], bidOrders = [], oracle = 100_000_000, mmOracle = oracle }: Firm): BookView {
  const book = new BookView();
  const snapshot: BookViewSnapshot = {
    ...MARKET,
    epoch: 1,
    seq: 1,
    slot: 1,
    marketSlot: 1,
    oracle: oracleAt(oracle),
    mmOracle: oracleAt(mmOracle),
    isMmOracleActive: true,
    bids,
    asks,
    bidOrders,
    askOrders: [],
  };
  book.apply(snapshot);
  return book;
}

const dlob = (price: number, size = 1n): Level => ({ price, dlob: size, vamm: 0n });
const vamm = (price: number, size = 1n): Level => ({ price, dlob: 0n, vamm: size });
const own = (price: number, indicative: bigint): Level => ({ price, dlob: 0n, vamm: 0n, indicative });

function overlay(firm: Firm, messages: readonly MakerQuotes[], nowMs = 10_000): IndicativeView | null {
  const board = new QuoteBoard();
  for (const message of messages) board.put(message, message.receivedAtMs);
  return indicativeView(bookOf(firm), board.fresh(KEY, nowMs));
}

describe('golden rows', () => {
  const firm = {
    bids: [vamm(99_950_000), dlob(99_900_000)],
    asks: [vamm(100_050_000), dlob(100_100_000)],
  };
  const indicativeOf = (levels: readonly Level[]) => levels.filter((level) => level.indicative !== undefined);

  it('limits a bid above the firm touch to the better firm bid', () => {
    const view = overlay(firm, [sent([fixed(side(99_960_000, 5))], 9001)]);
    expect(indicativeOf(view?.l2().bids ?? [])).toEqual([{ ...vamm(99_950_000), indicative: 5n }]);
    expect(view?.l3().bids.map(({ price, size }) => [price, size])).toEqual([[99_950_000, 5n]]);
  });

  it('leaves out a set that is exactly 1,000 ms old', () => {
    expect(overlay(firm, [sent([fixed(side(99_800_000, 5))], 9000)])).toBeNull();
  });

  it('prices an offset quote at the oracle plus its offset', () => {
    const view = overlay(firm, [sent([floating(null, side(250_000, 7))], 9500)]);
    expect(indicativeOf(view?.l2().asks ?? [])).toEqual([own(100_250_000, 7n)]);
  });

  it('merges an equal price into the last level of the depth', () => {
    const view = overlay({ bids: [dlob(99, 1n), dlob(98, 2n)], oracle: 99 }, [sent([fixed(side(99, 4))])]);
    expect(view?.l2(1).bids).toEqual([{ ...dlob(99, 1n), indicative: 4n }]);
  });
});

describe('pricing', () => {
  it('lets a clamped offset quote stop floating, and keeps one that floats ahead of fixed orders at its price', () => {
    const firm = { bestBid: 100, bestAsk: 110, oracle: 105n, mmOracle: 105n };
    const quotes = [floating(side(-1, 3)), floating(side(-5, 4)), fixed(side(100, 5))];
    const { bids } = indicativeOrders([{ maker: maker(1), lapsesAtMs: 1, quotes }], firm);
    expect(bids.map(({ orderId, price, rank }) => [orderId, price, rank[0]])).toEqual([
      [1, 100, 1],
      [0, 100, 3],
      [2, 100, 3],
    ]);
  });

  it('compares with the touch by the market-maker oracle and publishes by the exchange oracle', () => {
    const firm = { bestBid: 1000, bestAsk: 1020, oracle: 1005n, mmOracle: 1012n };
    const quotes = [floating(side(-10, 1)), floating(side(-20, 2))];
    const { bids } = indicativeOrders([{ maker: maker(1), lapsesAtMs: 1, quotes }], firm);
    // 1012 - 10 is above the touch, so it is fixed there; 1012 - 20 is not, so its price is 1005 - 20.
    expect(bids.map(({ orderId, price }) => [orderId, price])).toEqual([
      [0, 1000],
      [1, 985],
    ]);
  });

  it('never goes below 1, and leaves out prices beyond the number range', () => {
    const firm = { bestBid: null, bestAsk: null, oracle: 50n, mmOracle: 50n };
    const huge = BigInt(Number.MAX_SAFE_INTEGER);
    const quotes = [floating(side(-80, 1)), floating(side(huge, 1)), fixed(side(0, 1)), fixed(side(10, 0))];
    const { bids } = indicativeOrders([{ maker: maker(1), lapsesAtMs: 1, quotes }], firm);
    expect(bids.map(({ price }) => price)).toEqual([1]);
  });

  it('numbers orders from 0 on every build, over makers in the order of their keys, bid before ask', () => {
    const both = fixed(side(90, 1), side(120, 2));
    const view = overlay({ bids: [dlob(95)], asks: [dlob(110)], oracle: 100 }, [
      sent([both], 9500, 2),
      sent([fixed(null, side(130, 1)), both], 9500, 1),
    ]);
    const ids = (orders: readonly ViewOrder[] = []) => orders.map(({ orderId, price }) => [orderId, price]);
    expect(ids(view?.l3().asks)).toEqual([
      [2, 120],
      [4, 120],
      [0, 130],
    ]);
    expect(ids(view?.l3().bids)).toEqual([
      [1, 90],
      [3, 90],
    ]);
  });

  it('puts floating quotes before and fixed quotes after the firm orders of a price', () => {
    const firm = (orderId: number, list: number): ViewOrder => ({
      price: 95,
      size: 1n,
      maker: maker(7),
      orderId,
      source: 'user',
      rank: [list, 10, orderId],
    });
    const bidOrders = [firm(70, 1), firm(71, 2), firm(72, 3)];
    const view = overlay({ bids: [dlob(95, 3n)], asks: [dlob(110)], oracle: 100, bidOrders }, [
      sent([fixed(side(95, 1)), floating(side(-5, 1))]),
    ]);
    expect(view?.l3().bids.map(({ orderId }) => orderId)).toEqual([70, 1, 71, 72, 0]);
  });

  it('leaves the plain book and its best makers alone', () => {
    const book = bookOf({ bids: [dlob(95)], asks: [dlob(110)] });
    const before = [book.l2(), book.l3(), book.quotes()];
    const view = indicativeView(book, [{ maker: maker(1), lapsesAtMs: 1, quotes: [fixed(side(95, 9))] }]);
    expect(view?.l2().bids[0]?.indicative).toBe(9n);
    expect([book.l2(), book.l3(), book.quotes()]).toEqual(before);
    expect(bestMakers('bid', () => book.walk('bid'), 4, 0)).toEqual([]);
  });
});

describe('sets that count', () => {
  const quote = [fixed(side(90, 1))];

  it('keeps the newest set of each maker', () => {
    const board = new QuoteBoard();
    expect(board.put(sent(quote, 9000), 9000)).toBe('changed');
    expect(board.put(sent(quote, 9400), 9400)).toBe('same');
    expect(board.put(sent([fixed(side(91, 1))], 9500), 9500)).toBe('changed');
    board.put(sent(quote, 9600, 2), 9600);
    expect(board.fresh(KEY, 10_000).map(({ quotes }) => quotes[0]?.bid?.price)).toEqual([91n, 90n]);
    expect(board.fresh('perp-1', 10_000)).toEqual([]);
  });

  it('withdraws on an empty set', () => {
    const board = new QuoteBoard();
    board.put(sent(quote, 9500), 9500);
    expect(board.put(sent([], 9600), 9600)).toBe('changed');
    expect(board.put(sent([], 9600), 9600)).toBe('same');
    expect(board.fresh(KEY, 9700)).toEqual([]);
  });

  it('returns lapsed markets once, and the time of the next lapse', () => {
    const board = new QuoteBoard();
    board.put(sent(quote, 9000), 9000);
    board.put({ ...sent(quote, 9300), marketIndex: 4 }, 9300);
    expect(board.nextLapseMs()).toBe(9000 + QUOTE_FRESH_MS);
    expect([...board.lapse(9999)]).toEqual([]);
    expect([...board.lapse(10_000)]).toEqual([KEY]);
    expect([...board.lapse(10_000)]).toEqual([]);
    expect(board.nextLapseMs()).toBe(10_300);
    board.lapse(20_000);
    expect(board.nextLapseMs()).toBeNull();
  });

  it('gives no advantage to a clock that runs ahead, and none to a late set', () => {
    const board = new QuoteBoard();
    board.put(sent(quote, 99_000), 9000);
    expect(board.fresh(KEY, 10_000)).toEqual([]);
    expect(board.put(sent(quote, 8000, 2), 9000)).toBe('same');
    expect(board.fresh(KEY, 9000)).toHaveLength(1);
  });

  it('bounds the makers of a market until one of them lapses', () => {
    const board = new QuoteBoard();
    for (let seed = 0; seed < MAX_MAKERS_PER_MARKET; seed++) board.put(sent(quote, 9000 + seed, seed), 9000 + seed);
    expect(board.put(sent(quote, 9200, 200), 9200)).toBe('full');
    expect(board.put(sent(quote, 10_000, 200), 10_000)).toBe('changed');
    expect(board.fresh(KEY, 10_000)).toHaveLength(MAX_MAKERS_PER_MARKET);
  });

  it('says whether a maker has room', () => {
    const board = new QuoteBoard();
    const other = sent(quote, 9200, 200).maker;
    for (let seed = 0; seed < MAX_MAKERS_PER_MARKET; seed++) {
      expect(board.hasRoom(KEY, other, 9100)).toBe(true);
      board.put(sent(quote, 9000 + seed, seed), 9000 + seed);
    }
    expect(board.hasRoom(KEY, other, 9100)).toBe(false);
    expect(board.hasRoom(KEY, sent(quote, 9100, 7).maker, 9100)).toBe(true);
    expect(board.hasRoom('perp-1', other, 9100)).toBe(true);
    expect(board.hasRoom(KEY, other, 9000 + QUOTE_FRESH_MS)).toBe(true);
  });

  it('replaces the other maker that lapses first by a preferred one', () => {
    const board = new QuoteBoard(([first = 0]) => first >= 150 || first === 0);
    for (let seed = 0; seed < MAX_MAKERS_PER_MARKET; seed++) board.put(sent(quote, 9000 + seed, seed), 9000 + seed);
    const preferred = sent(quote, 9200, 150);
    expect(board.hasRoom(KEY, preferred.maker, 9200)).toBe(true);
    expect(board.put(preferred, 9200)).toBe('changed');
    const visible = board.fresh(KEY, 9200).map(({ maker: [first = 0] }) => first);
    expect(visible).toHaveLength(MAX_MAKERS_PER_MARKET);
    expect([0, 1, 150].map((seed) => visible.includes(seed))).toEqual([true, false, true]);
    expect(board.put(sent(quote, 9200, 1), 9200)).toBe('full');
    const last = 149 + MAX_MAKERS_PER_MARKET;
    for (let seed = 151; seed < last; seed++) expect(board.put(sent(quote, 9200, seed), 9200)).toBe('changed');
    expect(board.put(sent(quote, 9200, last), 9200)).toBe('full');
  });
});

describe('any quotes over any book', () => {
  const price = fc.integer({ min: 1, max: 400 });
  const size = fc.bigInt({ min: 0n, max: 50n });
  const levels = (name: Side) =>
    fc
      .uniqueArray(fc.record({ price, dlob: size, vamm: size }), { selector: (level) => level.price, maxLength: 12 })
      .map((list) => list.filter(({ dlob, vamm }) => dlob + vamm > 0n))
      .map((list) => list.sort((a, b) => (name === 'bid' ? b.price - a.price : a.price - b.price)));
  const quoteSide = (isOracleOffset: boolean) =>
    fc.option(
      fc.record({
        price: isOracleOffset ? fc.bigInt({ min: -400n, max: 400n }) : price.map(BigInt),
        size,
      }),
    );
  const quote = fc.boolean().chain((isOracleOffset) =>
    fc.record({
      isOracleOffset: fc.constant(isOracleOffset),
      bid: quoteSide(isOracleOffset),
      ask: quoteSide(isOracleOffset),
    }),
  );
  const message = fc.record({
    seed: fc.integer({ min: 1, max: 3 }),
    age: fc.integer({ min: 0, max: 1500 }),
    quotes: fc.array(quote, { maxLength: 4 }),
  });
  const scene = fc.record({
    bids: levels('bid'),
    asks: levels('ask'),
    oracle: fc.integer({ min: 1, max: 400 }),
    mmOracle: fc.integer({ min: 1, max: 400 }),
    messages: fc.array(message, { maxLength: 5 }),
  });

  it('never improves the firm touch, keeps sides sorted, and adds exactly the sizes of its orders', () => {
    fc.assert(
      fc.property(scene, ({ messages, ...firm }) => {
        const view = overlay(
          firm,
          messages.map(({ seed, age, quotes }) => sent(quotes, 10_000 - age, seed)),
        );
        if (!view) return;
        const { bids, asks } = view.l2(1000);
        if (firm.bids[0]) expect(bids[0]?.price).toBe(firm.bids[0].price);
        if (firm.asks[0]) expect(asks[0]?.price).toBe(firm.asks[0].price);
        for (const [at, level] of bids.entries()) expect(level.price).toBeLessThan(bids[at - 1]?.price ?? Infinity);
        for (const [at, level] of asks.entries()) expect(level.price).toBeGreaterThan(asks[at - 1]?.price ?? 0);
        const l3 = view.l3();
        for (const [levelsOf, orders, plain] of [
          [bids, l3.bids, firm.bids],
          [asks, l3.asks, firm.asks],
        ] as const) {
          for (const level of levelsOf) {
            const base = plain.find((one) => one.price === level.price);
            expect([level.dlob, level.vamm]).toEqual([base?.dlob ?? 0n, base?.vamm ?? 0n]);
            const visible = orders.filter((order) => order.price === level.price);
            expect(level.indicative ?? 0n).toBe(visible.reduce((sum, order) => sum + order.size, 0n));
            expect(levelSize(level)).toBe(level.dlob + level.vamm + (level.indicative ?? 0n));
            expect(levelSize(level)).toBeGreaterThan(0n);
          }
          expect(orders.map((order) => order.price).every((one) => levelsOf.some((level) => level.price === one))).toBe(
            true,
          );
        }
        const ids = [...l3.bids, ...l3.asks].map((order) => order.orderId).sort((a, b) => a - b);
        expect(ids).toEqual(ids.map((_, index) => index));
      }),
    );
  });

  it('walks its orders in price and rank order', () => {
    fc.assert(
      fc.property(scene, ({ messages, ...firm }) => {
        const view = overlay(
          firm,
          messages.map(({ seed, quotes }) => sent(quotes, 9999, seed)),
        );
        const l3 = view?.l3() ?? { bids: [], asks: [] };
        expect([...l3.bids].sort(walkOrder('bid'))).toEqual(l3.bids);
        expect([...l3.asks].sort(walkOrder('ask'))).toEqual(l3.asks);
      }),
    );
  });

  it('reads the same levels lazily as whole', () => {
    fc.assert(
      fc.property(levels('bid'), fc.array(fc.record({ price, size }), { maxLength: 8 }), (firm, orders) => {
        const sorted = orders.filter((order) => order.size > 0n).sort((a, b) => b.price - a.price);
        const merged = [...withIndicative('bid', firm, sorted)];
        const total = (list: readonly Level[]) => list.reduce((sum, level) => sum + levelSize(level), 0n);
        expect(total(merged)).toBe(total(firm) + sorted.reduce((sum, order) => sum + order.size, 0n));
        expect(new Set(merged.map((level) => level.price)).size).toBe(merged.length);
      }),
    );
  });
});
