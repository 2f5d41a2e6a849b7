// The engine against a naive model over random messages, and its promises to readers.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BookViewDiff, Cause, ViewOrder, ViewOrderRef } from '../../schemas/index.ts';
import { expectEqual } from '../../test/support/platform/equal.ts';
import { BEYOND_NUMBERS, messages, order } from '../../test/support/processors/book/arbitrary.ts';
import { hashBooks } from '../../test/support/processors/book/hash.ts';
import { publishedLists, replicaLists } from '../../test/support/processors/book/lists.ts';
import {
  beginOf,
  endOf,
  keyOf,
  marketOf,
  oracleOf,
  orderOf,
  ordersOf,
  PERP,
  slotOf,
} from '../../test/support/processors/book/messages.ts';
import { NaiveBookModel } from '../../test/support/processors/book/naive.ts';
import { restoreEngine, saveEngine } from './checkpoint.ts';
import { FrozenBook } from './frozen.ts';
import { BookEngine, type BookMessage, BookView } from './index.ts';
import { IndicativeView } from './indicative/view.ts';
import { findingsOf } from './shadow/compare.ts';
import { finish } from './steps.ts';

/** A comparison without expectations. */
const NO_EXPECTATIONS = { ...PERP, orders: 0, digest: '', market: null, oracle: null };

/** Ends the bracket of an engine that keeps its changes. */
function endBracket(engine: BookEngine) {
  return engine.isHeld ? engine.apply(endOf(engine.state.bracketSlot)) : null;
}

/** The naive book knows no causes. */
function causeless(book: ReturnType<typeof publishedLists>) {
  const bare = (orders: readonly ViewOrder[]) => orders.map(({ cause: _, ...order }) => order);
  return { ...book, bidOrders: bare(book.bidOrders), askOrders: bare(book.askOrders) };
}

describe('book engine, over random messages', () => {
  it('equals a naive book after every message, and so does the reader', () => {
    fc.assert(
      fc.property(messages, (sequence) => {
        const engine = new BookEngine(PERP);
        const naive = new NaiveBookModel();
        const view = new BookView();
        for (const next of sequence) {
          naive.apply(next);
          const before = JSON.stringify(replicaLists(view), text);
          const diff = engine.apply(next);
          const expected = naive.book();
          expectEqual(causeless(publishedLists(engine)), expected);
          if (diff) expect(view.apply(diff)).toBe('applied');
          else expect(JSON.stringify(replicaLists(view), text)).toBe(before);
          if (!engine.isHeld) expectEqual(replicaLists(view), publishedLists(engine));
          expect(view.head?.seq ?? 0).toBe(engine.state.seq);
          expect([...expected.bids, ...expected.asks].filter(({ dlob, vamm }) => dlob + vamm <= 0n)).toEqual([]);
        }
        // The shadow check recomputes from the orders what the engine keeps up to date.
        const { fields, levels, misplaced } = finish(
          findingsOf(new FrozenBook(engine), { ...NO_EXPECTATIONS, slot: engine.slot }),
        );
        expect([fields, levels, misplaced]).toEqual([[], [], []]);
      }),
      { numRuns: 400 },
    );
  });

  it('continues after a checkpoint like an uninterrupted engine', () => {
    fc.assert(
      fc.property(messages, messages, (first, second) => {
        const engine = new BookEngine(PERP);
        for (const next of first) engine.apply(next);
        endBracket(engine);
        const restored = restoreEngine(saveEngine(engine));
        expect(hashBooks([restored])).toBe(hashBooks([engine]));
        expect(publishedLists(restored)).toEqual(publishedLists(engine));
        expect(restored.leftOut).toBe(engine.leftOut);
        for (const next of second) {
          expectEqual(restored.apply(next), engine.apply(next));
          expect(restored.takeSnapshotDue()).toBe(engine.takeSnapshotDue());
        }
        expect(hashBooks([restored])).toBe(hashBooks([engine]));
      }),
      { numRuns: 200 },
    );
  });

  it('gives a late reader the same book from a snapshot', () => {
    fc.assert(
      fc.property(messages, messages, (first, second) => {
        const engine = new BookEngine(PERP);
        for (const next of first) engine.apply(next);
        endBracket(engine);
        const view = new BookView();
        if (engine.state.seq > 0) view.apply(engine.snapshot());
        for (const next of second) {
          const diff = engine.apply(next);
          if (diff) expect(view.apply(diff)).toBe('applied');
        }
        const last = endBracket(engine);
        if (last) expect(view.apply(last)).toBe('applied');
        expect(replicaLists(view)).toEqual(publishedLists(engine));
      }),
      { numRuns: 100 },
    );
  });

  it('changes nothing when a snapshot bracket is repeated', () => {
    fc.assert(
      fc.property(messages, fc.array(order, { maxLength: 10 }), (first, orders) => {
        const engine = new BookEngine(PERP);
        for (const next of first) engine.apply(next);
        const bracket = [beginOf(500), ...orders.map((one) => ordersOf({ slot: 500, upserts: [one] })), endOf(500)];
        for (const next of bracket) engine.apply(next);
        const once = publishedLists(engine);
        const keys = new Set(orders.map(({ maker, orderId }) => `${maker.join()}/${orderId}`));
        expect(engine.orderCount).toBe(keys.size);
        for (const next of bracket) engine.apply(next);
        const ignoringArrival = (book: ReturnType<typeof publishedLists>) => JSON.stringify(book, text);
        expect(ignoringArrival(publishedLists(engine))).toBe(ignoringArrival(once));
      }),
      { numRuns: 100 },
    );
  });
});

