import fc from 'fast-check';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../../platform/index.ts';
import { AccountDays } from '../../../processors/history/account-days.ts';
import { sinkMetrics } from '../../../processors/history/metrics.ts';
import {
  dayOf,
  fillPrice,
  fillPriceSql,
  fundingPercent1e9,
  fundingPercentSql,
  isEnd,
  isEndSql,
  isExpiry,
  isExpirySql,
  quoteValue,
  quoteValueSql,
  triggeredCondition,
  triggeredConditionSql,
} from '../../../schemas/index.ts';
import { address, key } from '../../../test/support/api/history-requests.ts';
import { DAY, HistoryStage, NOW } from '../../../test/support/api/history-stage.ts';
import { times } from '../../../test/support/platform/times.ts';
import { plainText, plainTextSql } from '../csv-text.ts';
import { gridOf } from '../snapshots/grid.ts';
import { HistoryStore } from '../store.ts';
import { cleanDays, sharesOf } from './account-days.ts';
import { leaderboard, sideVolumes } from './boards.ts';
import { referralSnapshots } from './referrals.ts';
import { fillSums, perpMoney } from './snapshots.ts';

// The engine takes seconds to start on a busy machine with a cold page cache.
/** A database with the same rows and no clean days, so all sums come from the events. */
const TWIN = 'twin';
const USERS = ['a', 'b', 'c', 'd'];
const MIDNIGHT = Math.floor(NOW / DAY) * DAY;
const DAYS = 6;
const TABLES = [
  'order_action',
  'account_action',
  'funding_payment',
  'settle_pnl',
  'liquidation',
  'liquidation_by_time',
];
const SUMS = ['account_day_fills', 'account_day_money', 'account_day_mark'];

let stage: HistoryStage;
const persisting = {
  logger: silentLogger(),
  metrics: sinkMetrics(new Registry(), async () => new Map()),
  signal: new AbortController().signal,
};

interface Row {
  readonly table: string;
  readonly ts: number;
  readonly members: Readonly<Record<string, unknown>>;
}

beforeAll(async () => {
  stage = await HistoryStage.open();
  await stage.clickhouse.prepare(TWIN);
  await stage.store(
    'new_user',
    USERS.map((user, id) => ({
      signature: String(id).padStart(64, 'u'),
      slot: '1',
      ts: 1,
      user: key(user),
      user_authority: key(user === 'b' ? 'A' : user.toUpperCase()),
      referrer: key(user === 'a' ? 'C' : 'R'),
    })),
  );
  await insertTwin('new_user', 'INSERT INTO twin.new_user SELECT * FROM new_user');
});
afterAll(() => stage?.close());
beforeEach(truncate);

async function insertTwin(table: string, query = `INSERT INTO ${TWIN}.${table} SELECT * FROM ${table}`): Promise<void> {
  await stage.clickhouse.client.command({ query });
}

async function truncate(): Promise<void> {
  const { client, database } = stage.clickhouse;
  const names = [...TABLES.flatMap((table) => [`${database}.${table}`, `${TWIN}.${table}`]), ...SUMS];
  for (const name of names) await client.command({ query: `TRUNCATE TABLE ${name}` });
}

/** Times on midnights, one second beside them, and in between. */
const time = fc
  .tuple(fc.integer({ min: -DAYS, max: 0 }), fc.constantFrom(-1, 0, 1, 3_600, 40_000, 43_210))
  .map(([day, second]) => MIDNIGHT + day * DAY + second);
const user = fc.constantFrom(...USERS.map(key));
const side = fc.option(user, { freq: 4 });
const existing = fc.option(fc.integer({ min: 0, max: 40 }), { freq: 2 });
const direction = fc.constantFrom('long', 'short');
const amount = fc.integer({ min: 0, max: 90 });

