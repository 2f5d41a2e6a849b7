// One managed ClickHouse for all test files of a worker, and databases that one test leaves empty for the next. Starting the
// engine and applying the migrations take longer than most of their tests.

import { mkdtempSync } from 'node:fs';
import path from 'node:path';
import { inject } from 'vitest';
import { type ClickHouse, openClickHouse } from '../../../platform/clickhouse/provider.ts';
import { readConfig } from '../../../platform/config.ts';
import { silentLogger } from '../../../platform/runtime/logger.ts';
import { until } from '../platform/eventually.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Folder of the run, removed at its end. */
    runFolder: string;
  }
}

// The engine ends with the worker, which closes its standard input.
let host: Promise<ClickHouse> | undefined;
const empty: string[] = [];
let databases = 0;

function startHost(): Promise<ClickHouse> {
  const dataDir = mkdtempSync(path.join(inject('runFolder'), 'clickhouse-'));
  const config = readConfig({}, { dataDir });
  empty.push(config.clickhouseDatabase);
  return openClickHouse(config, silentLogger());
}

/** Opens an empty database with all tables. Its `stop` gives it back, so a test must not change its tables. */
export async function openTestDatabase(): Promise<ClickHouse> {
  host ??= startHost();
  const { url: clickhouseUrl, user: clickhouseUser, password: clickhousePassword } = await host;
  const clickhouseDatabase = empty.pop() ?? `test_${++databases}`;
  const config = readConfig({}, { clickhouseUrl, clickhouseUser, clickhousePassword, clickhouseDatabase });
  const opened = await openClickHouse(config, silentLogger());
  return {
    ...opened,
    stop: async () => {
      await makeEmpty(opened);
      empty.push(opened.database);
      await opened.stop();
    },
  };
}

/** Also drops the tokens of past blocks. A killed process may leave a query behind, which could add rows later. */
async function makeEmpty({ client, database }: ClickHouse): Promise<void> {
  const query = 'SELECT query_id FROM system.processes WHERE current_database = {database:String} AND NOT is_cancelled';
  await until(async () => {
    const running = await client.query({ query, query_params: { database }, format: 'JSONEachRow' });
    // One is this query itself.
    return (await running.json()).length <= 1;
  });
  await client.command({ query: `TRUNCATE ALL TABLES FROM ${database} NOT LIKE 'migrations'` });
}
