// One managed ClickHouse for all test files of a worker, with one database for each file: starting the engine takes longer
// than most of their tests.

import { mkdtempSync } from 'node:fs';
import path from 'node:path';
import { inject } from 'vitest';
import { type ClickHouse, openClickHouse } from '../../../platform/clickhouse/provider.ts';
import { readConfig } from '../../../platform/config.ts';
import { silentLogger } from '../../../platform/runtime/logger.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Folder of the run, removed at its end. */
    runFolder: string;
  }
}

// The engine ends with the worker, which closes its standard input.
let host: Promise<ClickHouse> | undefined;
let databases = 0;

/** Opens a new database, with all tables. Its `stop` drops it. */
export async function openTestDatabase(): Promise<ClickHouse> {
  const dataDir = mkdtempSync(path.join(inject('runFolder'), 'clickhouse-'));
  host ??= openClickHouse(readConfig({}, { dataDir }), silentLogger());
  const { url: clickhouseUrl, user: clickhouseUser, password: clickhousePassword } = await host;
  databases += 1;
  const clickhouseDatabase = `test_${databases}`;
  const config = readConfig({}, { dataDir, clickhouseUrl, clickhouseUser, clickhousePassword, clickhouseDatabase });
  const opened = await openClickHouse(config, silentLogger());
  return {
    ...opened,
    stop: async () => {
      await opened.drop(opened.database);
      await opened.stop();
    },
  };
}
