// Whatever happens between two states, a change of windows tells each depth its own part of it, and nothing else.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BookView } from '../../../processors/book/index.ts';
import { change, RandomBook } from './testing/random-book.ts';
import { orderKey, shownOrders } from './text.ts';
import { WindowChange, windowOf } from './window.ts';

const DEPTH = 6;

/** What a stream of a depth shows, by price or order. */
function shown(view: BookView, level: 'l2' | 'l3', depth: number): Map<string, string> {
  if (level === 'l2') {
    const { bids, asks } = view.l2(depth);
    return new Map([...bids, ...asks].map(({ price, dlob, vamm }) => [`${price}`, `${dlob} ${vamm}`]));
  }
  const orders = [...shownOrders(view, 'bid', depth), ...shownOrders(view, 'ask', depth)];
  return new Map(orders.map((order) => [orderKey(order), `${order.price} ${order.size} ${order.rank}`]));
}

function expected(before: Map<string, string>, after: Map<string, string>): Record<string, 'gone' | 'told'> {
  const gone = [...before.keys()].filter((key) => !after.has(key));
  const told = [...after].filter(([key, value]) => before.get(key) !== value).map(([key]) => key);
  return Object.fromEntries([...gone.map((key) => [key, 'gone']), ...told.map((key) => [key, 'told'])]);
}

/** The same as a client reads it: removals first. */
function heard({ bids, asks, gone }: ReturnType<WindowChange['body']>): Record<string, 'gone' | 'told'> {
  const keyOf = ({ source, orderId, maker }: Record<string, unknown>): string => `${source}:${orderId}:${maker}`;
  const entries = [...bids, ...asks].map((text): [string, 'gone' | 'told'] => {
    const entry = JSON.parse(text);
    return Array.isArray(entry) ? [entry[0], entry[1] === '0' ? 'gone' : 'told'] : [keyOf(entry), 'told'];
  });
  return Object.fromEntries([...(gone ?? []).map((text) => [keyOf(JSON.parse(text)), 'gone']), ...entries]);
}

describe.each(['l2', 'l3'] as const)('a change of windows of %s', (level) => {
  it('tells every depth what entered, changed and left', () => {
    const changes = fc.array(change, { maxLength: 20 });
    fc.assert(
      fc.property(changes, fc.array(changes, { minLength: 1, maxLength: 4 }), (first, later) => {
        const book = new RandomBook();
        const view = new BookView();
        view.apply(book.diff(first));
        let window = windowOf(view, level, DEPTH);
        for (const one of later) {
          const depths = Array.from({ length: DEPTH }, (_, index) => index + 1);
          const before = depths.map((depth) => shown(view, level, depth));
          view.apply(book.diff(one));
          const next = windowOf(view, level, DEPTH);
          const told = new WindowChange(level, window, next);
          for (const depth of depths) {
            const wanted = expected(before[depth - 1] ?? new Map(), shown(view, level, depth));
            expect(heard(told.body(depth))).toEqual(wanted);
          }
          window = next;
        }
      }),
    );
  });
});
