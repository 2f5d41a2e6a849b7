// Ignored accounts: the book lacks their orders, the shadow check accepts that, and a changed list rebuilds the book.

import bs58 from 'bs58';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeMessage, type ViewOrder } from '../../schemas/index.ts';
import { MAKERS, messages } from '../../test/support/processors/book/arbitrary.ts';
import { hashBooks } from '../../test/support/processors/book/hash.ts';
import { publishedLists, replicaLists } from '../../test/support/processors/book/lists.ts';
import {
  beginOf,
  endOf,
  keyOf,
  oracleOf,
  orderOf,
  ordersOf,
  PERP,
  slotOf,
} from '../../test/support/processors/book/messages.ts';
import { restoreEngine, saveEngine } from './checkpoint.ts';
import { FrozenBook } from './frozen.ts';
import { IgnoredMakers } from './ignored.ts';
import { BookEngine, type BookMessage, BookView } from './index.ts';
import { type BookOutput, PartitionBooks } from './partition.ts';
import { findingsOf } from './shadow/compare.ts';
import { digestOf } from './shadow/digest.ts';
import { finish } from './steps.ts';

const listOf = (...makers: readonly Uint8Array[]) => new IgnoredMakers(makers);
const lists = fc.subarray(MAKERS).map((makers) => listOf(...makers));

function run(sequence: readonly BookMessage[], ignored?: IgnoredMakers): BookEngine {
  const engine = new BookEngine(PERP, 0, ignored);
  for (const message of sequence) engine.apply(message);
  return engine;
}

/** The published book, without arrival numbers. */
function withoutArrivals(engine: BookEngine) {
  const { bids, asks, bidOrders, askOrders } = publishedLists(engine);
  const inTurn = (orders: readonly ViewOrder[]) => orders.map(({ rank, ...order }) => [order, rank.slice(0, -1)]);
  return { bids, asks, bidOrders: inTurn(bidOrders), askOrders: inTurn(askOrders) };
}

const without = (message: BookMessage, ignored: IgnoredMakers): BookMessage => {
  if (message.name !== 'BookOrders') return message;
  return ordersOf({ ...message.value, upserts: message.value.upserts.filter(({ maker }) => !ignored.has(maker)) });
};

describe('a book that ignores accounts', () => {
  it('equals a book that never received their orders, from accounts or the market-level book', () => {
    fc.assert(
      fc.property(messages, lists, (sequence, ignored) => {
        const never = sequence.map((message) => without(message, ignored));
        const [book, bare] = [run(sequence, ignored), run(never)];
        expect(withoutArrivals(book)).toEqual(withoutArrivals(bare));
        expect(book.leftOut).toBe(bare.leftOut);
      }),
      { numRuns: 100 },
    );
  });

  it('passes the shadow check, which counts all orders', () => {
    fc.assert(
      fc.property(messages, lists, (sequence, ignored) => {
        const { orders, text: digest } = finish(digestOf(run(sequence).orders.table));
        const book = run(sequence, ignored);
        const wanted = { ...PERP, slot: book.slot, orders, digest, market: null, oracle: null };
        expect(finish(findingsOf(new FrozenBook(book), wanted))).toMatchObject({
          areOrdersEqual: true,
          fields: [],
          levels: [],
          misplaced: [],
        });
      }),
      { numRuns: 60 },
    );
  });
});