describe('causes of a book, over random messages', () => {
  const nameOf = ({ maker, orderId }: Omit<ViewOrderRef, 'source'>, source: string) => `${source}/${orderId}/${maker}`;

  it('name the transaction that wrote the order last; a move of the slot, an oracle or a neighbour keeps it', () => {
    fc.assert(
      fc.property(messages, (sequence) => {
        const engine = new BookEngine(PERP);
        const known = new Map<string, Cause | null>();
        // Inside a held bracket writes wait for its end, whose cause nobody knows.
        let written = new Set<string>();
        for (const message of sequence) {
          const {
            cause = null,
            source = '',
            upserts = [],
            removals = [],
          } = message.name === 'BookOrders' ? message.value : {};
          for (const order of [...upserts, ...removals]) written.add(nameOf(order, source));
          const diff = engine.apply(message);
          if (diff === null && engine.isHeld) continue;
          const { bidOrders = [], askOrders = [], gone = [] } = diff ?? {};
          const changed = [...bidOrders, ...askOrders];
          for (const order of changed) {
            const name = nameOf(order, order.source);
            expect(order.cause).toEqual(written.has(name) ? cause : known.get(name));
          }
          for (const order of gone)
            expect(order.cause).toEqual(written.has(nameOf(order, order.source)) ? cause : null);
          const { bidOrders: bids, askOrders: asks } = engine.snapshot();
          const visible = new Set([...bids, ...asks].map((order) => nameOf(order, order.source)));
          for (const name of written) if (!visible.has(name)) known.set(name, cause);
          for (const order of changed) known.set(nameOf(order, order.source), order.cause ?? null);
          written = new Set();
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe('book engine', () => {
  it('numbers its changes without a gap, from 1, in the epoch of its first message', () => {
    const engine = new BookEngine(PERP);
    const diffs: (BookViewDiff | null)[] = [
      engine.apply(beginOf(70)),
      engine.apply(ordersOf({ slot: 70, upserts: [orderOf({ price: 5n, baseAssetAmount: 1n })] })),
      engine.apply(slotOf(72)),
      engine.apply(slotOf(72)),
      engine.apply(slotOf(73)),
    ];
    expect(diffs.map((diff) => diff && [diff.epoch, diff.seq, diff.slot])).toEqual([
      null,
      [70, 1, 70],
      [70, 2, 72],
      null,
      [70, 3, 73],
    ]);
  });

  it('stands at its slot inside a later snapshot bracket and keeps all changes for the end', () => {
    const engine = new BookEngine(PERP);
    engine.apply(beginOf(40));
    engine.apply(endOf(40));
    const price = (slot: number) =>
      ordersOf({ slot, upserts: [orderOf({ price: BigInt(slot), baseAssetAmount: 1n })] });
    engine.apply(price(50));
    // The market was read at slot 90, and the orders follow.
    const bracket = [beginOf(70), oracleOf({ slot: 90 }), marketOf({ slot: 90 }), price(60), price(95)];
    for (const next of [...bracket, slotOf(95)]) expect([engine.apply(next), engine.isHeld]).toEqual([null, true]);
    expect(engine.takeSnapshotDue()).toBe(false);
    const diff = engine.apply(endOf(70));
    expect([diff?.slot, diff?.bidOrders.length, engine.isHeld]).toEqual([95, 1, false]);
    expect(engine.apply(price(96))?.slot).toBe(96);
  });

  it.each([
    ['an oracle price', oracleOf({ slot: 80 })],
    ['a snapshot bracket', beginOf(80)],
  ])('has the slot of its first message, also when that is %s', (_, first) => {
    const engine = new BookEngine(PERP);
    const slotBefore = engine.apply(first)?.slot ?? engine.slot;
    engine.apply(endOf(80));
    const slots = [oracleOf({ slot: 81, price: 7n }), slotOf(82)].map((next) => engine.apply(next)?.slot);
    // A price of the next slot is never in the book of this one.
    expect([slotBefore, ...slots]).toEqual([80, 81, 82]);
  });

  it('begins an epoch above one that could not continue', () => {
    const engine = new BookEngine(PERP, 500);
    expect(engine.apply(slotOf(400))?.epoch).toBe(501);
    expect(new BookEngine(PERP, 500).apply(slotOf(900))?.epoch).toBe(900);
  });

  it('leaves out and counts an order whose price is beyond 2^53', () => {
    const engine = new BookEngine(PERP);
    engine.apply(ordersOf({ upserts: [orderOf({ price: BEYOND_NUMBERS, baseAssetAmount: 1n })] }));
    expect(publishedLists(engine).bidOrders).toEqual([]);
    expect(engine.leftOut).toBe(1);
    engine.apply(ordersOf({ removals: [{ maker: keyOf('maker'), orderId: 1 }] }));
    expect(engine.leftOut).toBe(0);
  });

  it('adds sizes beyond 2^53 exactly, and publishes no more than the wire can carry', () => {
    const engine = new BookEngine(PERP);
    const amounts = [2n ** 62n + 1n, 2n ** 60n + 2n, 2n ** 64n - 1n];
    const sums = amounts.map((baseAssetAmount, orderId) => {
      engine.apply(ordersOf({ upserts: [orderOf({ orderId, price: 5n, baseAssetAmount })] }));
      return publishedLists(engine).bids[0]?.dlob;
    });
    expect(sums).toEqual([2n ** 62n + 1n, 2n ** 62n + 2n ** 60n + 3n, 2n ** 64n - 1n]);
    engine.apply(ordersOf({ removals: [{ maker: keyOf('maker'), orderId: 2 }] }));
    expect(publishedLists(engine).bids[0]?.dlob).toBe(2n ** 62n + 2n ** 60n + 3n);
  });

  it('never counts an order both in its account and in the market-level book', () => {
    const engine = new BookEngine(PERP);
    const shadow = orderOf({ price: 5n, baseAssetAmount: 9n });
    const node = orderOf({ price: 5n, baseAssetAmount: 4n, bookOrderId: 77n });
    engine.apply(ordersOf({ upserts: [shadow] }));
    const diff = engine.apply(ordersOf({ source: 'clob', upserts: [node] }));
    expect(diff?.bids).toEqual([{ price: 5, dlob: 4n, vamm: 0n }]);
    expect(diff?.gone).toEqual([{ maker: shadow.maker, orderId: 1, source: 'user', cause: null }]);
    engine.apply(ordersOf({ source: 'clob', removals: [{ maker: node.maker, orderId: 1 }] }));
    expect(publishedLists(engine).bids).toEqual([{ price: 5, dlob: 9n, vamm: 0n }]);
  });

  it('requests a snapshot after the first load and once per period of slots', () => {
    const engine = new BookEngine(PERP);
    engine.apply(beginOf(300));
    engine.apply(ordersOf({ slot: 300, upserts: [orderOf({ price: 5n, baseAssetAmount: 1n })] }));
    expect(engine.takeSnapshotDue()).toBe(false);
    engine.apply(endOf(300));
    expect([engine.takeSnapshotDue(), engine.takeSnapshotDue()]).toEqual([true, false]);
    engine.apply(slotOf(449));
    expect(engine.takeSnapshotDue()).toBe(false);
    engine.apply(slotOf(450));
    expect(engine.takeSnapshotDue()).toBe(true);
  });

  it('drops the vAMM when its oracle is older than 160 slots, and not earlier', () => {
    const engine = new BookEngine(PERP);
    engine.apply(marketOf({ slot: 100 }));
    engine.apply(oracleOf({ slot: 100, oracleSlot: 100n }));
    expect(publishedLists(engine).bids.length).toBeGreaterThan(90);
    engine.apply(slotOf(260));
    expect(publishedLists(engine).bids.length).toBeGreaterThan(90);
    const diff = engine.apply(slotOf(261));
    expect(publishedLists(engine).bids).toEqual([]);
    expect(diff?.bids.every((level) => level.vamm === 0n)).toBe(true);
  });

  it('describes a market once its account is known, or by its index when a whole read had none', () => {
    const perp = new BookEngine(PERP);
    perp.apply(oracleOf());
    expect(perp.marketView()).toBeNull();
    perp.apply(marketOf());
    expect(perp.marketView()).toMatchObject({ symbol: 'SOL-PERP', openInterestBase: 7_000_000_000n });
    const spot = new BookEngine({ marketType: 'spot', marketIndex: 3 });
    spot.apply(beginOf(5));
    expect(spot.marketView()).toBeNull();
    spot.apply(endOf(5));
    expect(spot.marketView()?.symbol).toBe('SPOT-3');
  });
});

describe('book view', () => {
  const change = (engine: BookEngine, slot: number) => engine.apply(slotOf(slot)) as BookViewDiff;

  it('ignores duplicates, detects a gap, and heals with a snapshot', () => {
    const engine = new BookEngine(PERP);
    const [first, second, third, fourth] = [10, 11, 12, 13].map((slot) => change(engine, slot)) as [
      BookViewDiff,
      BookViewDiff,
      BookViewDiff,
      BookViewDiff,
    ];
    const view = new BookView();
    expect(view.apply(second)).toBe('gap');
    expect(view.apply(first)).toBe('applied');
    expect(view.apply(first)).toBe('duplicate');
    expect(view.apply(third)).toBe('gap');
    expect(view.isStale).toBe(true);
    expect(view.apply(engine.snapshot())).toBe('applied');
    expect([view.isStale, view.apply(fourth), view.head?.slot]).toEqual([false, 'duplicate', 13]);
  });

  it('starts empty with the first change of a new epoch', () => {
    const view = new BookView();
    const old = new BookEngine(PERP);
    view.apply(
      old.apply(ordersOf({ slot: 5, upserts: [orderOf({ price: 5n, baseAssetAmount: 1n })] })) as BookViewDiff,
    );
    const fresh = new BookEngine(PERP, 5);
    expect(view.apply(change(fresh, 9))).toBe('applied');
    expect(view.l3()).toEqual({ bids: [], asks: [] });
    expect(view.head?.epoch).toBe(9);
  });

  it('walks best makers by the market-maker oracle', () => {
    const engine = new BookEngine(PERP);
    const view = new BookView();
    const apply = (next: BookMessage) => {
      const diff = engine.apply(next);
      if (diff) view.apply(diff);
    };
    apply(oracleOf({ slot: 1, price: 10_000n, oracleSlot: 1n }));
    apply(
      ordersOf({
        upserts: [
          orderOf({ maker: keyOf('floats'), oraclePriceOffset: -40n, baseAssetAmount: 1n }),
          orderOf({ maker: keyOf('fixed'), price: 9_970n, baseAssetAmount: 1n }),
        ],
      }),
    );
    expect(view.bestMakers('bid')).toEqual([keyOf('fixed'), keyOf('floats')]);
    apply(marketOf({ amm: null, mmOraclePrice: 10_050n, mmOracleSlot: 2n, lastOraclePriceTwap5Min: 10_000n }));
    expect(view.head?.isMmOracleActive).toBe(true);
    expect(view.bestMakers('bid')).toEqual([keyOf('floats'), keyOf('fixed')]);
    expect(view.bestMakers('bid', 1)).toEqual([keyOf('floats')]);
  });

  it('groups by its tick size', () => {
    const engine = new BookEngine(PERP);
    const view = new BookView();
    view.tickSize = 5;
    view.apply(
      engine.apply(
        ordersOf({
          upserts: [
            orderOf({ orderId: 1, price: 104n, baseAssetAmount: 1n }),
            orderOf({ orderId: 2, price: 100n, baseAssetAmount: 2n }),
          ],
        }),
      ) as BookViewDiff,
    );
    expect(view.grouped(1).bids).toEqual([{ price: 100, dlob: 3n, vamm: 0n }]);
  });

  it('groups by 1 where the market has no tick size, with and without indicative quotes', () => {
    const engine = new BookEngine(PERP);
    const view = new BookView();
    view.tickSize = 0;
    const upserts = [orderOf({ orderId: 1, price: 104n, baseAssetAmount: 1n })];
    view.apply(engine.apply(ordersOf({ upserts })) as BookViewDiff);
    for (const book of [view, new IndicativeView(view, { bids: [], asks: [] })]) {
      expect(book.grouped(1).bids).toEqual([{ price: 104, dlob: 1n, vamm: 0n }]);
      expect(book.grouped(10).bids).toEqual([{ price: 100, dlob: 1n, vamm: 0n }]);
    }
  });
});

function text(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}n` : value;
}
