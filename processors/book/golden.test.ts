// Check values of the book rules, one test per value. They are typed in here, so that no code under test makes them.

import { describe, expect, it } from 'vitest';
import type { OrderState } from '../../schemas/index.ts';
import { keyOf, oracleOf, orderOf, ordersOf, PERP } from '../../test/support/processors/book/messages.ts';
import { BookEngine, type BookMessage, BookView, groupBook, indicativeView, type Level } from './index.ts';
import { quotesOf } from './quotes.ts';
import { spreadReserves, vammLevels } from './vamm.ts';

const level = (price: number, sizes: { dlob?: bigint; vamm?: bigint; indicative?: bigint }): Level => ({
  price,
  dlob: sizes.dlob ?? 0n,
  vamm: sizes.vamm ?? 0n,
  ...(sizes.indicative ? { indicative: sizes.indicative } : {}),
});

/** A reader's book after these messages, with a vAMM of exactly these levels. */
function viewAfter(messages: readonly BookMessage[], vamm: Partial<Record<'bids' | 'asks', Level[]>> = {}): BookView {
  const engine = new BookEngine(PERP);
  const view = new BookView();
  for (const side of ['bids', 'asks'] as const) {
    engine.orders[side].setVamm((vamm[side] ?? []).map(({ price, vamm: size }) => ({ price, size })));
  }
  for (const message of messages) {
    const diff = engine.apply(message);
    if (diff) expect(view.apply(diff)).toBe('applied');
  }
  return view;
}

/** Orders of one side as `[price, size]`. */
const restingAt = (direction: 'long' | 'short', pairs: readonly (readonly [number, bigint])[]) =>
  ordersOf({
    upserts: pairs.map(([price, baseAssetAmount], at) =>
      orderOf({ orderId: at + 1, direction, price: BigInt(price), baseAssetAmount }),
    ),
  });

describe('merge of orders and vAMM', () => {
  it('makes one level of orders and vAMM at the same price', () => {
    const orders = restingAt('short', [
      [100000000, 5n],
      [100000000, 7n],
      [100000200, 1n],
    ]);
    const asks = [level(100000000, { vamm: 10n }), level(100000100, { vamm: 4n })];
    expect(viewAfter([orders], { asks }).l2().asks).toEqual([
      level(100000000, { dlob: 12n, vamm: 10n }),
      level(100000100, { vamm: 4n }),
      level(100000200, { dlob: 1n }),
    ]);
  });
  it('counts levels of both sources in the depth', () => {
    const orders = restingAt('long', [
      [99, 1n],
      [97, 2n],
    ]);
    const bids = [level(98, { vamm: 3n }), level(97, { vamm: 4n })];
    expect(viewAfter([orders], { bids }).l2(2).bids).toEqual([level(99, { dlob: 1n }), level(98, { vamm: 3n })]);
  });
  it('merges an equal price into the last level of the depth', () => {
    const orders = restingAt('long', [
      [99, 1n],
      [98, 2n],
    ]);
    const quotes = [{ isOracleOffset: false, bid: { price: 99n, size: 4n }, ask: null }];
    const view = indicativeView(viewAfter([orders]), [{ maker: keyOf('quoter'), lapsesAtMs: 1, quotes }]);
    expect(view?.l2(1).bids).toEqual([level(99, { dlob: 1n, indicative: 4n })]);
  });
});

