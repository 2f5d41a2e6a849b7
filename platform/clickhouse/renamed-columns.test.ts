import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestDatabase } from '../../test/support/clickhouse/shared.ts';
import { migrate, readMigrations } from './migrate.ts';
import type { ClickHouse } from './provider.ts';

// A busy machine with a cold page cache takes seconds to start the engine.
const OLDER = 'renamed_columns';
/** The last migration with the past names of book settings. */
const LAST_WITH_OTHER_NAMES = 10;
/** The migration that renames them. It may run again after it ended in its middle, but never after a later one. */
const RENAMING = LAST_WITH_OTHER_NAMES + 1;
let clickhouse: ClickHouse;

beforeAll(async () => {
  clickhouse = await openTestDatabase();
});
afterAll(async () => {
  await clickhouse.client.command({ query: `DROP DATABASE IF EXISTS ${OLDER}` });
  await clickhouse.stop();
});

describe('a row with past column names', () => {
  it("has the program's names after the migration, and after a second run", async () => {
    const { client } = clickhouse;
    const target = { database: OLDER, cluster: '' };
    const upTo = (last: number) => readMigrations().filter(({ version }) => version <= last);
    await migrate(client, target, upTo(LAST_WITH_OTHER_NAMES));
    await client.command({
      query: `INSERT INTO ${OLDER}.market_update_v0 (signature, ts, slot, market,
        settings_before_order_tick_size, settings_after_order_tick_size, settings_after_reservation_grace_slots)
        VALUES ('s', 1700000000, 5, 'm', 100, 200, 25)`,
    });
    for (let run = 0; run < 2; run++) {
      await migrate(client, target, upTo(RENAMING));
      const result = await client.query({
        query: `SELECT before_order_tick_size AS before, after_order_tick_size AS after,
          after_reservation_grace_slots AS grace FROM ${OLDER}.market_update_v0`,
        format: 'JSONEachRow',
      });
      expect(await result.json()).toEqual([{ before: '100', after: '200', grace: 25 }]);
      await client.command({ query: `DELETE FROM ${OLDER}.migrations WHERE version > ${LAST_WITH_OTHER_NAMES}` });
    }
  });
});
