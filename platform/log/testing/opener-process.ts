// Opens the log and closes it again, over and over.

import { silentLogger } from '../../runtime/logger.ts';
import { openEventLog } from '../open.ts';
import type { OpenerTask } from './processes.ts';

const { config, times } = JSON.parse(process.argv[2] ?? '') as OpenerTask;
for (let time = 0; time < times; time++) {
  const log = await openEventLog(config, silentLogger());
  await log.close();
}
