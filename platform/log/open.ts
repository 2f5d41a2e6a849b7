// Opens the configured event log. Loads only the adapter in use.

import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { EventLog } from './port.ts';
import { TailLosses } from './tail-losses.ts';

export async function openEventLog(
  config: Config,
  logger: Logger,
  losses: TailLosses = new TailLosses(logger),
): Promise<EventLog> {
  if (config.schemaRegistryUrl === '') return openAdapter(config, logger, losses);
  const { openWithRegistry } = await import('./registry.ts');
  return openWithRegistry(config.schemaRegistryUrl, () => openAdapter(config, logger, losses), logger);
}

async function openAdapter(config: Config, logger: Logger, losses: TailLosses): Promise<EventLog> {
  const { open } = config.log === 'kafka' ? await import('./kafka.ts') : await import('./embedded.ts');
  return open(config, logger, losses);
}