describe('visibility', () => {
  type Case = [name: string, slot: number, order: Partial<OrderState>];
  const limit: Partial<OrderState> = { orderType: 'limit', placedSlot: 1000, auctionDurationSlots: 10, price: 99n };
  const hidden: Case[] = [
    ['a limit order in the last slot of its auction', 1010, limit],
    ['a market order', 2000, { ...limit, orderType: 'market' }],
    ['an oracle order', 2000, { ...limit, orderType: 'oracle' }],
    ['a trigger limit order that waits', 2000, { ...limit, orderType: 'triggerLimit', triggerCondition: 'above' }],
    ['a triggered market order', 2000, { ...limit, orderType: 'triggerMarket', triggerCondition: 'triggeredBelow' }],
  ];
  const visible: Case[] = [
    ['a limit order after its auction', 1011, limit],
    ['a post-only order in its auction', 1001, { ...limit, postOnly: true }],
    ['a floating order in its auction', 1001, { ...limit, oraclePriceOffset: -250000n }],
    ['a triggered limit order', 2000, { ...limit, orderType: 'triggerLimit', triggerCondition: 'triggeredAbove' }],
    ['a limit order without an auction', 1000, { ...limit, auctionDurationSlots: 0 }],
  ];
  const visibleOrders = (slot: number, terms: Partial<OrderState>) => {
    const engine = new BookEngine(PERP);
    engine.apply(oracleOf({ slot: 1000, price: 100_000_000n }));
    engine.apply(ordersOf({ slot, upserts: [orderOf({ ...terms, baseAssetAmount: 10n })] }));
    const { bidOrders, askOrders } = engine.snapshot();
    return bidOrders.length + askOrders.length;
  };
  it.each(hidden)('hides %s', (_name, slot, terms) => expect(visibleOrders(slot, terms)).toBe(0));
  it.each(visible)('shows %s', (_name, slot, terms) => expect(visibleOrders(slot, terms)).toBe(1));
  it('removes an order that its account has no longer', () => {
    const engine = new BookEngine(PERP);
    const order = orderOf({ ...limit, baseAssetAmount: 10n });
    engine.apply(ordersOf({ slot: 2000, upserts: [order] }));
    engine.apply(ordersOf({ slot: 2000, removals: [{ maker: order.maker, orderId: order.orderId }] }));
    expect(engine.snapshot().bidOrders).toEqual([]);
  });
});

describe('price', () => {
  /** Price of a book's only order at this oracle price, in L2 and in L3. */
  const priceOf = (slot: number, oracle: bigint, terms: Partial<OrderState>) => {
    const order = orderOf({ placedSlot: 1000, baseAssetAmount: 5n, ...terms });
    const view = viewAfter([oracleOf({ slot: 1000, price: oracle }), ordersOf({ slot, upserts: [order] })]);
    const [levels, orders] = [view.l2(), view.l3()].map(({ bids, asks }) =>
      [...bids, ...asks].map(({ price }) => price),
    );
    expect(levels).toEqual(orders);
    return orders;
  };
  it('prices a floating order at the oracle plus its offset', () => {
    expect(priceOf(2000, 100000000n, { oraclePriceOffset: -250000n })).toEqual([99750000]);
  });
  it('prices no floating order below 1', () => {
    expect(priceOf(2000, 100n, { oraclePriceOffset: -250000n })).toEqual([1]);
  });
  it('prices a post-only order by its auction while that runs', () => {
    const bounds = { auctionDurationSlots: 10, auctionStartPrice: 103000000n, auctionEndPrice: 101000000n };
    const terms = { direction: 'short', postOnly: true, price: 101000000n, ...bounds } as const;
    expect(priceOf(1003, 100000000n, terms)).toEqual([102400000]);
  });
  it('truncates the offset of a floating auction toward zero', () => {
    const bounds = { auctionDurationSlots: 7, auctionStartPrice: -100000n, auctionEndPrice: 100000n };
    expect(priceOf(1003, 100000000n, { oraclePriceOffset: 500000n, ...bounds })).toEqual([99985714]);
  });
});

describe('remaining size', () => {
  const amounts = (direction: 'long' | 'short', filled: bigint, position: bigint) => {
    const terms = { direction, price: 5n, reduceOnly: true, baseAssetAmount: 10n } as const;
    const order = orderOf({ ...terms, baseAssetAmountFilled: filled, positionBaseAmount: position });
    const view = viewAfter([ordersOf({ upserts: [order] })]);
    const [l2, l3] = [view.l2(), view.l3()];
    return {
      l2: [...l2.bids, ...l2.asks].map(({ dlob }) => dlob),
      l3: [...l3.bids, ...l3.asks].map(({ size }) => size),
    };
  };
  // L3 has the order's own amount.
  it('limits a reduce-only ask to the long position, and shows its own amount in L3', () => {
    expect(amounts('short', 2n, 7n)).toEqual({ l2: [5n], l3: [8n] });
  });
  it('leaves a reduce-only bid that would add to a long position out of L2', () => {
    expect(amounts('long', 0n, 7n)).toEqual({ l2: [], l3: [10n] });
  });
  it('subtracts the filled amount after the limit of the position', () => {
    expect(amounts('long', 3n, -4n)).toEqual({ l2: [1n], l3: [7n] });
  });
});

