// A process that holds the lock of migrations until it is killed: ClickHouse URL in argv[2], database in argv[3].

import { silentLogger } from '../../runtime/logger.ts';
import { makeClient } from '../client.ts';
import { withLock } from '../lock.ts';

const [, , url = '', database = ''] = process.argv;
const client = makeClient({ url, user: 'default', password: '', logger: silentLogger() });
await withLock(client, { database, cluster: '' }, async () => {
  process.stdout.write('held\n');
  await new Promise(() => setInterval(() => {}, 60_000));
});
