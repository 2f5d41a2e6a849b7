// Opens the configured event log; the adapter not in use is never loaded.

import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { EventLog } from './port.ts';

export async function openEventLog(config: Config, logger: Logger): Promise<EventLog> {
  const { open } = config.log === 'kafka' ? await import('./kafka.ts') : await import('./embedded.ts');
  return open(config, logger);
}