describe('walk', () => {
  it('puts floating before fixed orders at the same price, then the lower slot first', () => {
    const engine = new BookEngine(PERP);
    engine.apply(oracleOf({ slot: 10, price: 100n }));
    const ask = { direction: 'short', baseAssetAmount: 1n } as const;
    engine.apply(
      ordersOf({
        slot: 10,
        upserts: [
          orderOf({ ...ask, orderId: 1, price: 101n, placedSlot: 5 }),
          orderOf({ ...ask, orderId: 2, price: 101n, placedSlot: 3 }),
          orderOf({ ...ask, orderId: 3, oraclePriceOffset: 1n, placedSlot: 9 }),
          orderOf({ ...ask, orderId: 4, price: 100n, placedSlot: 9 }),
        ],
      }),
    );
    expect(engine.snapshot().askOrders.map((order) => order.orderId)).toEqual([4, 3, 2, 1]);
  });
  it('lists each best maker once, the best first', () => {
    const engine = new BookEngine(PERP);
    const view = new BookView();
    const owners = ['A', 'B', 'A', 'C', 'A', 'D', 'E'];
    for (const [at, owner] of owners.entries()) {
      const order = orderOf({ maker: keyOf(owner), orderId: at, price: BigInt(100 - at), baseAssetAmount: 1n });
      const diff = engine.apply(ordersOf({ upserts: [order] }));
      if (diff) view.apply(diff);
    }
    expect(view.bestMakers('bid', 4)).toEqual(['A', 'B', 'C', 'D'].map(keyOf));
  });
});

