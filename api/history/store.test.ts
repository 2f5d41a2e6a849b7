import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ClickHouse } from '../../platform/index.ts';
import { openTestDatabase } from '../../test/support/platform.ts';
import { HistoryStore, type QueryFailure } from './store.ts';

const ENDLESS = 'SELECT count() FROM system.numbers WHERE NOT ignore(sipHash64(number))';

describe('history store', () => {
  let clickhouse: ClickHouse;
  const failures: QueryFailure[] = [];
  const storeOf = (queryTimeoutMs: number) =>
    new HistoryStore(clickhouse.client, clickhouse.database, {
      queryTimeoutMs,
      failed: (reason) => failures.push(reason),
    });
  beforeAll(async () => {
    clickhouse = await openTestDatabase();
  });
  afterAll(() => clickhouse?.stop());

  it('ends a query at the limit of the deployment, as a store that cannot be reached', async () => {
    await expect(storeOf(500).rows(ENDLESS, {})).rejects.toMatchObject({ code: 'storeAway' });
    expect(failures).toEqual(['timeout']);
  });

  it('keeps the limit when it is pinned to a database', async () => {
    await expect(storeOf(500).pinned().rows(ENDLESS, {})).rejects.toMatchObject({ code: 'storeAway' });
  });

  it('lets a query bring its own limit', async () => {
    const limit = () => "SELECT value FROM system.settings WHERE name = 'max_execution_time'";
    expect(await storeOf(30_000).cells(limit(), {})).toEqual([['30']]);
    expect(await storeOf(30_000).cells(limit(), {}, { max_execution_time: 300 })).toEqual([['300']]);
  });
});
