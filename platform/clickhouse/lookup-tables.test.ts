import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LOOKUP_TABLES } from '../../schemas/index.ts';
import { loginOf } from '../../test/support/clickhouse/login.ts';
import { rowsOf } from '../../test/support/clickhouse/rows.ts';
import { readConfig } from '../config.ts';
import { silentLogger } from '../runtime/logger.ts';
import { makeClient } from './client.ts';
import { migrate, readMigrations } from './migrate.ts';
import { type ClickHouse, openClickHouse } from './provider.ts';

// A busy machine with a cold page cache takes seconds to start the engine.
const SECOND = 'second';
let dataDir: string;
let clickhouse: ClickHouse;

beforeAll(async () => {
  dataDir = mkdtempSync(path.join(tmpdir(), 'slotbook-lookup-'));
  clickhouse = await openClickHouse(readConfig({}, { dataDir }), silentLogger());
});
afterAll(async () => {
  await clickhouse.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

const run = (query: string) =>
  clickhouse.client.command({
    query,
    clickhouse_settings: { deduplicate_blocks_in_dependent_materialized_views: 1 },
  });

const rows = <T>(query: string) => rowsOf<T>(clickhouse, query);

const aliases = (columns: string) => [...columns.matchAll(/ AS (\w+)/g)].map(([, name]) => name).join(', ');

/** A few rows in every base table, different for each `seed`. */
function fillBase(database: string, seed: number): readonly string[] {
  const sig = `toFixedString(concat('s', toString(${seed}), '-', toString(number)), 64)`;
  const key = (name: string) => `toFixedString(concat('${name}', toString(number)), 32)`;
  const head = `${sig} AS signature, number AS event_index, 100 + number AS slot, 5 + number AS tx_index, 1700000000 + number AS ts`;
  const insert = (table: string, columns: string) =>
    `INSERT INTO ${database}.\`${table}\` (signature, event_index, slot, tx_index, ts, ${aliases(columns)})
     SELECT ${head}, ${columns} FROM numbers(5)`;
  return [
    insert('deposit', `${key('u')} AS user, number % 2 AS market_index, 7 AS amount`),
    insert('swap', `${key('u')} AS user, 1 AS in_market_index, 2 AS out_market_index, 5 AS amount_in`),
    insert('insurance_fund_stake', `${key('a')} AS user_authority, 1 AS market_index`),
    insert('liquidation', `${key('u')} AS user, ${key('l')} AS liquidator`),
    insert('new_user', `${key('a')} AS user_authority, ${key('u')} AS user, ${key('r')} AS referrer`),
    insert(
      'order_action',
      `'fill' AS action, 'perp' AS market_type, 3 AS market_index, ${key('t')} AS taker, ${key('m')} AS maker,
       11 AS taker_order_id, 12 AS maker_order_id, 'long' AS taker_order_direction, 40 AS taker_fee, -9 AS maker_fee,
       5000 AS base_asset_amount_filled, 600 AS quote_asset_amount_filled, 3 AS referrer_reward`,
    ),
  ];
}

describe('lookup tables', () => {
  it('are filled with each insert, and a repeated insert counts once', async () => {
    const statements = fillBase(clickhouse.database, 1);
    for (const statement of [...statements, ...statements]) await run(statement);
    const counts: Record<string, number> = {};
    for (const table of Object.keys(LOOKUP_TABLES)) {
      const [row] = await rows<{ n: string }>(`SELECT count() AS n FROM ${table} FINAL`);
      counts[table] = Number(row?.n);
    }
    expect(counts).toEqual({
      account_action: 10,
      account_fill: 10,
      market_deposit: 5,
      market_swap: 10,
      market_insurance_fund_stake: 5,
      liquidation_by_time: 5,
      account: 5,
      referral: 5,
    });
  });

  it('give each side of a fill its own order, fee and direction', async () => {
    await run(`TRUNCATE TABLE account_action`);
    const [, , , , , actions] = fillBase(clickhouse.database, 2);
    await run(actions ?? '');
    const sides = await rows(
      `SELECT trimRight(toString(user), '\\0') AS user, side, tx_index, order_id, order_direction, fee, referrer_reward,
         base_asset_amount_filled AS base, existing_base_asset_amount AS existing
       FROM account_action WHERE event_index = 0 ORDER BY side`,
    );
    const common = { base: '5000', existing: null, tx_index: 5 };
    expect(sides).toEqual([
      { user: 'm0', side: 'maker', order_id: 12, order_direction: '', fee: '-9', referrer_reward: 0, ...common },
      { user: 't0', side: 'taker', order_id: 11, order_direction: 'long', fee: '40', referrer_reward: 3, ...common },
    ]);
  });

  it('leave out a missing side', async () => {
    await run(`TRUNCATE TABLE account_action`);
    await run(
      `INSERT INTO order_action (signature, ts, slot, action, taker, maker) VALUES
       ('a', 1, 1, 'place', 'T', NULL), ('b', 1, 1, 'cancel', NULL, 'M'), ('c', 1, 1, 'expire', NULL, NULL)`,
    );
    const sides = await rows(`SELECT side, action, order_id FROM account_action ORDER BY side`);
    expect(sides).toEqual([
      { side: 'maker', action: 'cancel', order_id: null },
      { side: 'taker', action: 'place', order_id: null },
    ]);
  });

  it('contain rows from before their creation', async () => {
    const client = makeClient({ ...loginOf(clickhouse), logger: silentLogger() });
    try {
      const target = { database: SECOND, cluster: '' };
      const all = readMigrations();
      await migrate(
        client,
        target,
        all.filter(({ version }) => version <= 4),
      );
      for (const statement of fillBase(SECOND, 3)) await client.command({ query: statement });
      // Runs each twice: a repeated migration copies the same rows again.
      for (const { version } of all.filter((migration) => migration.version > 4)) {
        const upTo = all.filter((migration) => migration.version <= version);
        await migrate(client, target, upTo);
        await client.command({ query: `DELETE FROM ${SECOND}.migrations WHERE version = ${version}` });
        await migrate(client, target, upTo);
      }
      for (const [table, base] of Object.entries(LOOKUP_TABLES)) {
        const twice = ['account_action', 'account_fill', 'market_swap'].includes(table) ? 2 : 1;
        const [row] = await rows<{ n: string; wanted: string }>(
          `SELECT count() AS n, (SELECT count() * ${twice} FROM ${SECOND}.\`${base}\` FINAL) AS wanted
           FROM ${SECOND}.\`${table}\` FINAL`,
        );
        expect(row?.n, table).toBe(row?.wanted);
        const [placed] = await rows<{ n: string }>(
          `SELECT countIf(tx_index = 5 + event_index) AS n FROM ${SECOND}.\`${table}\` FINAL`,
        );
        expect(placed?.n, table).toBe(row?.wanted);
      }
    } finally {
      await client.close();
    }
  });
});