const fillRow = fc
  .record({
    action: fc.constantFrom('fill', 'fill', 'fill', 'fill', 'place'),
    action_explanation: fc.constantFrom('orderFilledWithMatch', 'liquidation', 'transferPerpPosition'),
    market_type: fc.constantFrom('perp', 'perp', 'spot'),
    market_index: fc.integer({ min: 0, max: 1 }),
    base_asset_amount_filled: amount,
    quote_asset_amount_filled: amount,
    taker: side,
    maker: side,
    taker_fee: fc.integer({ min: 0, max: 9 }),
    referrer_reward: fc.option(fc.integer({ min: 0, max: 3 })),
    maker_fee: fc.integer({ min: -9, max: 9 }),
    taker_order_direction: direction,
    maker_order_direction: direction,
    taker_existing_quote_entry_amount: existing,
    taker_existing_base_asset_amount: existing,
    maker_existing_quote_entry_amount: existing,
    maker_existing_base_asset_amount: existing,
    oracle_price: fc.integer({ min: 1, max: 5 }).map((price) => price * 1_000_000),
  })
  .map((members) => ({ table: 'order_action', members }));
const fundingRow = fc
  .record({ user, market_index: fc.integer({ min: 0, max: 1 }), funding_payment: fc.integer({ min: -5, max: 5 }) })
  .map((members) => ({ table: 'funding_payment', members }));
const settleRow = fc
  .record({
    user,
    market_index: fc.integer({ min: 0, max: 1 }),
    pnl: fc.integer({ min: -50, max: 50 }),
    explanation: fc.constantFrom('none', 'expiredPosition'),
    base_asset_amount: fc.integer({ min: -3_000_000_000, max: 3_000_000_000 }),
    quote_entry_amount: fc.integer({ min: -9, max: 9 }),
    settle_price: fc.integer({ min: 1, max: 9 }),
  })
  .map((members) => ({ table: 'settle_pnl', members }));
const liquidationRow = fc
  .record({
    user,
    liquidator: user,
    liquidation_type: fc.constantFrom(
      'liquidatePerp',
      'liquidateBorrowForPerpPnl',
      'liquidatePerpPnlForDeposit',
      'perpBankruptcy',
    ),
    liquidate_borrow_for_perp_pnl_pnl_transfer: amount,
    liquidate_perp_pnl_for_deposit_pnl_transfer: amount,
    perp_bankruptcy_market_index: fc.integer({ min: 0, max: 1 }),
    perp_bankruptcy_pnl: amount.map((loss) => -loss),
  })
  .map((members) => ({ table: 'liquidation', members }));
const row: fc.Arbitrary<Row> = fc
  .tuple(
    fc.oneof({ weight: 5, arbitrary: fillRow }, fundingRow, settleRow, liquidationRow),
    time,
    fc.integer({ min: 1, max: 3 }),
    fc.nat(),
  )
  .map(([{ table, members }, ts, slot, id]) => {
    const head = { signature: String(id).padStart(64, 'x'), event_index: id % 3, slot: String(slot), tx_index: null };
    return { table, ts, members: { ...head, ts, ...members } };
  });
/** Successive inserts and reductions; new rows come with copies of stored rows. */
const steps = fc.array(
  fc.record({
    rows: fc.array(row, { minLength: 1, maxLength: 12 }),
    copies: fc.integer({ min: 0, max: 3 }),
    reduce: fc.constantFrom('before', 'meanwhile', 'after', 'after', 'never'),
    restart: fc.boolean(),
  }),
  { minLength: 3, maxLength: 3 },
);

/** Writes days first, then the rows, like the sink, in both databases. */
async function put(days: AccountDays, rows: readonly Row[]): Promise<void> {
  const touched = new Set(rows.map(({ ts }) => dayOf(ts)));
  await days.storing(touched, persisting);
  for (const table of new Set(rows.map((one) => one.table))) {
    const values = rows.filter((one) => one.table === table).map(({ members }) => members);
    const { client, database } = stage.clickhouse;
    for (const name of [database, TWIN]) {
      await client.insert({
        table: `${name}.${table}`,
        values,
        format: 'JSONEachRow',
        clickhouse_settings: { optimize_on_insert: 0, max_partitions_per_insert_block: '0' },
      });
    }
  }
  days.stored(touched);
}

const target = () => ({ client: stage.clickhouse.client, settle: async () => {} });
const byText = (rows: readonly object[]) => rows.map((one) => JSON.stringify(one)).sort();

