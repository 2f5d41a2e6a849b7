// The event log for commands that only look.

import { existsSync } from 'node:fs';
import path from 'node:path';
import { type Config, type EventLog, openEventLog, silentLogger } from '../platform/index.ts';

/** Null when no log is here: an embedded one is not made only to be asked. */
export async function openLog(config: Config): Promise<EventLog | null> {
  if (config.log === 'embedded' && !existsSync(path.join(config.dataDir, 'log'))) return null;
  return openEventLog(config, silentLogger());
}
