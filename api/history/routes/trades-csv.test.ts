// Pages derive some members of a trade that CSV reads from the store: both must be equal.

import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { USER, USER_ID } from '../../../test/support/api/history-rows.ts';
import { fill, HistoryStage, NOW } from '../../../test/support/api/history-stage.ts';

const FILLS = 200;
const U64_MAX = 2n ** 64n - 1n;
const I64_MAX = 2n ** 63n - 1n;

let stage: HistoryStage;

beforeAll(async () => {
  stage = await HistoryStage.open();
});

afterAll(() => stage?.close());

beforeEach(() => stage.reset());

const text = (value: bigint | null) => (value === null ? null : String(value));
const amounts = fc.option(fc.oneof(fc.bigInt(0n, 9n), fc.bigInt(0n, U64_MAX)), { freq: 8 }).map(text);
const fees = fc.option(fc.oneof(fc.bigInt(-9n, 9n), fc.bigInt(-I64_MAX - 1n, I64_MAX)), { freq: 8 }).map(text);

const members = fc.record({
  base_asset_amount_filled: amounts,
  quote_asset_amount_filled: amounts,
  taker_fee: amounts,
  maker_fee: fees,
  referrer_reward: fc.option(fc.nat(2 ** 31 - 1)),
  maker: fc.constantFrom(null, 'm'.repeat(32), USER),
  maker_existing_base_asset_amount: amounts,
});

/** Cells of a CSV line without quotes inside; an empty cell is null. */
const cells = (line: string) => line.split(',').map((cell) => (cell === '' ? null : cell.replace(/^"|"$/g, '')));

describe('trades as CSV', () => {
  it.each([
    ['perp', '/market/SOL-PERP/trades/2026/6/15'],
    ['spot', '/market/SOL/trades/2026/6/15'],
    ['perp', `/user/${USER_ID}/trades/2026/6`],
  ])('of %s %s are the rows of the pages for any amounts', async (marketType, path) => {
    const index = marketType === 'spot' ? 1 : 0;
    await stage.store(
      'order_action',
      fc
        .sample(members, { numRuns: FILLS, seed: 5 })
        .map((drawn) => fill({ ts: NOW - 50, taker: USER, market_type: marketType, market_index: index, ...drawn })),
    );
    const { records } = await stage.list(path);
    expect(records).toHaveLength(FILLS);
    // The engine compiles an expression after a few uses, which could change its result.
    for (let run = 0; run < 4; run += 1) await stage.app.inject(`${path}?format=csv`);
    const [head = '', ...lines] = (await stage.app.inject(`${path}?format=csv`)).body.trimEnd().split('\n');
    expect(cells(head)).toEqual(Object.keys(records[0] ?? {}));
    const jsonCells = records.map((row) => Object.values(row).map((cell) => (cell === null ? null : String(cell))));
    expect(lines.map(cells)).toEqual(jsonCells);
  });
});
