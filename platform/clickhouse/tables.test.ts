import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  ACCOUNT_DAY_TABLES,
  columnsOf,
  EVENT_NAMES,
  LOOKUP_TABLES,
  REDUCED_TABLES,
  tableOf,
  UNKNOWN_RECORD,
} from '../../schemas/index.ts';
import { rowsOf } from '../../test/support/clickhouse/rows.ts';
import { openTestDatabase } from '../../test/support/clickhouse/shared.ts';
import { readMigrations, statementsOf } from './migrate.ts';
import type { ClickHouse } from './provider.ts';

// A busy machine with a cold page cache takes seconds to start the engine.
const events = [...EVENT_NAMES, UNKNOWN_RECORD];
let clickhouse: ClickHouse;

beforeAll(async () => {
  clickhouse = await openTestDatabase();
});
afterAll(async () => {
  await clickhouse.stop();
});

function quoted(names: readonly string[]): string {
  return names.map((name) => `'${name}'`).join(', ');
}

const rows = <T>(query: string) => rowsOf<T>(clickhouse, query);

describe('history tables', () => {
  it('have exactly the fields of the event schemas, in order and type', async () => {
    const stored = await rows<{ table: string; name: string; type: string }>(
      `SELECT table, name, type FROM system.columns
       WHERE database = currentDatabase() AND default_kind = '' AND table IN (${quoted(events.map(tableOf))})
       ORDER BY table, position`,
    );
    expect([...new Set(stored.map(({ table }) => table))].sort()).toEqual(events.map(tableOf).sort());
    for (const event of events) {
      const own = stored.filter(({ table }) => table === tableOf(event));
      const columns = own.map(({ name, type }) => ({ name, type }));
      expect(columns, event).toEqual(columnsOf(event));
    }
  });

  it('keep one row of an event, its whole identity, and insert tokens', async () => {
    const stored = await rows<{ name: string; engine: string; sorting_key: string; create_table_query: string }>(
      `SELECT name, engine, sorting_key, create_table_query FROM system.tables
       WHERE database = currentDatabase() AND name != 'migrations' AND engine != 'MaterializedView'`,
    );
    const reduced: Readonly<Record<string, string>> = {
      [REDUCED_TABLES.samples]: 'market_type, market_index, ts, slot',
      [REDUCED_TABLES.candles]: 'market_type, market_index, resolution, ts',
      [ACCOUNT_DAY_TABLES.fills]: 'user, market_type, market_index, day',
      [ACCOUNT_DAY_TABLES.money]: 'user, market_index, day',
      [ACCOUNT_DAY_TABLES.marks]: 'day, mark',
      [REDUCED_TABLES.vaults]: 'vault',
      [REDUCED_TABLES.vaultDepositors]: 'depositor',
      [REDUCED_TABLES.notifications]: 'authority, ts, id',
      [REDUCED_TABLES.notificationReads]: 'authority, id',
      [REDUCED_TABLES.notificationDeliveries]: 'authority, id',
      projection: 'name',
    };
    const named = [...events.map(tableOf), ...Object.keys(LOOKUP_TABLES), ...Object.keys(reduced)];
    expect(stored.map(({ name }) => name).sort()).toEqual(named.sort());
    for (const { name, engine, sorting_key, create_table_query } of stored) {
      expect(engine, name).toBe('ReplacingMergeTree');
      if (reduced[name] === undefined)
        expect(sorting_key, name).toMatch(/slot, (fill_record_id, )?signature, event_index(, side)?$/);
      else expect(sorting_key, name).toBe(reduced[name]);
      expect(create_table_query, name).toContain('non_replicated_deduplication_window = 1000');
    }
  });

  it('are replicated on a cluster', async () => {
    const target = { database: 'history', cluster: 'replicas' };
    const statements = readMigrations().flatMap(({ sql }) => statementsOf(sql, target));
    const tables = statements.filter((statement) => statement.startsWith('CREATE TABLE'));
    const named = (form: RegExp) => statements.flatMap((statement) => form.exec(statement)?.[1] ?? []);
    const dropped = new Set(named(/^DROP TABLE IF EXISTS history\.`(\w+_next)`/));
    const made = new Set(named(/^CREATE TABLE IF NOT EXISTS history\.`(\w+)`/).filter((name) => !dropped.has(name)));
    expect(made.size).toBe(events.length + Object.keys(LOOKUP_TABLES).length + 11);
    for (const statement of statements) {
      // There is no cluster here, but the engine's own parser checks the statement.
      await clickhouse.client.command({ query: `EXPLAIN AST ${statement}` });
      if (statement.startsWith('INSERT INTO history.')) continue;
      expect(statement).toMatch(
        /^(CREATE (TABLE|MATERIALIZED VIEW) IF NOT EXISTS|ALTER TABLE|DROP TABLE IF EXISTS|EXCHANGE TABLES history\.`\w+` AND) history\.`\w+` ON CLUSTER replicas\b/,
      );
    }
    for (const statement of tables) {
      expect(statement).toMatch(/ENGINE = ReplicatedReplacingMergeTree(\(\w+\))?\n/);
      expect(statement).toContain('SETTINGS replicated_deduplication_window = 1000');
    }
  });

  it('have aliases with keys in base58 and times as dates', async () => {
    await clickhouse.client.command({
      query: `INSERT INTO delete_user (signature, user, ts) VALUES (unhex(repeat('01', 64)), unhex(repeat('ff', 32)), 0)`,
    });
    expect(await rows('SELECT user_base58, keeper_base58, signature_base58, ts_time FROM delete_user')).toEqual([
      {
        user_base58: 'JEKNVnkbo3jma5nREBBJCDoXFVeKkD56V3xKrvRmWxFG',
        keeper_base58: null,
        signature_base58: '2AXDGYSE4f2sz7tvMMzyHvUfcoJmxudvdhBcmiUSo6ijwfYmfZYsKRxboQMPh3R4kUhXRVdtSXFXMheka4Rc4P2',
        ts_time: '1970-01-01 00:00:00',
      },
    ]);
  });
});
