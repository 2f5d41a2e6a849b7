// An embedded log for one test.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { type Config, readConfig } from '../../../platform/config.ts';
import { openEventLog } from '../../../platform/log/open.ts';
import type { EventLog } from '../../../platform/log/port.ts';
import { silentLogger } from '../../../platform/runtime/logger.ts';
import type { Topic } from '../../../schemas/index.ts';

interface TemporaryLog {
  readonly log: EventLog;
  /** Settings of a role that uses the log. */
  readonly config: Config;
}

/** Opens a log with topics, for a test or a hook before it. The end of the test closes and removes it. */
export async function temporaryLog(...topics: readonly Topic[]): Promise<TemporaryLog> {
  const folder = mkdtempSync(path.join(tmpdir(), 'slotbook-log-'));
  const config = readConfig({}, { dataDir: folder, logLevel: 'silent' });
  const log = await openEventLog(config, silentLogger());
  onTestFinished(async () => {
    await log.close();
    rmSync(folder, { recursive: true, force: true });
  });
  await log.ensureTopics(topics);
  return { log, config };
}
