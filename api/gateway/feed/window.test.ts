// Whatever happens between two states, the change of windows gives each depth exactly its own part.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BookView } from '../../../processors/book/index.ts';
import { change, RandomBook } from '../../../test/support/feed/random-book.ts';
import { orderKey, publishedOrders } from './text.ts';
import { WindowChange, windowOf } from './window.ts';

const DEPTH = 6;

/** Entries of a stream of this depth, by price or order. */
function published(view: BookView, level: 'l2' | 'l3', depth: number): Map<string, string> {
  if (level === 'l2') {
    const { bids, asks } = view.l2(depth);
    return new Map([...bids, ...asks].map(({ price, dlob, vamm }) => [`${price}`, `${dlob} ${vamm}`]));
  }
  const orders = [...publishedOrders(view, 'bid', depth), ...publishedOrders(view, 'ask', depth)];
  return new Map(orders.map((order) => [orderKey(order), `${order.price} ${order.size} ${order.rank}`]));
}

function expected(before: Map<string, string>, after: Map<string, string>): Record<string, 'gone' | 'set'> {
  const gone = [...before.keys()].filter((key) => !after.has(key));
  const set = [...after].filter(([key, value]) => before.get(key) !== value).map(([key]) => key);
  return Object.fromEntries([...gone.map((key) => [key, 'gone']), ...set.map((key) => [key, 'set'])]);
}

/** The body's entries as a client reads them: removals first. */
function entriesOf({ bids, asks, gone }: ReturnType<WindowChange['body']>): Record<string, 'gone' | 'set'> {
  const keyOf = ({ source, orderId, maker }: Record<string, unknown>): string => `${source}:${orderId}:${maker}`;
  const entries = [...bids, ...asks].map((text): [string, 'gone' | 'set'] => {
    const entry = JSON.parse(text);
    return Array.isArray(entry) ? [entry[0], entry[1] === '0' ? 'gone' : 'set'] : [keyOf(entry), 'set'];
  });
  return Object.fromEntries([...(gone ?? []).map((text) => [keyOf(JSON.parse(text)), 'gone']), ...entries]);
}

describe.each(['l2', 'l3'] as const)('a change of windows of %s', (level) => {
  it('gives every depth the entries that entered, changed and left', () => {
    const changes = fc.array(change, { maxLength: 20 });
    fc.assert(
      fc.property(changes, fc.array(changes, { minLength: 1, maxLength: 4 }), (first, later) => {
        const book = new RandomBook();
        const view = new BookView();
        view.apply(book.diff(first));
        let window = windowOf(view, level, DEPTH);
        for (const one of later) {
          const depths = Array.from({ length: DEPTH }, (_, index) => index + 1);
          const before = depths.map((depth) => published(view, level, depth));
          view.apply(book.diff(one));
          const next = windowOf(view, level, DEPTH);
          const change = new WindowChange(level, window, next);
          for (const depth of depths) {
            const expectedEntries = expected(before[depth - 1] ?? new Map(), published(view, level, depth));
            expect(entriesOf(change.body(depth))).toEqual(expectedEntries);
          }
          window = next;
        }
      }),
    );
  });
});
