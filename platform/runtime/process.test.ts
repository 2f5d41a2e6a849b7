import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { TOPICS, type Topic } from '../../schemas/index.ts';
import { readConfig } from '../config.ts';
import { ForwardingLog } from '../log/forwarding.ts';
import { openEventLog } from '../log/open.ts';
import { LogAwayError } from '../log/port.ts';
import { silentLogger } from './logger.ts';
import { startProcess } from './process.ts';

/** A log whose partition of `writers` has no leader for a while, as after the creation of a topic. */
class ElectingLog extends ForwardingLog {
  refused = 0;

  override ensureTopics(topics: readonly Topic[]): Promise<void> {
    if (!topics.includes(TOPICS.writers) || this.refused === 2) return super.ensureTopics(topics);
    this.refused += 1;
    return Promise.reject(new LogAwayError('in the middle of a leadership election'));
  }
}

describe('a process', () => {
  it('that starts while the log elects a leader waits for it', async () => {
    const dataDir = mkdtempSync(path.join(tmpdir(), 'slotbook-process-'));
    onTestFinished(() => rmSync(dataDir, { recursive: true }));
    const config = readConfig({}, { dataDir, metricsPort: 0 });
    let electing: ElectingLog | undefined;
    const started = await startProcess({
      config,
      logger: silentLogger(),
      openLog: async (...given) => (electing = new ElectingLog(await openEventLog(...given))),
      roles: [
        {
          name: 'idle',
          start: async () => ({ name: 'idle', endpoints: {}, done: new Promise(() => {}), stop: async () => {} }),
        },
      ],
    });
    expect(Object.keys(started.endpoints)).toEqual(['metrics']);
    await started.stop();
    expect(electing?.refused).toBe(2);
  });
});
