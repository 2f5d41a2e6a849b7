// Opens the event log for commands that only read it.

import { existsSync } from 'node:fs';
import path from 'node:path';
import { type Config, type EventLog, openEventLog, silentLogger } from '../platform/index.ts';

/** Null when there is no embedded log yet: a read must not create one. */
export async function openLog(config: Config): Promise<EventLog | null> {
  if (config.log === 'embedded' && !existsSync(path.join(config.dataDir, 'log'))) return null;
  return openEventLog(config, silentLogger());
}
