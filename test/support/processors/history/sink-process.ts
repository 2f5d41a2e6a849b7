// The sink as its own process, for tests that kill it: settings as JSON in argv[2].

import { Registry } from 'prom-client';
import { type Config, openClickHouse, openEventLog, readConfig, silentLogger } from '../../../../platform/index.ts';
import { startHistorySink } from '../../../../processors/history/role.ts';

const config = readConfig({}, JSON.parse(process.argv[2] ?? '{}') as Partial<Config>);
const logger = silentLogger();
const log = await openEventLog(config, logger);
const sink = await startHistorySink(
  { config, log, logger, metrics: new Registry() },
  await openClickHouse(config, logger),
);
process.stdout.write('running\n');
await sink.done;
