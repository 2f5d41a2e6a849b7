// Effects of the shadow check: a comparison changes nothing, a repair begins one new epoch with the whole book.

import { describe, expect, it } from 'vitest';
import {
  type BookViewDiff,
  type BookViewSnapshot,
  decodeMessage,
  encodeMessage,
  type MessageName,
  OrderDigest,
} from '../../../schemas/index.ts';
import {
  ammOf,
  beginOf,
  endOf,
  keyOf,
  marketOf,
  oracleOf,
  orderOf,
  ordersOf,
  PERP,
  slotOf,
} from '../../../test/support/processors/book/messages.ts';
import { publishedDifference } from '../difference.ts';
import { BookEngine, type BookMessage } from '../engine.ts';
import { HEAD } from '../ladder.ts';
import { FLOATING, LIST } from '../orders.ts';
import { type Book, type BookOutput, PartitionBooks } from '../partition.ts';
import { finish } from '../steps.ts';
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
const NO_CHANGE = { bids: [], asks: [], bidOrders: [], askOrders: [], gone: [] };
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

  it('gives readers of the old epoch and new readers the same book', () => {
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

  it('is above the last epoch even at the same slot, and is nothing without a first message', () => {
    const epochs = published(run([repairOf(5), ...FIRST, repairOf(10), repairOf(10)])).map(({ epoch }) => epoch);
    expect([...new Set(epochs)]).toEqual([10, 11, 12]);
  });
});