async function answers(database: string): Promise<unknown> {
  const store = new HistoryStore(stage.clickhouse.client, database);
  const clean = await cleanDays(store);
  const users = USERS.map((letter) => address(key(letter)));
  const grids = [gridOf(MIDNIGHT + 500, 4, 'daily'), gridOf(MIDNIGHT - 7_000, 1, 'hourly')];
  const month = MIDNIGHT - 2 * DAY;
  return {
    fills: await Promise.all(grids.map(async (grid) => byText(await fillSums(store, users, grid, clean)))),
    money: await Promise.all(grids.map(async (grid) => byText(await perpMoney(store, users, grid, clean)))),
    referrals: await Promise.all(grids.map((grid) => referralSnapshots(store, address(key('R')), grid))),
    boards: await Promise.all([
      leaderboard(store, [0, 1], MIDNIGHT - 3 * DAY - 70, MIDNIGHT + 43_000),
      leaderboard(store, [0, 1], MIDNIGHT - 3 * DAY, MIDNIGHT),
      sideVolumes(store, 'taker', month, month + 3 * DAY),
      sideVolumes(store, 'maker', month + 1, MIDNIGHT),
    ]),
  };
}

describe('sums of accounts', () => {
  it('do not depend on which days are reduced, with copies, late rows and reductions at any time', async () => {
    let cleanSeen = 0;
    await fc.assert(
      fc.asyncProperty(steps, async (happenings) => {
        await truncate();
        let days = new AccountDays(target(), 0);
        await days.load(persisting);
        const known: Row[] = [];
        for (const { rows, copies, reduce, restart } of happenings) {
          if (reduce === 'before') await days.reduceDue(persisting);
          const reducing = reduce === 'meanwhile' ? days.reduceDue(persisting) : null;
          await put(days, [...rows, ...known.slice(-copies || known.length)]);
          await reducing;
          if (reduce === 'after') await days.reduceDue(persisting);
          known.push(...rows);
          if (restart) {
            days = new AccountDays(target(), 0);
            await days.load(persisting);
          }
          const [own, twin] = await Promise.all([stage.clickhouse.database, TWIN].map(answers));
          expect(own).toEqual(twin);
          cleanSeen += (await cleanDays(new HistoryStore(stage.clickhouse.client, stage.clickhouse.database))).length;
        }
      }),
      { numRuns: times(3, 30), endOnFailure: true },
    );
    expect(cleanSeen).toBeGreaterThan(0);
    expect(await cleanDays(new HistoryStore(stage.clickhouse.client, TWIN))).toEqual([]);
  });

  it('come from the stored days, not from their events, while the days are clean', async () => {
    const days = new AccountDays(target(), 0);
    const fillOn = (ts: number, id: number): Row => ({
      table: 'order_action',
      ts,
      members: {
        signature: String(id).padStart(64, 'y'),
        ts,
        slot: '1',
        action: 'fill',
        market_type: 'perp',
        taker: key('c'),
        taker_order_direction: 'long',
        base_asset_amount_filled: 5,
        quote_asset_amount_filled: 7,
      },
    });
    await put(days, [fillOn(MIDNIGHT - 2 * DAY + 9, 1), fillOn(MIDNIGHT - DAY + 9, 2), fillOn(MIDNIGHT + 9, 3)]);
    await days.reduceDue(persisting);
    await stage.clickhouse.client.command({ query: 'TRUNCATE TABLE order_action' });
    const store = new HistoryStore(stage.clickhouse.client, stage.clickhouse.database);
    const took = async (to: number) =>
      (await sideVolumes(store, 'taker', MIDNIGHT - 2 * DAY, to)).map(({ volume }) => volume);
    expect(await took(MIDNIGHT + 1)).toEqual(['14']);
    // The span excludes the last second of the second day, so that day's sum comes from its events, which are deleted.
    expect(await took(MIDNIGHT)).toEqual(['7']);
    await put(days, [fillOn(MIDNIGHT - DAY + 10, 4)]);
    expect(await took(MIDNIGHT + 1)).toEqual(['14']);
  });
});

describe('stored and open parts of a span', () => {
  it('contain every time once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.integer({ min: 0, max: 12 }), { maxLength: 12 }),
        fc.array(fc.integer({ min: 0, max: 12 * DAY }), { maxLength: 4 }),
        fc.option(fc.integer({ min: 0, max: 6 * DAY }), { nil: undefined }),
        fc.integer({ min: 6 * DAY, max: 13 * DAY }),
        async (clean, cuts, after, until) => {
          const sorted = [...clean].sort((a, b) => a - b);
          const shares = sharesOf(sorted, { until, cuts, ...(after === undefined ? {} : { after }) });
          const query = `SELECT ts FROM (SELECT toInt64(number * 5400) + ${cuts[0] ?? 0} % 5400 AS ts,
              toInt64(ceil(ts / ${DAY})) - 1 AS day FROM numbers(250))
            WHERE (${shares.stored})::UInt8 + (${shares.open})::UInt8 != (ts <= ${until} AND ts > ${after ?? -1})`;
          const wrong = await (await stage.clickhouse.client.query({ query, format: 'JSONEachRow' })).json();
          expect(wrong).toEqual([]);
        },
      ),
      { numRuns: 30 },
    );
  });
});

