// Starts one process of each kind that tests start, and waits for ever.

import { it } from 'vitest';
import { startJavaBroker } from '../../../support/log/java-broker.ts';
import { busyLoop } from '../../../support/platform/children.ts';
import { startCluster, startRoles, temporaryDirectory } from '../../../support/processes/processes.ts';

it('never ends', async () => {
  const { dir } = temporaryDirectory();
  const java = Number(process.env.ENDLESS_WITH_JAVA ?? 0);
  await Promise.all([
    startCluster({ accounts: 30 }),
    startRoles(['clickhouse'], { DATA_DIR: dir }),
    ...(java === 0 ? [] : [startJavaBroker(java)]),
  ]);
  // Last: it takes a core from then on.
  busyLoop();
  process.stdout.write('everything runs\n');
  await new Promise(() => {});
});