describe('comparison of a book', () => {
  const engine = new BookEngine(PERP);
  for (const message of FIRST) engine.apply(message);
  const { orders, text: digest } = finish(digestOf(engine.orders.table));
  const checkOf = (over: object = {}) => ({
    name: 'BookCheck' as const,
    value: { ...PERP, slot: 11, orders, digest, market: null, oracle: null, ...over },
  });
  const results = (outputs: readonly BookOutput[]) =>
    outputs.flatMap((output) => (output.kind === 'check' ? [output.comparison.finish().isEqual] : []));

  it('reports whether the orders equal those read from the chain', () => {
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

describe('a wrong book', () => {
  const MARKET = marketOf({ slot: 10 });
  const ORACLE = oracleOf({ slot: 10, price: 100_000_000n, oracleSlot: 10n });
  const ORDERS = ordersOf({ slot: 10, upserts: [order(1, 99_000_000n), order(2, 98_000_000n)] });
  const WHOLE: readonly BookMessage[] = [beginOf(10), MARKET, ORACLE, ORDERS, endOf(10)];
  const right = new BookEngine(PERP);
  for (const message of [...WHOLE, slotOf(11)]) right.apply(message);
  const { orders, text: digest } = finish(digestOf(right.orders.table));
  const bytes = ({ name, value }: BookMessage) => encodeMessage(name, value as never);
  const check = { ...PERP, slot: 11, orders, digest, market: bytes(MARKET), oracle: bytes(ORACLE) };

  /** Breaks a sound book; returns the result of its comparison and of its repair. */
  function fault(wrong: (book: Book, take: (message: BookMessage) => void) => void) {
    const books = new PartitionBooks(0, 0n, true);
    const outputs: BookOutput[] = [];
    let next = 0n;
    const take = (name: MessageName, value: object) =>
      books.apply([{ offset: next++, value: encodeMessage(name, value as never) }], outputs);
    for (const { name, value } of [...WHOLE, slotOf(11)]) take(name, value);
    const book = books.books.get('perp-0');
    if (!book) throw new Error('no book');
    const epoch = book.engine.state.epoch;
    wrong(book, ({ name, value }) => take(name, value));
    take('BookCheck', check);
    for (const { name, value } of [beginOf(12), MARKET, ORACLE, ORDERS, endOf(12), repairOf(12)]) take(name, value);
    take('BookCheck', check);
    const reader = new BookView();
    for (const message of published(outputs)) reader.apply(message);
    expect(finish(publishedDifference(reader, right))).toBeNull();
    const results = outputs.flatMap((output) => (output.kind === 'check' ? [output.comparison.finish()] : []));
    const repairs = outputs.flatMap((output) => (output.kind === 'repair' ? [finish(output.orders)] : []));
    return { found: results[0], after: results[1], repairs, epochs: book.engine.state.epoch - epoch };
  }
  const bidLevel = (book: Book) => book.engine.orders.bids.ladder.find(99_000_000);
  const SOUND = { isEqual: true, fields: [], levels: [], misplaced: [], published: null };

  it('is equal without a fault', () => {
    const { found, repairs } = fault(() => {});
    expect(found).toMatchObject(SOUND);
    expect(repairs).toEqual([]);
  });

  it('is found by an order, which its repair names', () => {
    const lost = ordersOf({ slot: 11, removals: [{ maker: keyOf('maker'), orderId: 1 }] });
    const ghost = ordersOf({ slot: 11, upserts: [order(7, 97_000_000n)] });
    const { found, after, repairs, epochs } = fault((_, take) => {
      take(lost);
      take(ghost);
    });
    expect(found).toMatchObject({ isEqual: false, areOrdersEqual: false, fields: [], levels: [] });
    expect(repairs).toMatchObject([
      { onlyHere: [{ orderId: 7, price: '97000000', size: '5' }], onlyThere: [{ orderId: 1, price: '99000000' }] },
    ]);
    expect([after?.isEqual, epochs]).toEqual([true, 2]);
  });

  it('is found by a field of its market, and by the levels that follow from it', () => {
    const { found, after, epochs } = fault((_, take) =>
      take(marketOf({ slot: 10, amm: ammOf({ pegMultiplier: 101_000_000n }) })),
    );
    expect(found).toMatchObject({ isEqual: false, areOrdersEqual: true, published: null });
    expect(found?.fields).toEqual([{ field: 'market.amm.pegMultiplier', here: '101000000', there: '100000000' }]);
    expect(found?.levels.length).toBeGreaterThan(0);
    expect([after?.isEqual, epochs]).toEqual([true, 2]);
  });

  it('is found by its oracle', () => {
    const { found, after, epochs } = fault((_, take) =>
      take(oracleOf({ slot: 10, price: 100_000_001n, oracleSlot: 10n })),
    );
    expect(found?.fields.map(({ field }) => field)).toContain('oracle.price');
    expect(found?.isEqual).toBe(false);
    expect([after?.isEqual, epochs]).toEqual([true, 2]);
  });

  it('is found by a level that differs from the sum of its orders', () => {
    const { found, after, epochs } = fault((book, take) => {
      book.engine.orders.bids.add(bidLevel(book), 0, 3);
      take(slotOf(11));
    });
    expect(found).toMatchObject({ isEqual: false, areOrdersEqual: true, fields: [], misplaced: [], published: null });
    expect(found?.levels).toEqual([
      { side: 'bid', price: 99_000_000, here: 'orders 8, vamm 0', there: 'orders 5, vamm 0' },
    ]);
    expect([after?.isEqual, epochs]).toEqual([true, 2]);
  });

  it('is found by an order at a wrong level', () => {
    const { found, after } = fault((book) => {
      const { ladder } = book.engine.orders.bids;
      const row = ladder.ints[bidLevel(book) + HEAD] as number;
      book.engine.orders.table.ints[row + LIST] = FLOATING;
    });
    expect(found?.misplaced).toMatchObject([{ orderId: 1, price: '99000000' }]);
    expect([found?.isEqual, after?.isEqual]).toEqual([false, true]);
  });

  it('is found by a wrongly published change', () => {
    const { found, after, epochs } = fault((book) => {
      const wrong = { price: 99_000_000, dlob: 1n, vamm: 0n };
      book.replica?.pending.push({ ...book.engine.head(), seq: book.engine.state.seq, ...NO_CHANGE, bids: [wrong] });
      const last = book.replica?.pending.at(-2);
      if (last) book.replica?.pending.splice(-2, 1);
    });
    expect(found).toMatchObject({ isEqual: false, areOrdersEqual: true, fields: [], levels: [] });
    expect(found?.published?.levels).toEqual([
      { side: 'bid', price: 99_000_000, here: 'orders 1, vamm 0', there: 'orders 5, vamm 0' },
    ]);
    expect([after?.isEqual, epochs]).toEqual([true, 2]);
  });

  it('does not compare inputs of market and oracle that a check lacks', () => {
    const books = new PartitionBooks(0, 0n);
    const outputs: BookOutput[] = [];
    const messages = [...WHOLE, slotOf(11)];
    for (const [at, message] of messages.entries()) {
      books.apply([{ offset: BigInt(at), value: bytes(message) }], outputs);
    }
    const value = encodeMessage('BookCheck', { ...check, market: null, oracle: null });
    books.apply([{ offset: BigInt(messages.length), value }], outputs);
    expect(outputs.flatMap((output) => (output.kind === 'check' ? [output.comparison.finish()] : []))).toMatchObject([
      SOUND,
    ]);
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
    auctionStart: 0,
    auctionEnd: 0,
    queue: 9,
    size: 2n ** 60n,
    counted: 3n,
  };
  const text = (...orders: (typeof one)[]) => {
    const digest = new OrderDigest();
    for (const order of orders) digest.add(order);
    return digest.text;
  };

  it('ignores the order of arrival and depends on every member', () => {
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
      { auctionStart: 1 },
      { auctionEnd: 1 },
      { queue: 10 },
      { size: 2n ** 60n + 1n },
      { counted: 4n },
    ];
    const kept = new OrderDigest();
    kept.add(one);
    kept.add(two);
    kept.remove(two);
    expect([kept.orders, kept.text]).toEqual([1, text(one)]);
    const texts = changes.map((change) => text({ ...one, ...change }));
    expect(new Set([text(one), ...texts]).size).toBe(changes.length + 1);
  });
});
