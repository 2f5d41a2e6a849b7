// What the shadow check does to a book: a comparison changes nothing, a repair begins one new epoch that says it all.

import { describe, expect, it } from 'vitest';
import {
  type BookViewDiff,
  type BookViewSnapshot,
  decodeMessage,
  encodeMessage,
  OrderDigest,
} from '../../../schemas/index.ts';
import { BookEngine, type BookMessage } from '../engine.ts';
import { type BookOutput, PartitionBooks } from '../partition.ts';
import { beginOf, endOf, keyOf, oracleOf, orderOf, ordersOf, PERP, slotOf } from '../testing/messages.ts';
import { BookView } from '../view.ts';
import { digestOf } from './digest.ts';

const order = (orderId: number, price: bigint) => orderOf({ orderId, price, baseAssetAmount: 5n });
const FIRST: readonly BookMessage[] = [
  beginOf(10),
  ordersOf({ slot: 10, upserts: [order(1, 99n), order(2, 98n)] }),
  endOf(10),
  oracleOf({ slot: 10, price: 100n }),
  slotOf(11),
];
const repairOf = (slot: number): BookMessage => ({ name: 'BookRepair', value: { ...PERP, slot } });

function run(messages: readonly (BookMessage | { name: 'BookCheck'; value: object })[]): BookOutput[] {
  const books = new PartitionBooks(0, 0n);
  const outputs: BookOutput[] = [];
  for (const [at, { name, value }] of messages.entries()) {
    books.apply([{ offset: BigInt(at), value: encodeMessage(name, value as never) }], outputs);
  }
  return outputs;
}

const published = (outputs: readonly BookOutput[]): (BookViewDiff | BookViewSnapshot)[] =>
  outputs.flatMap(({ value }) => {
    const message = decodeMessage(value);
    return message.name === 'BookViewDiff' || message.name === 'BookViewSnapshot' ? [message.value] : [];
  });

describe('repair of a book', () => {
  it('begins one later epoch whose first change is the whole book, followed by a snapshot', () => {
    const messages = [...FIRST, ordersOf({ slot: 12, upserts: [order(3, 97n)] }), repairOf(12), slotOf(13)];
    const heads = published(run(messages)).map((one) => [one.epoch, one.seq, 'gone' in one ? 'diff' : 'snapshot']);
    expect(heads.slice(-3)).toEqual([
      [12, 1, 'diff'],
      [12, 1, 'snapshot'],
      [12, 2, 'diff'],
    ]);
    expect(new Set(heads.map(([epoch]) => epoch))).toEqual(new Set([10, 12]));
  });

  it('gives readers of the old epoch, and readers that only now begin, the same book', () => {
    const messages = published(run([...FIRST, repairOf(12), slotOf(13)]));
    const old = new BookView();
    const fresh = new BookView();
    for (const message of messages) expect(['applied', 'duplicate']).toContain(old.apply(message));
    for (const message of messages.slice(-3)) fresh.apply(message);
    expect(fresh.l3()).toEqual(old.l3());
    expect(fresh.l2()).toEqual(old.l2());
    expect(fresh.head).toEqual(old.head);
    expect(old.l3().bids.map(({ orderId }) => orderId)).toEqual([1, 2]);
  });

  it('is above the epoch before it even at the same slot, and nothing before the first message', () => {
    const epochs = published(run([repairOf(5), ...FIRST, repairOf(10), repairOf(10)])).map(({ epoch }) => epoch);
    expect([...new Set(epochs)]).toEqual([10, 11, 12]);
  });
});

describe('comparison of a book', () => {
  const engine = new BookEngine(PERP);
  for (const message of FIRST) engine.apply(message);
  const { orders, text: digest } = digestOf(engine.orders);
  const checkOf = (over: object = {}) => ({
    name: 'BookCheck' as const,
    value: { ...PERP, slot: 11, orders, digest, ...over },
  });
  const results = (outputs: readonly BookOutput[]) =>
    outputs.flatMap((output) => (output.kind === 'check' ? [output.result.isEqual] : []));

  it('says whether the orders are those that were read from the chain', () => {
    expect(results(run([...FIRST, checkOf()]))).toEqual([true]);
    expect(results(run([...FIRST, checkOf({ digest: '0'.repeat(16) })]))).toEqual([false]);
    expect(results(run([...FIRST, checkOf({ orders: 3 })]))).toEqual([false]);
    const lost = ordersOf({ slot: 12, removals: [{ maker: keyOf('maker'), orderId: 1 }] });
    expect(results(run([...FIRST, lost, checkOf()]))).toEqual([false]);
  });

  it('publishes nothing', () => {
    expect(published(run([...FIRST, checkOf()]))).toEqual(published(run(FIRST)));
  });
});

describe('digest of orders', () => {
  const one = {
    maker: keyOf('maker'),
    orderId: 7,
    isBook: false,
    isShort: true,
    isPostOnly: false,
    isLimit: true,
    isFloating: false,
    term: 150_000_000,
    auctionDurationSlots: 0,
    queue: 9,
    size: 2n ** 60n,
    counted: 3n,
  };
  const text = (...orders: (typeof one)[]) => {
    const digest = new OrderDigest();
    for (const order of orders) digest.add(order);
    return digest.text;
  };

  it('forgets the order in which orders came and notices every member', () => {
    const two = { ...one, orderId: 8 };
    expect(text(one, two)).toBe(text(two, one));
    const changes: Partial<typeof one>[] = [
      { maker: keyOf('taker') },
      { orderId: 9 },
      { isBook: true },
      { isShort: false },
      { isPostOnly: true },
      { isLimit: false },
      { isFloating: true },
      { term: 150_000_001 },
      { auctionDurationSlots: 1 },
      { queue: 10 },
      { size: 2n ** 60n + 1n },
      { counted: 4n },
    ];
    const texts = changes.map((change) => text({ ...one, ...change }));
    expect(new Set([text(one), ...texts]).size).toBe(changes.length + 1);
  });
});