describe('grouping', () => {
  const bids = [
    level(100004321, { dlob: 1000000000n }),
    level(100004300, { vamm: 2000000000n }),
    level(100003950, { dlob: 500000000n }),
    level(99999900, { dlob: 250000000n, indicative: 500000000n }),
    level(99950000, { vamm: 4000000000n }),
  ];
  const asks = [
    level(100004401, { dlob: 300000000n }),
    level(100005000, { vamm: 1000000000n }),
    level(100009999, { indicative: 200000000n }),
    level(100010000, { dlob: 100000000n }),
    level(100050001, { dlob: 900000000n }),
  ];
  const grouped = (group: number) => groupBook(bids, asks, group * 100);
  it('rounds bids down and asks up to groups of one tick', () => {
    const book = grouped(1);
    expect(book.bids).toEqual([
      level(100004300, { dlob: 1000000000n, vamm: 2000000000n }),
      level(100003900, { dlob: 500000000n }),
      level(99999900, { dlob: 250000000n, indicative: 500000000n }),
      level(99950000, { vamm: 4000000000n }),
    ]);
    expect(book.asks).toEqual([
      level(100004500, { dlob: 300000000n }),
      level(100005000, { vamm: 1000000000n }),
      level(100010000, { dlob: 100000000n, indicative: 200000000n }),
      level(100050100, { dlob: 900000000n }),
    ]);
    expect(book.levelLimit).toBe(20);
  });
  it('rounds bids down and asks up to groups of 10 ticks', () => {
    const book = grouped(10);
    expect(book.bids).toEqual([
      level(100004000, { dlob: 1000000000n, vamm: 2000000000n }),
      level(100003000, { dlob: 500000000n }),
      level(99999000, { dlob: 250000000n, indicative: 500000000n }),
      level(99950000, { vamm: 4000000000n }),
    ]);
    expect(book.asks).toEqual([
      level(100005000, { dlob: 300000000n, vamm: 1000000000n }),
      level(100010000, { dlob: 100000000n, indicative: 200000000n }),
      level(100051000, { dlob: 900000000n }),
    ]);
    expect(book.levelLimit).toBe(20);
  });
  it('rounds bids down and asks up to groups of 100 ticks', () => {
    const book = grouped(100);
    expect(book.bids).toEqual([
      level(100000000, { dlob: 1500000000n, vamm: 2000000000n }),
      level(99990000, { dlob: 250000000n, indicative: 500000000n }),
      level(99950000, { vamm: 4000000000n }),
    ]);
    expect(book.asks).toEqual([
      level(100010000, { dlob: 400000000n, vamm: 1000000000n, indicative: 200000000n }),
      level(100060000, { dlob: 900000000n }),
    ]);
    expect(book.levelLimit).toBe(20);
  });
  it('rounds bids down and asks up to groups of 500 ticks', () => {
    const book = grouped(500);
    expect(book.bids).toEqual([
      level(100000000, { dlob: 1500000000n, vamm: 2000000000n }),
      level(99950000, { dlob: 250000000n, vamm: 4000000000n, indicative: 500000000n }),
    ]);
    expect(book.asks).toEqual([
      level(100050000, { dlob: 400000000n, vamm: 1000000000n, indicative: 200000000n }),
      level(100100000, { dlob: 900000000n }),
    ]);
    expect(book.levelLimit).toBe(20);
  });
  it('rounds bids down and asks up to groups of 1,000 ticks', () => {
    const book = grouped(1000);
    expect(book.bids).toEqual([
      level(100000000, { dlob: 1500000000n, vamm: 2000000000n }),
      level(99900000, { dlob: 250000000n, vamm: 4000000000n, indicative: 500000000n }),
    ]);
    expect(book.asks).toEqual([level(100100000, { dlob: 1300000000n, vamm: 1000000000n, indicative: 200000000n })]);
    expect(book.levelLimit).toBe(20);
  });
  const crossedBids = [
    level(100000250, { dlob: 1000000000n }),
    level(100000150, { vamm: 2000000000n }),
    level(99999950, { dlob: 3000000000n }),
  ];
  const crossedAsks = [
    level(100000050, { dlob: 1000000000n }),
    level(100000220, { dlob: 4000000000n }),
    level(100000900, { vamm: 5000000000n }),
  ];
  it('raises the limit of levels by the crossed ones', () => {
    expect(groupBook(crossedBids, crossedAsks, 100)).toEqual({
      bids: [
        level(100000200, { dlob: 1000000000n }),
        level(100000100, { vamm: 2000000000n }),
        level(99999900, { dlob: 3000000000n }),
      ],
      asks: [
        level(100000100, { dlob: 1000000000n }),
        level(100000300, { dlob: 4000000000n }),
        level(100000900, { vamm: 5000000000n }),
      ],
      crossedBids: 2,
      crossedAsks: 1,
      levelLimit: 22,
    });
  });
  it('uncrosses a book in wider groups', () => {
    expect(groupBook(crossedBids, crossedAsks, 1000)).toEqual({
      bids: [level(100000000, { dlob: 1000000000n, vamm: 2000000000n }), level(99999000, { dlob: 3000000000n })],
      asks: [level(100001000, { dlob: 5000000000n, vamm: 5000000000n })],
      crossedBids: 0,
      crossedAsks: 0,
      levelLimit: 20,
    });
  });
  it('keeps no more than twenty levels of an uncrossed book', () => {
    const many = Array.from({ length: 50 }, (_, at) => level(1000 - at, { dlob: 1n }));
    expect(groupBook(many, [], 1).bids.length).toBe(20);
  });
});

