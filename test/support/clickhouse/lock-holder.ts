// A process that keeps the lock of migrations until it is killed. argv[2]: URL, user and password of ClickHouse as JSON;
// argv[3]: database.
import { makeClient } from '../../../platform/clickhouse/client.ts';
import { withLock } from '../../../platform/clickhouse/lock.ts';
import type { ServerLogin } from '../../../platform/clickhouse/provider.ts';
import { silentLogger } from '../../../platform/runtime/logger.ts';

const [, , login = '{}', database = ''] = process.argv;
const client = makeClient({ ...(JSON.parse(login) as ServerLogin), logger: silentLogger() });
await withLock(client, { database, cluster: '' }, async () => {
  process.stdout.write('held\n');
  await new Promise(() => setInterval(() => {}, 60_000));
});
