import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { deposit, orderFill, placement, USER_ID } from '../../test/support/api/history-rows.ts';
import { HistoryStage, type Listed, NOW } from '../../test/support/api/history-stage.ts';

// Many requests and inserts, possibly on a busy machine.
let stage: HistoryStage;

beforeAll(async () => {
  stage = await HistoryStage.open();
}, 60_000);

afterAll(() => stage?.close());

beforeEach(() => stage.reset());

/** Lists of every kind: over the rows, through a lookup table, joined. */
const SHAPES = [
  { table: 'order_action', path: '/market/SOL-PERP/trades', make: () => orderFill(1, 1, 1) },
  { table: 'deposit', path: '/market/USDT/deposits', make: () => deposit() },
  { table: 'order_action', path: `/user/${USER_ID}/trades`, make: () => orderFill(1, 1, 1) },
  { table: 'order', path: `/user/${USER_ID}/orders/perp`, make: () => placement(1) },
] as const;

const ROWS = 30;
/** Few different times, slots and indexes make ties of every kind common. Each row comes up to three times. */
const heads = fc.uniqueArray(
  fc.record({
    age: fc.nat(2),
    slot: fc.nat(2),
    signature: fc.nat(3),
    eventIndex: fc.nat(3),
    copies: fc.integer({ min: 1, max: 3 }),
  }),
  {
    minLength: ROWS,
    maxLength: ROWS,
    selector: ({ age, slot, signature, eventIndex }) => [age, slot, signature, eventIndex].join(),
  },
);

async function allPages(path: string, limit: number): Promise<Record<string, unknown>[]> {
  const seen: Record<string, unknown>[] = [];
  let page: string | null = '';
  while (page !== null) {
    const next: Listed = await stage.list(`${path}?limit=${limit}${page === '' ? '' : `&page=${page}`}`);
    expect(next.records.length).toBeLessThanOrEqual(limit);
    seen.push(...next.records);
    page = next.meta.nextPage;
  }
  return seen;
}

const placeOf = ({ ts, slot, txSig, txSigIndex }: Record<string, unknown>) => `${ts} ${slot} ${txSig} ${txSigIndex}`;

describe('pages', () => {
  it.each(SHAPES)(
    'of $path have each row once and in order, for any limit, with ties and copies',
    async ({ table, path, make }) => {
      for (const drawn of fc.sample(heads, { numRuns: 2, seed: 11 })) {
        await stage.reset();
        const rows = drawn.flatMap(({ age, slot, signature, eventIndex, copies }) => {
          // Events with one signature share slot and time.
          const name = `${age}${slot}${signature}`.padStart(64, 's');
          const row = {
            ...make(),
            ts: NOW - 10 - age,
            slot: String(100 - age * 10 + slot),
            signature: name,
            event_index: eventIndex,
          };
          return Array.from({ length: copies }, () => row);
        });
        await stage.store(table, rows);
        const whole = await allPages(path, 50);
        expect(new Set(whole.map(placeOf)).size).toBe(ROWS);
        expect(whole).toHaveLength(ROWS);
        const times = whole.map(({ ts, slot }) => [Number(ts), Number(slot)] as const);
        expect(times).toEqual(times.toSorted(([a, b], [c, d]) => c - a || d - b));
        for (const limit of [2, 7]) {
          expect((await allPages(path, limit)).map(placeOf)).toEqual(whole.map(placeOf));
        }
      }
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
