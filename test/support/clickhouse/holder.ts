// A process that owns a managed ClickHouse until a signal ends it, for tests with two processes.

import { openClickHouse } from '../../../platform/clickhouse/provider.ts';
import { readConfig } from '../../../platform/config.ts';
import { silentLogger } from '../../../platform/runtime/logger.ts';

const clickhouse = await openClickHouse(readConfig({}, { dataDir: process.argv[2] ?? '' }), silentLogger());
process.once('SIGTERM', () => clickhouse.stop().then(() => process.exit(0)));
process.stdout.write(`${clickhouse.url}\n`);
setInterval(() => {}, 60_000);
