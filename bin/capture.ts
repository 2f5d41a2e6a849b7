// `slotbook capture`: records any source into a capture file.

import { openSource, recordCapture } from '../ingest/index.ts';
import { type Config, ConfigError, createLogger } from '../platform/index.ts';
import { loadDefinition, withVaultProgram } from '../schemas/index.ts';
import { untilSignal } from './signals.ts';

export async function capture(config: Config, out: string, seconds: string | undefined): Promise<number> {
  const limitMs = seconds === undefined ? undefined : Number(seconds) * 1000;
  if (limitMs !== undefined && !(limitMs > 0)) throw new ConfigError(`--seconds must be above 0, not "${seconds}"`);
  const logger = createLogger({ level: config.logLevel, roles: ['capture'] });
  const source = openSource(config, withVaultProgram(loadDefinition(config.definition), config.vaultProgram), logger);
  const stop = new AbortController();
  const abort = () => stop.abort();
  untilSignal().then(abort);
  if (limitMs !== undefined) setTimeout(abort, limitMs).unref();
  process.stderr.write(`recording to ${out}; ctrl-C ends\n`);
  const written = await recordCapture(source, out, stop.signal);
  process.stdout.write(`${JSON.stringify({ out, ...written })}\n`);
  return 0;
}
