// A partition's books: the same records give the same outputs, for any batches, saves and restores.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeMessage, encodeMessage, type MarketRef } from '../../schemas/index.ts';
import { hashBooks } from '../../test/support/processors/book/hash.ts';
import {
  beginOf,
  endOf,
  marketOf,
  oracleOf,
  orderOf,
  ordersOf,
  slotOf,
} from '../../test/support/processors/book/messages.ts';
import type { BookMessage } from './engine.ts';
import { type BookOutput, type InputRecord, PartitionBooks } from './partition.ts';
import { finish } from './steps.ts';

const ref = fc.record({ marketType: fc.constant('perp' as const), marketIndex: fc.integer({ min: 0, max: 2 }) });
const message: fc.Arbitrary<BookMessage> = fc.oneof(
  fc
    .record({ orderId: fc.nat(5), price: fc.bigInt({ min: 1n, max: 9n }), slot: fc.integer({ min: 1, max: 400 }) })
    .map(({ orderId, price, slot }) => ordersOf({ slot, upserts: [orderOf({ orderId, price, baseAssetAmount: 2n })] })),
  fc.nat(5).map((orderId) => ordersOf({ removals: [{ maker: orderOf().maker, orderId }] })),
  fc.integer({ min: 1, max: 400 }).map(slotOf),
  fc.bigInt({ min: 1n, max: 9n }).map((price) => oracleOf({ price })),
  fc.integer({ min: 1, max: 400 }).map((slot) => marketOf({ slot, amm: null })),
);
const records: fc.Arbitrary<InputRecord[]> = fc
  .array(fc.tuple(message, ref, fc.boolean()), { minLength: 1, maxLength: 50 })
  .map((entries) =>
    entries.map(([body, market, isBad], at) => ({
      offset: BigInt(at * 2),
      value: bytesOf(body, market, isBad && at % 7 === 3),
    })),
  );

function bytesOf({ name, value }: BookMessage, market: MarketRef, isBad: boolean): Uint8Array {
  if (isBad) return Buffer.from('not a record');
  return encodeMessage(name, (name === 'BookSlot' ? value : { ...value, ...market }) as never);
}

function run(books: PartitionBooks, input: readonly InputRecord[]): BookOutput[] {
  const outputs: BookOutput[] = [];
  books.apply(input, outputs);
  return outputs;
}

