import bs58 from 'bs58';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { deposit, orderFill, placement, USER_ID } from '../../test/support/api/history-rows.ts';
import { HistoryStage, type Listed, NOW } from '../../test/support/api/history-stage.ts';
import { times } from '../../test/support/platform/times.ts';
import { encodeCursor, type RowPlace } from './cursor.ts';

// Many requests and inserts, possibly on a busy machine.
let stage: HistoryStage;

beforeAll(async () => {
  stage = await HistoryStage.open();
});

afterAll(() => stage?.close());

beforeEach(() => stage.reset());

/** Lists of every kind: over the rows, through a lookup table, joined. */
const SHAPES = [
  { table: 'order_action', path: '/market/SOL-PERP/trades', make: () => orderFill(1, 1, 1) },
  { table: 'deposit', path: '/market/USDT/deposits', make: () => deposit() },
  { table: 'order_action', path: `/user/${USER_ID}/trades`, make: () => orderFill(1, 1, 1) },
  { table: 'order', path: `/user/${USER_ID}/orders/perp`, make: () => placement(1) },
] as const;

const ROWS = times(20, 30);
/**
 * Few different times, slots and indexes make ties of every kind common. Each row comes up to three times. The last copy of a placed
 * row has the index of its transaction, the others are from a source without it.
 */
const heads = fc.uniqueArray(
  fc.record({
    age: fc.nat(2),
    slot: fc.nat(2),
    signature: fc.nat(3),
    eventIndex: fc.nat(3),
    isPlaced: fc.boolean(),
    copies: fc.integer({ min: 1, max: 3 }),
  }),
  {
    minLength: ROWS,
    maxLength: ROWS,
    selector: ({ age, slot, signature, eventIndex }) => [age, slot, signature, eventIndex].join(),
  },
);

async function allPages(path: string, limit: number, first = ''): Promise<Record<string, unknown>[]> {
  const seen: Record<string, unknown>[] = [];
  let page: string | null = first;
  while (page !== null) {
    const next: Listed = await stage.list(`${path}?limit=${limit}${page === '' ? '' : `&page=${page}`}`);
    expect(next.records.length).toBeLessThanOrEqual(limit);
    seen.push(...next.records);
    page = next.meta.nextPage;
  }
  return seen;
}

const placeOf = ({ ts, slot, txSig, txSigIndex }: Record<string, unknown>) => `${ts} ${slot} ${txSig} ${txSigIndex}`;

/** Time, slot, and the place in the block; rows without one come after the others of their slot. */
const blockOrderOf = ({ ts, slot, txIndex, txSigIndex }: Record<string, unknown>): readonly number[] =>
  [ts, slot, ...(txIndex === null ? [-1, 0] : [txIndex, txSigIndex])].map(Number);

const newestFirst = (a: readonly number[], b: readonly number[]): number =>
  a.map((member, at) => (b[at] ?? 0) - member).find((difference) => difference !== 0) ?? 0;

const UINT32_MAX = 2 ** 32 - 1;
const PLACE = {
  ts: fc.maxSafeNat(),
  slot: fc.maxSafeNat(),
  txIndex: fc.option(fc.nat(UINT32_MAX - 1)),
  sequence: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String),
  txSig: fc.uint8Array({ minLength: 64, maxLength: 64 }).map((bytes) => bs58.encode(bytes)),
  txSigIndex: fc.nat(UINT32_MAX),
};
/** The smallest and the largest place of a token. */
const EXTREMES: readonly RowPlace[] = [
  { ts: 0, slot: 0, txIndex: 0, sequence: '0', txSig: '1'.repeat(64), txSigIndex: 0 },
  {
    ts: Number.MAX_SAFE_INTEGER,
    slot: Number.MAX_SAFE_INTEGER,
    txIndex: UINT32_MAX - 1,
    sequence: String(2n ** 64n - 1n),
    txSig: bs58.encode(new Uint8Array(64).fill(255)),
    txSigIndex: UINT32_MAX,
  },
];

