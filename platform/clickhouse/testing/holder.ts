// A process that holds a managed ClickHouse until a signal ends it. For tests of what two processes see.

import { readConfig } from '../../config.ts';
import { silentLogger } from '../../runtime/logger.ts';
import { openClickHouse } from '../provider.ts';

const clickhouse = await openClickHouse(readConfig({}, { dataDir: process.argv[2] ?? '' }), silentLogger());
process.once('SIGTERM', () => clickhouse.stop().then(() => process.exit(0)));
process.stdout.write(`${clickhouse.url}\n`);
setInterval(() => {}, 60_000);
