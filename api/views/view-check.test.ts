// A reader's book against published snapshots, step by step while it moves on.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BookEngine, finish, type Steps } from '../../processors/book/index.ts';
import { keyOf, orderOf, ordersOf, PERP } from '../../processors/book/testing/messages.ts';
import { type BookViewDiff, encodeMessage, type ViewLevel } from '../../schemas/index.ts';
import { PublishedBook } from './published-book.ts';

/** Enough for several steps. */
const ORDERS = 200;
const LEVEL: ViewLevel = { price: 500, dlob: 3n, vamm: 0n };

interface Change {
  readonly orderId: number;
  readonly price: number;
}

const change: fc.Arbitrary<Change> = fc.record({
  orderId: fc.nat(ORDERS * 2),
  price: fc.integer({ min: 400, max: 460 }),
});
/** Of an order that is not in the book yet. */
const fresh = change.map(({ orderId, price }) => ({ orderId: ORDERS + orderId, price }));
const changes = fc.array(change, { maxLength: 20 });

const orderAt = ({ orderId, price }: Change) =>
  orderOf({ maker: keyOf(`maker ${orderId % 7}`), orderId, price: BigInt(price), baseAssetAmount: 5n });

/** A book that is published and a reader of it. */
function stage() {
  const engine = new BookEngine(PERP);
  const book = new PublishedBook();
  let slot = 10;
  const upsert = (...wanted: Change[]): BookViewDiff => {
    slot += 1;
    const diff = engine.apply(ordersOf({ slot, upserts: wanted.map(orderAt) }));
    if (!diff) throw new Error('nothing changed');
    return diff;
  };
  const follow = (one: Change) => book.take(upsert(one), 0);
  book.take(upsert(...Array.from({ length: ORDERS }, (_, at) => ({ orderId: at, price: 400 + (at % 40) }))), 0);
  const hear = () => {
    const snapshot = engine.snapshot();
    return book.hear(snapshot, encodeMessage('BookViewSnapshot', snapshot));
  };
  const expectEqual = () => {
    expect(book.view.lists()).toEqual(lists(engine));
    expect(book.head).toMatchObject(engine.head());
  };
  return { engine, book, upsert, follow, hear, expectEqual };
}

function lists(engine: BookEngine) {
  const { bids, asks, bidOrders, askOrders } = engine.snapshot();
  return { bids, asks, bidOrders, askOrders };
}

/** Takes a step, then does `between`, until all steps are done. */
function stepBy<T>(steps: Steps<T> | null, between: () => void): { readonly result: T; readonly count: number } {
  if (!steps) throw new Error('nothing is compared');
  let count = 0;
  for (;;) {
    const step = steps.next();
    if (step.done === true) return { result: step.value, count };
    count += 1;
    between();
  }
}

describe('a comparison of a reader`s book with a snapshot', () => {
  it('is of the change that both stood at, whatever changes come between its steps', () => {
    fc.assert(
      fc.property(changes, changes, (before, meanwhile) => {
        const { book, follow, hear, expectEqual } = stage();
        for (const one of before) follow(one);
        const left = [...meanwhile];
        const { result, count } = stepBy(hear(), () => {
          const next = left.shift();
          if (next) follow(next);
        });
        expect(result).toBeNull();
        expect(count).toBeGreaterThan(2);
        expect(book.comparisons).toMatchObject({ comparisons: 1, differences: 0, lastResult: 'equal' });
        expectEqual();
      }),
      { numRuns: 30 },
    );
  });

  it('finds what was wrong then, and puts the book right up to the newest change', () => {
    fc.assert(
      fc.property(fresh, changes, (wrong, meanwhile) => {
        const { book, upsert, follow, hear, expectEqual } = stage();
        // Told wrongly: a level that is not there, and an order that is left out.
        const told = upsert(wrong);
        book.take({ ...told, bids: [...told.bids, LEVEL], bidOrders: [] }, 0);
        const head = book.head;
        const left = [...meanwhile];
        const { version } = book;
        const { result } = stepBy(hear(), () => {
          const next = left.shift();
          if (next) follow(next);
        });
        for (const next of left) follow(next);
        expect(result?.levels).toContainEqual({ side: 'bid', price: 500, here: 'orders 3, vamm 0', there: 'nothing' });
        expect(result?.onlyThere).toMatchObject([{ orderId: wrong.orderId, price: String(wrong.price) }]);
        expect(book.comparisons).toMatchObject({
          comparisons: 1,
          differences: 1,
          lastSlot: head.slot,
          lastResult: 'differs',
        });
        expect(book.version).toBe(version + meanwhile.length + 1);
        expectEqual();
        expect(finish(hear() as Steps<unknown>)).toBeNull();
      }),
      { numRuns: 30 },
    );
  });

  it('comes to nothing when the book begins anew meanwhile', () => {
    const { book, upsert, hear } = stage();
    // Found late: it is the last order of the walk that is not as it should be.
    const told = upsert({ orderId: ORDERS, price: 400 });
    book.take({ ...told, bidOrders: told.bidOrders.map((order) => ({ ...order, size: 1n })) }, 0);
    const steps = hear();
    const again = new BookEngine(PERP, book.head.epoch);
    const first = again.apply(ordersOf({ slot: 99, upserts: [orderAt({ orderId: 1, price: 1 })] }));
    expect(
      stepBy(steps, () => {
        if (first) book.take(first, 0);
      }).result,
    ).toBeNull();
    expect(book.view.lists()).toEqual(lists(again));
    expect(book.comparisons.comparisons).toBe(0);
  });

  it('is not begun for an older snapshot, nor while another one is under way, nor with a hole in the book', () => {
    const { engine, book, upsert, follow, hear } = stage();
    const snapshot = engine.snapshot();
    expect(book.wants(snapshot)).toBe(false);
    follow({ orderId: 1, price: 450 });
    expect(book.hear(snapshot, encodeMessage('BookViewSnapshot', snapshot))).toBeNull();
    expect(hear()).not.toBeNull();
    expect(hear()).toBeNull();
    upsert({ orderId: 2, price: 451 });
    expect(book.wants(engine.snapshot())).toBe(true);
    expect(book.take(upsert({ orderId: 3, price: 452 }), 0)).toBe('hole');
  });
});
