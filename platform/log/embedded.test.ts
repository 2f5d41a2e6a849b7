import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Config, readConfig } from '../config.ts';
import { silentLogger } from '../runtime/logger.ts';
import { describeEventLog } from './contract.ts';
import { openEventLog } from './open.ts';
import { createTopic, numbered, readAll, take, testTopic, text } from './testing/harness.ts';

async function temporaryConfig(): Promise<Config> {
  return readConfig({}, { log: 'embedded', dataDir: await mkdtemp(join(tmpdir(), 'slotbook-log-')) });
}

describeEventLog('embedded', async () => {
  const config = await temporaryConfig();
  return {
    config,
    atomicOutputs: true,
    kills: 8,
    propertyRuns: 60,
    compact: (log) => log.enforceRetention(Date.now()),
    stop: () => rm(config.dataDir, { recursive: true }),
  };
});

describe('embedded event log', () => {
  let config: Config;
  beforeEach(async () => {
    config = await temporaryConfig();
  });
  afterEach(() => rm(config.dataDir, { recursive: true }));

  it('compacts to exactly one record per key and partition', async () => {
    const log = await openEventLog(config, silentLogger());
    const topic = await createTopic(log, 2, { kind: 'compact' });
    for (let round = 0; round < 700; round++) {
      await log.append(
        topic,
        ['a', 'b', 'c'].flatMap((key) =>
          [0, 1].map((partition) => ({ key, value: Buffer.from(`${round}`), partition })),
        ),
      );
    }
    await log.enforceRetention(0);
    for (const partition of [0, 1]) {
      const records = await readAll(log, topic, partition);
      expect(records.map(({ key, value }) => key + text({ value }))).toEqual(['a699', 'b699', 'c699']);
    }
    await log.append(topic, [{ key: 'a', value: Buffer.from('700'), partition: 0 }]);
    await log.enforceRetention(0);
    expect((await readAll(log, topic)).map(({ key }) => key)).toEqual(['b', 'c', 'a']);
    await log.close();
  });

  it('shares one environment among those who open the same folder, and outlives the first to close', async () => {
    const [first, second] = [await openEventLog(config, silentLogger()), await openEventLog(config, silentLogger())];
    const topic = await createTopic(first);
    const following = take(second, topic, new Map([[0, 'latest']]), 2);
    await first.append(topic, numbered(1));
    await first.close();
    await second.append(topic, numbered(1, 1));
    expect((await following).map(text)).toEqual(['0', '1']);
    await second.close();
  });

  it('reads a large partition back in pages bounded by bytes', async () => {
    const log = await openEventLog(config, silentLogger());
    const topic = await createTopic(log);
    const value = Buffer.alloc(1024 * 1024, 1);
    for (let at = 0; at < 24; at++) await log.append(topic, [{ key: 'k', value }]);
    expect((await log.read(topic, 0, 0n, 1000)).length).toBeLessThan(24);
    expect(await readAll(log, topic)).toHaveLength(24);
    await log.close();
  });

  it('rejects only the call that fails among those written together', async () => {
    const log = await openEventLog(config, silentLogger());
    const topic = await createTopic(log, 2);
    const conflict = { ...testTopic(1), name: topic.name };
    const outcomes = await Promise.allSettled([
      log.append(topic, numbered(2, 0, 0)),
      log.ensureTopics([conflict]),
      log.append(topic, numbered(2, 2, 0)),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect((await readAll(log, topic)).map(text)).toEqual(['0', '1', '2', '3']);
    await log.close();
  });

  it('names the topic that was never ensured', async () => {
    const log = await openEventLog(config, silentLogger());
    await expect(log.append(testTopic(), numbered(1))).rejects.toThrow(/ensureTopics/);
    await log.close();
  });
});
