// All lists show fills in the same order. Fills of one slot come from several transactions, and signatures do not give their
// order in the block.

import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { keyText } from '../../test/support/api/history-rows.ts';
import { fill, HistoryStage, NOW } from '../../test/support/api/history-stage.ts';
import { times } from '../../test/support/platform/times.ts';

// Many requests and inserts, possibly on a busy machine.
let stage: HistoryStage;

beforeAll(async () => {
  stage = await HistoryStage.open();
});

afterAll(() => stage?.close());

beforeEach(() => stage.reset());

const ACCOUNTS = ['a', 'b', 'c'] as const;
const MARKETS = ['SOL-PERP', 'BTC-PERP'] as const;
const FILLS = times(24, 40);

const drawn = fc.array(
  fc.record({
    slot: fc.nat(2),
    /** Signature of the transaction, random like real ones. */
    signature: fc.nat(5),
    /** Whether the source gave the index in the block. */
    isPlaced: fc.boolean(),
    market: fc.nat(MARKETS.length - 1),
    taker: fc.constantFrom(...ACCOUNTS),
    maker: fc.constantFrom(...ACCOUNTS, null),
    closes: fc.boolean(),
  }),
  { minLength: FILLS, maxLength: FILLS },
);
type Drawn = ReturnType<typeof drawn.generate>['value'];

/** Rows as the program writes them: fill ids grow by market, filled amounts by order, event indexes by transaction. */
function rowsOf(fills: Drawn): readonly Record<string, unknown>[] {
  const fillIds = MARKETS.map(() => 0);
  const filled = new Map<string, number>();
  const indexes = new Map<string, number>();
  const next = (counts: Map<string, number>, key: string): number => {
    const count = counts.get(key) ?? 0;
    counts.set(key, count + 1);
    return count;
  };
  return fills
    .toSorted((a, b) => a.slot - b.slot)
    .map(({ slot, signature, isPlaced, market, taker, maker, closes }) => {
      fillIds[market] = (fillIds[market] ?? 0) + 1;
      const name = `${signature}${slot}`.padStart(64, 's');
      return fill({
        ts: NOW - 100,
        slot: String(100 + slot),
        signature: name,
        event_index: next(indexes, name),
        // The order in the block is not that of signatures.
        tx_index: isPlaced ? 90 - signature : null,
        market_index: market,
        fill_record_id: String(fillIds[market]),
        taker: taker.repeat(32),
        taker_order_id: market,
        taker_order_cumulative_base_asset_amount_filled: String(next(filled, `${taker}${market}`) + 1),
        taker_existing_quote_entry_amount: closes ? '5' : null,
        maker: maker?.repeat(32) ?? null,
        maker_order_id: maker === null ? null : 100 + fills.length + market,
        maker_order_cumulative_base_asset_amount_filled: maker === null ? null : String(fillIds[market]),
      });
    });
}

type Place = string;
const placeOf = ({ txSig, txSigIndex }: Record<string, unknown>): Place => `${txSig} ${txSigIndex}`;

async function paged(path: string, limit: number): Promise<readonly Place[]> {
  const found: Place[] = [];
  let page: string | null = '';
  while (page !== null) {
    const { records, meta } = await stage.list(`${path}?limit=${limit}${page === '' ? '' : `&page=${page}`}`);
    found.push(...records.map(placeOf));
    page = meta.nextPage;
  }
  return found;
}

async function archived(path: string): Promise<readonly Place[]> {
  const places = (await stage.list(path)).records.map(placeOf);
  const [head = '', ...lines] = (await stage.app.inject(`${path}?format=csv`)).body.trimEnd().split('\n');
  const names = head.split(',').map((name) => name.replaceAll('"', ''));
  const cells = lines.map((line) => line.split(',').map((cell) => cell.replaceAll('"', '')));
  const rows = cells.map((row) => Object.fromEntries(names.map((name, index) => [name, row[index]])));
  expect([path, rows.map(placeOf)]).toEqual([path, places]);
  return places;
}

type Lists = ReadonlyMap<string, readonly Place[]>;

async function readAll(paths: readonly string[], read: (path: string) => Promise<readonly Place[]>): Promise<Lists> {
  const lists = new Map<string, readonly Place[]>();
  for (const path of paths) lists.set(path, await read(path));
  return lists;
}

const USERS = ACCOUNTS.map((account) => `/user/${keyText(account)}`);
/** Paths of every list of fills, in pages and dated. */
const PAGED = [
  ...MARKETS.map((market) => `/market/${market}/trades`),
  ...USERS.flatMap((user) => [
    `${user}/trades`,
    `${user}/positions`,
    ...MARKETS.flatMap((market, index) => [`${user}/trades/${market}`, `${user}/orders/${index}/actions`]),
  ]),
];
const DATED = [
  ...MARKETS.map((market) => `/market/${market}/trades/2026/6/15`),
  ...USERS.map((user) => `${user}/trades/2026/6`),
];

describe('two lists that hold the same two fills', () => {
  it('show them in the same order, for any page size, and each fill once', async () => {
    for (const fills of fc.sample(drawn, { numRuns: 2, seed: 3 })) {
      await stage.reset();
      const rows = rowsOf(fills);
      await stage.store('order_action', rows);
      const dated = await readAll(DATED, archived);
      for (const limit of [3, 50]) {
        const lists = [...(await readAll(PAGED, (path) => paged(path, limit))), ...dated];
        for (const [path, places] of lists) expect([path, new Set(places).size]).toEqual([path, places.length]);
        for (const [path, places] of lists) {
          const rank = new Map(places.map((place, index) => [place, index]));
          for (const [other, others] of lists) {
            const ranks = others.flatMap((place) => rank.get(place) ?? []);
            expect([path, other, ranks]).toEqual([path, other, ranks.toSorted((a, b) => a - b)]);
          }
        }
        const markets = lists.filter(([path]) => path.startsWith('/market/')).flatMap(([, places]) => places);
        expect(markets).toHaveLength(2 * FILLS);
      }
    }
  });
});

describe('a token of an older row order', () => {
  it('is refused, because it may name another row', async () => {
    const path = '/market/SOL-PERP/trades';
    await stage.store('order_action', [fill(), fill()]);
    const { meta } = await stage.list(`${path}?limit=1`);
    const tuple = JSON.parse(Buffer.from(meta.nextPage ?? '', 'base64url').toString('utf8')) as unknown[];
    const older = Buffer.from(JSON.stringify(tuple.with(0, 1))).toString('base64url');
    const answer = await stage.app.inject(`${path}?limit=1&page=${older}`);
    expect([answer.statusCode, answer.json()]).toEqual([
      400,
      { error: 'ValidationError', message: 'page is not a token of this service' },
    ]);
  });
});