describe('a list changed since the book was saved', () => {
  it('begins a later epoch with the whole book of the new list', () => {
    fc.assert(
      fc.property(messages, messages, lists, lists, fc.nat(60), (first, second, before, after, epochAfter) => {
        fc.pre(before.text !== after.text);
        const old = new BookEngine(PERP, 0, before);
        const view = new BookView();
        for (const message of first) {
          const diff = old.apply(message);
          if (diff) view.apply(diff);
        }
        // Saved once more before the next message.
        const book = restoreEngine(saveEngine(restoreEngine(saveEngine(old), after, epochAfter)), after);
        const whole = run(first, after);
        let isFirst = true;
        for (const message of second) {
          whole.apply(message);
          const diff = book.apply(message);
          if (!diff) continue;
          if (isFirst) expect(diff.seq).toBe(1);
          isFirst = false;
          expect(view.apply(diff)).toBe('applied');
          expect(publishedLists(book)).toEqual(publishedLists(whole));
          expect(replicaLists(view)).toEqual(publishedLists(whole));
        }
        if (isFirst) return;
        expect(book.state.epoch).toBeGreaterThan(Math.max(old.state.epoch, epochAfter));
        const wanted = { ...PERP, slot: book.slot, orders: 0, digest: '', market: null, oracle: null };
        const { levels, misplaced } = finish(findingsOf(new FrozenBook(book), wanted));
        expect([levels, misplaced]).toEqual([[], []]);
      }),
      { numRuns: 100 },
    );
  });

  it('stands at its slot when the book was saved inside a bracket', () => {
    const auction = orderOf({
      maker: keyOf('ann'),
      price: 90n,
      baseAssetAmount: 1n,
      auctionDurationSlots: 3,
      placedSlot: 1,
    });
    const old = run([ordersOf({ slot: 1, upserts: [auction] }), beginOf(1)], listOf(keyOf('bob')));
    const book = restoreEngine(saveEngine(old), listOf());
    expect(book.apply(ordersOf({ slot: 5 }))?.slot ?? 1).toBe(1);
    expect(publishedLists(book).bids).toEqual([]);
    expect(book.slot).toBe(1);
  });

  it('is not a reordered list, nor an empty list after a checkpoint without one', () => {
    const [ann, bob] = [keyOf('ann'), keyOf('bob')];
    expect(listOf(bob, ann, bob).text).toBe([bs58.encode(ann), bs58.encode(bob)].sort().join(','));
    const book = run([slotOf(7), slotOf(8)], listOf(ann, bob));
    expect(hashBooks([restoreEngine(saveEngine(book), listOf(bob, ann))])).toBe(hashBooks([book]));
    const bytes = Buffer.from(saveEngine(run([slotOf(7), slotOf(8)])));
    const text = bytes.toString('utf8', 8).replace(',"ignored":""', '');
    expect(text.length).toBe(bytes.length - 8 - ',"ignored":""'.length);
    const early = Buffer.concat([bytes.subarray(0, 8), Buffer.from(text, 'utf8')]);
    early.writeUInt32LE(text.length, 4);
    expect(restoreEngine(early).state).toMatchObject({ epoch: 7, seq: 2 });
    expect(restoreEngine(early, listOf(ann)).state).toMatchObject({ epoch: -7, seq: 0 });
  });

  it.each([
    ['a repair', { name: 'BookRepair' as const, value: { ...PERP, slot: 10 } }],
    ['the end of a whole read', endOf(10)],
  ])('is published whole when the first record is %s', (_, first) => {
    const [ann, bob] = [keyOf('ann'), keyOf('bob')];
    const upserts = [ann, bob].map((maker) => orderOf({ maker, price: 99n, baseAssetAmount: 5n }));
    const saved = saveEngine(run([beginOf(10), ordersOf({ slot: 10, upserts }), oracleOf({ slot: 10 })], listOf(bob)));
    const books = new PartitionBooks(0, 3n, true, listOf(ann));
    expect(books.restore(saved, 3n, 40)).toBe(false);
    const outputs: BookOutput[] = [];
    const next = [first, slotOf(50)];
    const records = next.map(({ name, value }, at) => ({
      offset: BigInt(at + 3),
      value: encodeMessage(name, value as never),
    }));
    books.apply(records.slice(0, 1), outputs);
    expect(outputs.map(({ kind }) => kind).slice(0, 2)).toEqual(['diff', 'snapshot']);
    const engine = books.books.get('perp-0')?.engine;
    expect(engine?.state.epoch).toBeGreaterThan(40);
    const makers = [...(engine?.walk('bid') ?? [])].map(({ maker }) => maker);
    expect(makers).toEqual([bob]);
    books.apply(records.slice(1), outputs);
    expect(engine?.state.seq).toBe(2);
  });
});
