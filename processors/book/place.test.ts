// The place of an order in the queue of its price equals the count of the orders before it.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { change, RandomBook } from '../../test/support/feed/random-book.ts';
import { BookView } from './view.ts';

/** Two prices a side, so that orders queue. */
const narrow = change.map((one) => ({ ...one, tick: one.tick % 2 }));

describe('the place of an order', () => {
  it('is what counting the orders before it at its price gives, after any changes', () => {
    let queued = 0;
    fc.assert(
      fc.property(fc.array(fc.array(narrow, { maxLength: 6 }), { minLength: 10, maxLength: 20 }), (steps) => {
        const book = new RandomBook(0);
        const view = new BookView();
        view.apply(book.snapshot());
        for (const step of steps) view.apply(book.diff(step));
        for (const [side, orders] of [
          ['bid', view.l3().bids],
          ['ask', view.l3().asks],
        ] as const) {
          for (const [at, order] of orders.entries()) {
            const ahead = orders.slice(0, at).filter(({ price }) => price === order.price);
            const sizeAhead = ahead.reduce((sum, { size }) => sum + size, 0n);
            expect(view.placeOf(order)).toEqual({ side, order, sizeAhead, ordersAhead: ahead.length });
            queued += ahead.length;
          }
        }
      }),
    );
    expect(queued).toBeGreaterThan(100);
  });

  it('is none for an order that does not rest in the book', () => {
    const view = new BookView();
    view.apply(new RandomBook(0).snapshot());
    const maker = new Uint8Array(32).fill(1);
    expect(view.placeOf({ maker, orderId: 999, source: 'user' })).toBeNull();
    expect(view.placeOf({ maker: new Uint8Array(32).fill(77), orderId: 1, source: 'clob' })).toBeNull();
  });
});
