// Opens and closes the log repeatedly.

import { openEventLog } from '../../../platform/log/open.ts';
import { silentLogger } from '../../../platform/runtime/logger.ts';
import type { OpenerTask } from './processes.ts';

const { config, times } = JSON.parse(process.argv[2] ?? '') as OpenerTask;
for (let time = 0; time < times; time++) {
  const log = await openEventLog(config, silentLogger());
  await log.close();
}