describe('books of a partition', () => {
  it('publish the same with and without a restore, and skip records behind it', () => {
    fc.assert(
      fc.property(records, fc.nat(50), fc.nat(50), (input, first, second) => {
        const whole = new PartitionBooks(0, 0n);
        const expected = run(whole, input);
        // Each book is saved at one of two offsets, and all restart from the lower one.
        const [low, high] = [Math.min(first, second, input.length), Math.min(Math.max(first, second), input.length)];
        const running = new PartitionBooks(0, 0n);
        const before = run(running, input.slice(0, low));
        // The role saves no book that keeps changes for the end of its bracket.
        const isHeld = () => [...running.books.values()].some(({ engine }) => engine.isHeld);
        fc.pre(!isHeld());
        const saved = [...running.books.values()].map((book) => ({
          next: book.next,
          saving: running.save(book),
          key: book.key,
        }));
        run(running, input.slice(low, high));
        fc.pre(!isHeld());
        const resumed = new PartitionBooks(0, running.next);
        for (const [at, book] of [...running.books.values()].entries()) {
          const early = saved.find(({ key }) => key === book.key);
          if (at % 2 === 0 || !early) resumed.restore(finish(running.save(book)), book.next);
          else resumed.restore(finish(early.saving), early.next);
        }
        const after = run(resumed, input.slice(low));
        expect(hashBooks([...resumed.books.values()].map(({ engine }) => engine))).toBe(
          hashBooks([...whole.books.values()].map(({ engine }) => engine)),
        );
        const changes = (outputs: readonly BookOutput[]) =>
          outputs
            .filter(({ kind }) => kind === 'diff')
            .map(({ key, value }) => `${key}:${Buffer.from(value).toString('hex')}`);
        const republished = new Set([...changes(before), ...changes(after)]);
        for (const change of changes(expected.slice(0, before.length))) expect(republished.has(change)).toBe(true);
        const all = new Set(changes(expected));
        for (const change of changes(after)) expect(all.has(change)).toBe(true);
      }),
      { numRuns: 100 },
    );
  });

  it('apply the records that come after a lost tail, while they run and after a restore', () => {
    fc.assert(
      fc.property(records, records, fc.nat(100), fc.boolean(), (input, later, lost, isRestored) => {
        const end = (input.at(-1)?.offset ?? 0n) + 1n;
        const newEnd = end - BigInt(Math.min(lost, Number(end)));
        const moved = (from: bigint) => later.map(({ offset, value }) => ({ offset: from + offset, value }));
        const whole = new PartitionBooks(0, 0n);
        run(whole, input);
        let books = new PartitionBooks(0, 0n);
        run(books, input);
        if (isRestored) {
          fc.pre([...books.books.values()].every(({ engine }) => !engine.isHeld));
          const restored = new PartitionBooks(0, books.next);
          for (const book of books.books.values()) restored.restore(finish(books.save(book)), book.next);
          restored.rewind(newEnd);
          expect(restored.lowWatermark()).toBeLessThanOrEqual(newEnd);
          books = restored;
        }
        const changes = run(books, moved(newEnd)).filter(({ kind }) => kind === 'diff');
        expect(changes).toEqual(run(whole, moved(end)).filter(({ kind }) => kind === 'diff'));
        expect(books.next).toBe(newEnd + (later.at(-1)?.offset ?? 0n) + 1n);
      }),
      { numRuns: 100 },
    );
  });

  it('publish the same for any batches', () => {
    fc.assert(
      fc.property(records, fc.array(fc.nat(50), { maxLength: 6 }), (input, cuts) => {
        const expected = run(new PartitionBooks(0, 0n), input);
        const books = new PartitionBooks(0, 0n);
        const places = [0, ...cuts.sort((left, right) => left - right), input.length];
        const outputs = places.slice(1).flatMap((to, at) => run(books, input.slice(places[at], to)));
        expect(outputs).toEqual(expected);
      }),
      { numRuns: 100 },
    );
  });

  it('number the changes of each market separately, across common slots', () => {
    const books = new PartitionBooks(0, 0n);
    const inputs = [
      bytesOf(
        ordersOf({ slot: 5, upserts: [orderOf({ price: 2n, baseAssetAmount: 1n })] }),
        { marketType: 'perp', marketIndex: 0 },
        false,
      ),
      bytesOf(
        ordersOf({ slot: 6, upserts: [orderOf({ price: 2n, baseAssetAmount: 1n })] }),
        { marketType: 'spot', marketIndex: 1 },
        false,
      ),
      bytesOf(slotOf(7), { marketType: 'perp', marketIndex: 0 }, false),
    ];
    const outputs = run(
      books,
      inputs.map((value, at) => ({ offset: BigInt(at), value })),
    );
    const diffs = outputs.flatMap(({ key, value }) => {
      const decoded = decodeMessage(value);
      return decoded.name === 'BookViewDiff' ? [[key, decoded.value.epoch, decoded.value.seq, decoded.value.slot]] : [];
    });
    expect(diffs).toEqual([
      ['perp-0', 5, 1, 5],
      ['spot-1', 6, 1, 6],
      ['perp-0', 5, 2, 7],
      ['spot-1', 6, 2, 7],
    ]);
    expect(books.lowWatermark()).toBe(0n);
  });
});

describe('the description of a market', () => {
  it('says that its book is partial during the first whole read, and has the oracle', () => {
    const published = (messages: readonly BookMessage[]) => {
      const market: MarketRef = { marketType: 'perp', marketIndex: 0 };
      const input = messages.map((message, at) => ({ offset: BigInt(at), value: bytesOf(message, market, false) }));
      return run(new PartitionBooks(0, 0n), input).flatMap(({ kind, value }) => {
        const { value: view } = decodeMessage(value);
        return kind === 'market' && 'isLoading' in view ? [[view.isLoading, view.oracle?.slot ?? null]] : [];
      });
    };
    const order = ordersOf({ slot: 5, upserts: [orderOf({ price: 2n, baseAssetAmount: 1n })] });
    const oracle = oracleOf({ slot: 5, oracleSlot: 4n });
    const known = marketOf({ slot: 5 });
    expect(published([beginOf(5), order, known, oracle, endOf(5), beginOf(6), endOf(6)])).toEqual([
      [true, null],
      [true, 4n],
      [false, 4n],
    ]);
    // A market added later is never read as a whole.
    expect(published([marketOf({ slot: 5 }), order])).toEqual([[false, null]]);
  });
});

describe('block times', () => {
  it('leave the books unchanged, and create none', () => {
    const books = new PartitionBooks(0, 0n);
    const value = encodeMessage('BookTime', { slot: 7, ts: 1_700_000_000 });
    expect(run(books, [{ offset: 4n, value }])).toEqual([]);
    expect([books.books.size, books.next]).toEqual([0, 5n]);
  });
});
