// Work on whole books in steps: the same result as at once, and few orders per step.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeMessage, encodeMessage } from '../../schemas/index.ts';
import { stepBy } from '../../test/support/platform/step-by.ts';
import { beginOf, endOf, keyOf, orderOf, ordersOf, slotOf } from '../../test/support/processors/book/messages.ts';
import { saveEngine } from './checkpoint.ts';
import type { BookMessage } from './engine.ts';
import { type BookOutput, PartitionBooks } from './partition.ts';
import { listed, STEP_ITEMS, sortedInSteps } from './steps.ts';

const ORDERS = STEP_ITEMS * 5;
const whole = Array.from({ length: ORDERS }, (_, at) =>
  orderOf({ maker: keyOf(`maker ${at % 9}`), orderId: at, price: BigInt(100 + (at % 30)), baseAssetAmount: 5n }),
);
const LOADING: readonly BookMessage[] = [beginOf(10), ordersOf({ slot: 10, upserts: whole }), endOf(10)];

const recordsOf = (messages: readonly BookMessage[], from = 0) =>
  messages.map(({ name, value }, at) => ({ offset: BigInt(from + at), value: encodeMessage(name, value as never) }));

describe('steps', () => {
  it('sort like a call at once, and keep equals in order', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(50), { maxLength: 3000 }), (keys) => {
        const numbers = keys.map((_, at) => at);
        const key = (one: number) => keys[one] ?? 0;
        const { result, count } = stepBy(sortedInSteps(numbers, key));
        expect([...result]).toEqual(numbers.toSorted((left, right) => key(left) - key(right)));
        if (keys.length > 2048) expect(count).toBeGreaterThan(10);
      }),
      { numRuns: 30 },
    );
  });

  it('list like a call at once', () => {
    const { result, count } = stepBy(listed(new Set(whole)));
    expect(result).toEqual(whole);
    expect(count).toBe(ORDERS / STEP_ITEMS);
  });
});

describe('a partition of books in steps', () => {
  it('publishes the same as at once, a snapshot in many steps', () => {
    const [steps, once] = [new PartitionBooks(0, 0n), new PartitionBooks(0, 0n)];
    const [inSteps, atOnce]: BookOutput[][] = [[], []];
    const records = recordsOf([...LOADING, slotOf(11)]);
    const { count } = stepBy(steps.applyInSteps(records, inSteps ?? []));
    once.apply(records, atOnce ?? []);
    expect(inSteps).toEqual(atOnce);
    expect(count).toBeGreaterThanOrEqual((2 * ORDERS) / STEP_ITEMS);
    const snapshot = inSteps?.find(({ kind }) => kind === 'snapshot');
    const book = steps.books.get('perp-0');
    expect(snapshot && decodeMessage(snapshot.value).value).toMatchObject({ bidOrders: { length: ORDERS } });
    expect(book?.engine.state.seq).toBe(once.books.get('perp-0')?.engine.state.seq);
  });

  it('saves a book as of the first step, whatever is applied between the steps', () => {
    const books = new PartitionBooks(0, 0n);
    books.apply(recordsOf(LOADING), []);
    const book = books.books.get('perp-0');
    if (!book) throw new Error('no book');
    const expected = saveEngine(book.engine);
    let at = 0;
    const { result, count } = stepBy(books.save(book), () => {
      at += 1;
      const { maker, orderId } = orderOf({ maker: keyOf(`maker ${at % 9}`), orderId: at });
      books.apply(recordsOf([ordersOf({ slot: 10 + at, removals: [{ maker, orderId }] })], LOADING.length + at), []);
    });
    expect(count).toBeGreaterThan(ORDERS / STEP_ITEMS);
    expect(book.engine.orderCount).toBeLessThan(ORDERS);
    expect(Buffer.compare(result, expected)).toBe(0);
  });
});