describe('quotes', () => {
  type Row = [name: string, bid: bigint, ask: bigint, oracle: bigint | null, mark: bigint, spread: bigint, pct: bigint];
  const rows: Row[] = [
    ['the middle of a usual book', 81114210n, 81130450n, 81122330n, 81122330n, 16240n, 20019n],
    ['the middle, however far the oracle is', 99000000n, 101000000n, 150000000n, 100000000n, 2000000n, 2000000n],
    ['the oracle between the prices of a crossed book', 101000000n, 99000000n, 100000000n, 100000000n, 0n, 0n],
    ['the lower price of a book crossed above the oracle', 103000000n, 102000000n, 100000000n, 102000000n, 0n, 0n],
    ['the higher price of a book crossed below the oracle', 99000000n, 98000000n, 100000000n, 99000000n, 0n, 0n],
    ['the middle of a crossed book without an oracle', 101000000n, 99000000n, null, 100000000n, 0n, 0n],
    ['the common price of a locked book', 100000000n, 100000000n, 105000000n, 100000000n, 0n, 0n],
    ['the middle of neighbouring prices, rounded down', 100000001n, 100000002n, 100000000n, 100000001n, 1n, 0n],
  ];
  for (const [name, bid, ask, oracle, markPrice, spreadQuote, spreadPct] of rows) {
    it(`marks at ${name}`, () => {
      const expected = { bestBidPrice: bid, bestAskPrice: ask, markPrice, spreadQuote, spreadPct };
      expect(quotesOf(bid, ask, oracle)).toEqual(expected);
    });
  }
  it('gives no quotes when a side is empty', () => expect(quotesOf(null, 100000000n, 99000000n)).toBeNull());
});

describe('vAMM', () => {
  const plain = { base: 1000000000000000n, quote: 1000000000000000n };
  it("moves the vAMM's ask reserves by the ask spread", () => {
    expect(spreadReserves(plain, 1000000000000000n, 1000n)).toEqual({
      quote: 1000500000000000n,
      base: 999500249875062n,
    });
  });
  it("moves the vAMM's bid reserves by the bid spread", () => {
    expect(spreadReserves(plain, 1000000000000000n, -1000n)).toEqual({
      quote: 999500000000000n,
      base: 1000500250125062n,
    });
  });
  const curve = {
    openLiquidity: 100000000000000n,
    sqrtK: 1000000000000000n,
    peg: 100000000n,
    oracle: 100000000n,
    stepSize: 10000000n,
    tickSize: 100n,
    marketIndex: 0,
  };
  const total = (levels: readonly { size: bigint }[]) => levels.reduce((sum, { size }) => sum + size, 0n);
  it('spreads the open liquidity over a hundred asks', () => {
    const reserves = { base: 999500249875062n, quote: 1000500000000000n };
    const levels = vammLevels({ ...curve, side: 'ask', reserves });
    expect(levels.length).toBe(100);
    expect(levels.slice(0, 6)).toEqual([
      { price: 100105100, size: 50000000000n },
      { price: 100120100, size: 100000000000n },
      { price: 100150200, size: 200000000000n },
      { price: 100220400, size: 500000000000n },
      { price: 100374400, size: 1032812500000n },
      { price: 100582400, size: 1032812500000n },
    ]);
    expect(levels.at(-1)).toEqual({ price: 123452300, size: 1032812500000n });
    expect(total(levels)).toBe(100000000000000n);
  });
  it('spreads the open liquidity over a hundred bids', () => {
    const reserves = { base: 1000500250125062n, quote: 999500000000000n };
    const levels = vammLevels({ ...curve, side: 'bid', reserves });
    expect(levels.length).toBe(100);
    expect(levels.slice(0, 6)).toEqual([
      { price: 99895000, size: 50000000000n },
      { price: 99880000, size: 100000000000n },
      { price: 99850100, size: 200000000000n },
      { price: 99780300, size: 500000000000n },
      { price: 99627700, size: 1032812500000n },
      { price: 99422600, size: 1032812500000n },
    ]);
    expect(levels.at(-1)).toEqual({ price: 82647000, size: 1032812500000n });
    expect(total(levels)).toBe(100000000000000n);
  });
  it('has the prices of a tick size of 1 where the market has none', () => {
    const at = (tickSize: bigint) =>
      vammLevels({ ...curve, tickSize, side: 'ask', reserves: { base: 999500249875062n, quote: 1000500000000000n } });
    expect(at(0n)).toEqual(at(1n));
    expect(at(0n)).toHaveLength(100);
  });
});
