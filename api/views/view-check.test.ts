// Compares a reader's book with published snapshots, in steps, while the book changes.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BookEngine, finish } from '../../processors/book/index.ts';
import { type BookViewDiff, encodeMessage, type ViewLevel } from '../../schemas/index.ts';
import { stepBy } from '../../test/support/platform/step-by.ts';
import { publishedLists } from '../../test/support/processors/book/lists.ts';
import { keyOf, orderOf, ordersOf, PERP } from '../../test/support/processors/book/messages.ts';
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
/** Changes of orders that are not in the book yet. */
const fresh = change.map(({ orderId, price }) => ({ orderId: ORDERS + orderId, price }));
const changes = fc.array(change, { maxLength: 20 });

const orderAt = ({ orderId, price }: Change) =>
  orderOf({ maker: keyOf(`maker ${orderId % 7}`), orderId, price: BigInt(price), baseAssetAmount: 5n });

/** A publishing book and a reader of it. */
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
  const compare = () => {
    const snapshot = engine.snapshot();
    return book.compareSnapshot(snapshot, encodeMessage('BookViewSnapshot', snapshot));
  };
  const begin = () => {
    const steps = compare();
    if (!steps) throw new Error('nothing is compared');
    return steps;
  };
  const expectEqual = () => {
    expect(book.view.lists()).toEqual(publishedLists(engine));
    expect(book.head).toMatchObject(engine.head());
  };
  return { engine, book, upsert, follow, compare, begin, expectEqual };
}

describe('a comparison of a reader’s book with a snapshot', () => {
  it('compares the same version of both, whatever changes arrive between its steps', () => {
    fc.assert(
      fc.property(changes, changes, (before, meanwhile) => {
        const { book, follow, begin, expectEqual } = stage();
        for (const one of before) follow(one);
        const left = [...meanwhile];
        const { result, count } = stepBy(begin(), () => {
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

  it('finds a difference, and corrects the book up to the newest change', () => {
    fc.assert(
      fc.property(fresh, changes, (wrong, meanwhile) => {
        const { book, upsert, follow, begin, expectEqual } = stage();
        // Published wrongly: an additional level, and a missing order.
        const published = upsert(wrong);
        book.take({ ...published, bids: [...published.bids, LEVEL], bidOrders: [] }, 0);
        const head = book.head;
        const left = [...meanwhile];
        const { version } = book;
        const { result } = stepBy(begin(), () => {
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
        expect(finish(begin())).toBeNull();
      }),
      { numRuns: 30 },
    );
  });

  it('ends without a result when the book begins a new epoch meanwhile', () => {
    const { book, upsert, begin } = stage();
    // Found late: the last order of the walk is wrong.
    const published = upsert({ orderId: ORDERS, price: 400 });
    book.take({ ...published, bidOrders: published.bidOrders.map((order) => ({ ...order, size: 1n })) }, 0);
    const steps = begin();
    const again = new BookEngine(PERP, book.head.epoch);
    const first = again.apply(ordersOf({ slot: 99, upserts: [orderAt({ orderId: 1, price: 1 })] }));
    expect(
      stepBy(steps, () => {
        if (first) book.take(first, 0);
      }).result,
    ).toBeNull();
    expect(book.view.lists()).toEqual(publishedLists(again));
    expect(book.comparisons.comparisons).toBe(0);
  });

  it('does not start for an older snapshot, during another comparison, or with a hole in the book', () => {
    const { engine, book, upsert, follow, compare } = stage();
    const snapshot = engine.snapshot();
    expect(book.isBehind(snapshot)).toBe(false);
    follow({ orderId: 1, price: 450 });
    expect(book.compareSnapshot(snapshot, encodeMessage('BookViewSnapshot', snapshot))).toBeNull();
    expect(compare()).not.toBeNull();
    expect(compare()).toBeNull();
    upsert({ orderId: 2, price: 451 });
    expect(book.isBehind(engine.snapshot())).toBe(true);
    expect(book.take(upsert({ orderId: 3, price: 452 }), 0)).toBe('hole');
  });
});
