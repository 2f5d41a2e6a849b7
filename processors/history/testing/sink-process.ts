// The sink as a process of its own, for tests that kill it: embedded log in argv[2], ClickHouse URL in argv[3], database
// in argv[4], most rows of a block in argv[5].

import { Registry } from 'prom-client';
import { openClickHouse, openEventLog, readConfig, silentLogger } from '../../../platform/index.ts';
import { startHistorySink } from '../role.ts';

const [, , dataDir = '', clickhouseUrl = '', clickhouseDatabase = '', rows = '1'] = process.argv;
const config = readConfig(
  {},
  { dataDir, clickhouseUrl, clickhouseDatabase, sinkMaxRows: Number(rows), sinkMaxDelayMs: 20 },
);
const logger = silentLogger();
const log = await openEventLog(config, logger);
const sink = await startHistorySink(
  { config, log, logger, metrics: new Registry() },
  await openClickHouse(config, logger),
);
process.stdout.write('running\n');
await sink.done;
