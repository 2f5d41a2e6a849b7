// A comparison in steps, beside a moving book, has the same result as one at once.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeMessage, type MessageName, type OrderState } from '../../../schemas/index.ts';
import {
  keyOf,
  marketOf,
  oracleOf,
  orderOf,
  ordersOf,
  PERP,
  slotOf,
} from '../../../test/support/processors/book/messages.ts';
import { FLOATING, LIST } from '../orders.ts';
import { type BookOutput, PartitionBooks } from '../partition.ts';
import { STEP_ITEMS } from '../steps.ts';

/** Enough for several steps of each walk. */
const ORDERS = STEP_ITEMS * 3;
const MAKERS = ['one', 'two', 'three'].map(keyOf);
const CHECK = { ...PERP, slot: 11, orders: ORDERS, digest: '', market: null, oracle: null };

interface Change {
  readonly at: number;
  readonly price: number;
  readonly isGone: boolean;
}

const changes = (maxLength: number): fc.Arbitrary<Change[]> =>
  fc.array(fc.record({ at: fc.nat(ORDERS * 2), price: fc.nat(60), isGone: fc.boolean() }), { maxLength });

const nameOf = (at: number) => ({ maker: MAKERS[at % MAKERS.length] as Uint8Array, orderId: at });

function orderAt(at: number, price: number): OrderState {
  const isLong = at % 2 === 0;
  const limit = BigInt(isLong ? 1000 - price : 1001 + price);
  return orderOf({ ...nameOf(at), direction: isLong ? 'long' : 'short', price: limit, baseAssetAmount: 5n });
}

/** A book of ORDERS orders with a reader; `take` publishes like the role of a partition. */
function stage() {
  const books = new PartitionBooks(0, 0n, true);
  const outputs: BookOutput[] = [];
  let next = 0n;
  const take = (name: MessageName, value: object) => {
    books.apply([{ offset: next++, value: encodeMessage(name, value as never) }], outputs);
    books.settle();
  };
  const change = ({ at, price, isGone }: Change) => {
    const { value } = isGone ? ordersOf({ removals: [nameOf(at)] }) : ordersOf({ upserts: [orderAt(at, price)] });
    take('BookOrders', value);
  };
  const whole = Array.from({ length: ORDERS }, (_, at) => orderAt(at, at % 50));
  const first = [marketOf({ slot: 10 }), oracleOf({ slot: 10 }), ordersOf({ slot: 10, upserts: whole }), slotOf(11)];
  for (const { name, value } of first) take(name, value);
  const book = books.books.get('perp-0');
  if (!book) throw new Error('no book');
  const check = () => {
    take('BookCheck', CHECK);
    const output = outputs.findLast(({ kind }) => kind === 'check');
    if (output?.kind !== 'check') throw new Error('no comparison');
    return output.comparison;
  };
  return { book, take, change, check };
}

/** Makes faults in the book and in its published changes, so that there is something to find. */
function harm({ book }: ReturnType<typeof stage>, faults: readonly number[]): void {
  for (const fault of faults) {
    const { table } = book.engine.orders;
    const row = table.rows()[fault % table.count] ?? 0;
    if (fault % 2 === 0) table.ints[row + LIST] = FLOATING;
    else book.replica?.view.apply(wrongLevel(book, fault));
  }
}

function wrongLevel({ engine, replica }: ReturnType<typeof stage>['book'], fault: number) {
  const head = replica?.view.head ?? engine.head();
  const level = { price: 900 + (fault % 200), dlob: 3n, vamm: 0n };
  const nothing = { asks: [], bidOrders: [], askOrders: [], gone: [] };
  return { ...head, epoch: head.epoch + 1, seq: 1, bids: [level], ...nothing };
}

describe('a comparison beside a moving book', () => {
  it('describes the book at the offset of the check, whatever happens between its steps', () => {
    fc.assert(
      fc.property(changes(10), fc.array(fc.nat(500), { maxLength: 2 }), changes(30), (before, faults, meanwhile) => {
        const [calm, busy] = [stage(), stage()];
        for (const one of [calm, busy]) {
          for (const change of before) one.change(change);
          harm(one, faults);
        }
        const expected = calm.check().finish();
        const steps = busy.check().steps();
        const left = [...meanwhile];
        let count = 0;
        let step = steps.next();
        for (; step.done !== true; step = steps.next()) {
          count += 1;
          const change = left.shift();
          if (change) busy.change(change);
        }
        expect(step.value).toEqual(expected);
        expect(count).toBeGreaterThan(5);
        if (faults.length > 0) expect(expected.misplaced.length > 0 || expected.published !== null).toBe(true);
      }),
      { numRuns: 15 },
    );
  });

  it('lets the replica follow again at its end', () => {
    const { book, change, check, take } = stage();
    const comparison = check();
    change({ at: 1, price: 7, isGone: false });
    expect(book.replica?.pending).toHaveLength(1);
    comparison.finish();
    take('BookSlot', { slot: 12 });
    expect(book.replica?.pending).toHaveLength(0);
    expect(book.replica?.view.head?.slot).toBe(12);
    expect(check().finish().published).toBeNull();
  });

  it('is finished by the next one', () => {
    const { check } = stage();
    const first = check();
    expect(first.isOver).toBe(false);
    check();
    expect(first.isOver).toBe(true);
  });
});
