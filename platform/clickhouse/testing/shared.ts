// One managed ClickHouse for all test files of a worker, a database of its own for each: starting the engine takes longer
// than most of their tests.

import { mkdtempSync } from 'node:fs';
import path from 'node:path';
import { inject } from 'vitest';
import { readConfig } from '../../config.ts';
import { silentLogger } from '../../runtime/logger.ts';
import { type ClickHouse, openClickHouse } from '../provider.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Folder of the run, removed at its end. */
    runFolder: string;
  }
}

// The engine ends with the worker, whose death closes its standard input.
let host: Promise<ClickHouse> | undefined;
let databases = 0;

/** Opens a new database, with all tables. Its `stop` drops it. */
export async function openTestDatabase(): Promise<ClickHouse> {
  const dataDir = mkdtempSync(path.join(inject('runFolder'), 'clickhouse-'));
  host ??= openClickHouse(readConfig({}, { dataDir }), silentLogger());
  const { url: clickhouseUrl } = await host;
  databases += 1;
  const config = readConfig({}, { dataDir, clickhouseUrl, clickhouseDatabase: `test_${databases}` });
  const opened = await openClickHouse(config, silentLogger());
  return {
    ...opened,
    stop: async () => {
      await opened.drop(opened.database);
      await opened.stop();
    },
  };
}