describe('pages', () => {
  it.each(SHAPES)(
    'of $path have each row once and in order, for any limit, with ties and copies',
    async ({ table, path, make }) => {
      for (const drawn of fc.sample(heads, { numRuns: 2, seed: 11 })) {
        await stage.reset();
        const rows = drawn.flatMap(({ age, slot, signature, eventIndex, isPlaced, copies }) => {
          // Events with one signature share slot and time.
          const name = `${age}${slot}${signature}`.padStart(64, 's');
          const row = {
            ...make(),
            ts: NOW - 10 - age,
            slot: String(100 - age * 10 + slot),
            signature: name,
            event_index: eventIndex,
          };
          // The order in the block is not that of signatures.
          const placed = { ...row, tx_index: isPlaced ? 9 - signature : null };
          return [...Array.from({ length: copies - 1 }, () => row), placed];
        });
        await stage.store(table, rows);
        const whole = await allPages(path, 50);
        expect(new Set(whole.map(placeOf)).size).toBe(ROWS);
        expect(whole).toHaveLength(ROWS);
        expect(whole.filter(({ txIndex }) => txIndex !== null)).toHaveLength(
          drawn.filter(({ isPlaced }) => isPlaced).length,
        );
        const order = whole.map(blockOrderOf);
        expect(order).toEqual(order.toSorted(newestFirst));
        for (const limit of [2, 7]) {
          expect((await allPages(path, limit)).map(placeOf)).toEqual(whole.map(placeOf));
        }
      }
    },
  );

  it('that a token of the older order leads to keep that order to the end, each row once', async () => {
    const path = '/market/SOL-PERP/trades';
    const fills = Array.from({ length: 9 }, (_, id) =>
      orderFill(1, 1, 1, { slot: '900', fill_record_id: String(id), tx_index: id % 3 === 0 ? 20 - id : null }),
    );
    await stage.store('order_action', fills);
    const lastRow = { ts: NOW - 100, slot: 900, sequence: '9', txSig: 'z'.repeat(87), txSigIndex: 0 };
    const seen = await allPages(path, 2, encodeCursor(path, { lastRow, page: 1 }));
    expect(seen.map(({ fillRecordId }) => Number(fillRecordId))).toEqual([8, 7, 6, 5, 4, 3, 2, 1, 0]);
    const anew = (await allPages(path, 2)).map(({ fillRecordId }) => Number(fillRecordId));
    expect(anew).toEqual([0, 3, 6, 8, 7, 5, 4, 2, 1]);
  });

  it.each(SHAPES)(
    'of $path are answered for every token that has the form of one, however far it is from any row',
    async ({ table, path, make }) => {
      await stage.store(table, [{ ...make() }]);
      const tokens = fc.record({
        lastRow: fc.record(PLACE, { requiredKeys: ['ts', 'slot', 'sequence', 'txSig', 'txSigIndex'] }),
        page: fc.integer({ min: 1 }),
      });
      const isAnswered = fc.asyncProperty(tokens, async (token) => {
        const answer = await stage.app.inject(`${path}?page=${encodeCursor(path, token)}`);
        expect(answer.statusCode).toBe(200);
      });
      await fc.assert(isAnswered, {
        numRuns: times(15, 30),
        examples: EXTREMES.map((lastRow) => [{ lastRow, page: UINT32_MAX }]),
      });
    },
  );

  it('lose nothing where the density of rows changes suddenly', async () => {
    const ages = [1, 2, 3, 4, 5, 6, 7, 8, 500_000, 500_001, 900_000, 2_000_000];
    await stage.store(
      'deposit',
      ages.map((age) => deposit({ ts: NOW - age })),
    );
    for (let again = 0; again < 2; again++) {
      const seen = (await allPages('/market/USDT/deposits', 2)).map(({ ts }) => NOW - Number(ts));
      expect(seen).toEqual(ages);
    }
    await stage.store('deposit', [deposit({ ts: NOW })]);
    expect((await allPages('/market/USDT/deposits', 3)).map(({ ts }) => NOW - Number(ts))).toEqual([0, ...ages]);
  });

  it('lose nothing where most stored rows are copies', async () => {
    const [newest, older, oldest] = [deposit({ ts: NOW - 1 }), deposit({ ts: NOW - 2 }), deposit({ ts: NOW - 3 })];
    await stage.store('deposit', [...Array.from({ length: 80 }, () => newest), older, oldest]);
    const page = await stage.list('/market/USDT/deposits?limit=2');
    expect(page.records.map(({ ts }) => Number(ts) - NOW)).toEqual([-1, -2]);
    const next = await stage.list(`/market/USDT/deposits?limit=1&page=${page.meta.nextPage}`);
    expect(next.records.map(({ ts }) => Number(ts) - NOW)).toEqual([-3]);
  });
});