describe('rules that ClickHouse computes too', () => {
  const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
  const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });

  /** Cells of the expressions, as text, for rows with these columns. */
  async function computed(columns: string, rows: readonly (readonly unknown[])[], expressions: readonly string[]) {
    const data = rows.map((cells) =>
      JSON.stringify(cells, (_, value) => (typeof value === 'bigint' ? `${value}` : value)),
    );
    const result = await stage.clickhouse.client.query({
      query: `SELECT ${expressions.map((expression) => `toString(${expression})`)}
        FROM format('JSONCompactEachRow', '${columns}', {data:String})`,
      query_params: { data: data.join('\n') },
      format: 'JSONCompactEachRow',
    });
    return result.json();
  }

  it('give the values of TypeScript, for negative amounts and without a price too', async () => {
    const scale = fc.constantFrom(1n, 1_000_000n, 1_000_000_000n);
    const rows = fc.sample(fc.tuple(int64, fc.oneof(int64, fc.constant(0n)), scale), 200);
    const sql = [quoteValueSql('amount', 'price', 'scale'), fundingPercentSql('amount', 'price')];
    expect(await computed('amount Int64, price Int64, scale Int64', rows, sql)).toEqual(
      rows.map(([amount, price, scale]) => [
        String(quoteValue(amount, price, scale)),
        String(fundingPercent1e9(amount, price)),
      ]),
    );
  });

  it('give the price of a fill, on both sides of a half too', async () => {
    const scale = fc.integer({ min: 0, max: 19 }).map((decimals) => 10n ** BigInt(decimals));
    const small = fc.bigInt({ min: 1n, max: 9n });
    const amounts = fc.oneof(fc.tuple(uint64, fc.bigInt({ min: 1n, max: 2n ** 64n - 1n })), fc.tuple(small, small));
    const rows = fc
      .sample(fc.tuple(amounts, scale), 200)
      .map(([[quote, base], scale]) => [quote, base, scale] as const);
    const sql = [fillPriceSql('quote', 'base', 'scale')];
    expect(await computed('quote UInt64, base UInt64, scale UInt64', rows, sql)).toEqual(
      rows.map((row) => [String(fillPrice(...row))]),
    );
  });

  it('write free text of CSV as this process does', async () => {
    const sign = fc.constantFrom('=', '+', '-', '@', "'", '$1', '\\1');
    const blank = fc.constantFrom(
      ' ',
      '\t',
      '\n',
      '\v',
      '\0',
      '\x7f',
      '\u0085',
      '\u00a0',
      '\u2003',
      '\u2028',
      '\ufeff',
    );
    const unit = fc.oneof(sign, blank, fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }));
    const rows = fc.sample(fc.array(unit, { maxLength: 5 }), 500).map((units) => [units.join('')] as const);
    expect(await computed('text String', rows, [plainTextSql('text')])).toEqual(
      rows.map(([text]) => [plainText(text)]),
    );
  });

  it('end and trigger orders alike', async () => {
    const actions = ['place', 'cancel', 'expire', 'fill', 'trigger', ''];
    const explanations = ['none', 'orderExpired', 'marketExpired', ''];
    const conditions = ['above', 'below', 'triggeredAbove', 'triggeredBelow', ''];
    const rows = actions.flatMap((action) =>
      explanations.flatMap((why) => conditions.map((condition) => [action, why, condition] as const)),
    );
    const sql = [isEndSql('action'), isExpirySql('action', 'why'), triggeredConditionSql('condition')];
    expect(await computed('action String, why String, condition String', rows, sql)).toEqual(
      rows.map(([action, why, condition]) => [
        String(Number(isEnd(action))),
        String(Number(isExpiry(action, why))),
        triggeredCondition(condition),
      ]),
    );
  });
});
