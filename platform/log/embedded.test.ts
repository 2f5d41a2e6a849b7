import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Topic } from '../../schemas/index.ts';
import { describeEventLog } from '../../test/support/log/contract.ts';
import { createTopic, numbered, readAll, take, testTopic, text } from '../../test/support/log/harness.ts';
import { startOpener, startWriter, type WrittenRecord } from '../../test/support/log/processes.ts';
import { times } from '../../test/support/platform/times.ts';
import { type Config, readConfig } from '../config.ts';
import { silentLogger } from '../runtime/logger.ts';
import { openEnvironment } from './embedded/environment.ts';
import { openEventLog } from './open.ts';
import type { EventLog } from './port.ts';

async function temporaryConfig(): Promise<Config> {
  return readConfig({}, { log: 'embedded', dataDir: await mkdtemp(join(tmpdir(), 'slotbook-log-')) });
}

describeEventLog('embedded', async () => {
  const config = await temporaryConfig();
  return {
    config,
    atomicOutputs: true,
    kills: times(3, 8),
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

  it('keeps acknowledged records while other processes open and close it', async () => {
    const log = await openEventLog(config, silentLogger());
    const topic = await createTopic(log);
    const writers = ['a', 'b'].map((writer) =>
      startWriter({ config, topic, partition: 0, writer, calls: times(300, 1_000) }),
    );
    const openers = [0, 1].map(() => startOpener({ config, times: times(60, 200) }));
    await Promise.all([...writers, ...openers].map((child) => child.done()));
    const written = (await readAll(log, topic)).map((record) => JSON.parse(text(record)) as WrittenRecord);
    const numbers = (writer: string) =>
      written.filter((record) => record.writer === writer).map(({ number }) => number);
    for (const [index, writer] of ['a', 'b'].entries()) {
      const last = Number(writers[index]?.lines.at(-1));
      expect(numbers(writer)).toEqual(Array.from({ length: last + 1 }, (_, number) => number));
    }
    await log.close();
  });

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

  it('compacts a topic that was not compacted before, but for records that share a value', async () => {
    const log = await openEventLog(config, silentLogger());
    const topic = await createTopic(log);
    await log.append(topic, numbered(3));
    await log.ensureTopics([{ ...topic, retention: { kind: 'compact' } }]);
    for (const round of [3, 4, 5]) await log.append(topic, numbered(2, round));
    await log.enforceRetention(0);
    expect((await readAll(log, topic)).map(({ offset }) => Number(offset))).toEqual([0, 1, 2, 3, 5, 7, 8]);
    expect((await log.bounds(topic, 0)).earliest).toBe(0n);
    await log.close();
  });

  it('shares one environment per folder, which stays open until the last user closes it', async () => {
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

  it('rejects only the failing call of a shared transaction', async () => {
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

  it('names a topic that was never created', async () => {
    const log = await openEventLog(config, silentLogger());
    await expect(log.append(testTopic(), numbered(1))).rejects.toThrow(/ensureTopics/);
    await log.close();
  });
});

describe('embedded event log with a size cap', () => {
  const RECORD_BYTES = 1000;
  const RECORDS = 2000;
  const CAP_MB = 5.5;
  const ELEVEN_MINUTES_MS = 11 * 60_000;
  let config: Config;
  let log: EventLog;
  beforeEach(async () => {
    // Room for two and a half of three topics: each takes about 2.1 MB of pages.
    config = { ...(await temporaryConfig()), logMaxMb: CAP_MB };
    log = await openEventLog(config, silentLogger());
  });
  afterEach(async () => {
    await log.close();
    await rm(config.dataDir, { recursive: true });
  });

  async function filled(sizeCap?: Topic['sizeCap']): Promise<Topic> {
    const topic: Topic = { ...testTopic(), ...(sizeCap ? { sizeCap } : {}) };
    await log.ensureTopics([topic]);
    for (let at = 0; at < RECORDS; at += 500) {
      const records = Array.from({ length: 500 }, () => ({ key: 'k', value: Buffer.alloc(RECORD_BYTES, 1) }));
      await log.append(topic, records);
    }
    return topic;
  }
  const kept = async (topic: Topic) => (await readAll(log, topic)).length;

  it('removes the oldest views first, then book input, and never source topics', async () => {
    const [truth, last, first] = [await filled(), await filled('last'), await filled('first')];
    await log.enforceRetention(Date.now() + ELEVEN_MINUTES_MS);
    expect(await kept(truth)).toBe(RECORDS);
    expect(await kept(last)).toBe(RECORDS);
    expect(await kept(first)).toBeLessThan(RECORDS);
    expect(await kept(first)).toBeGreaterThan(0);
    expect((await log.bounds(first, 0)).next).toBe(BigInt(RECORDS));
    expect((await readAll(log, first)).at(-1)?.offset).toBe(BigInt(RECORDS - 1));
    const more = await filled();
    await log.enforceRetention(Date.now() + ELEVEN_MINUTES_MS);
    expect(await kept(first)).toBe(0);
    expect(await kept(last)).toBeLessThan(RECORDS);
    expect([await kept(truth), await kept(more)]).toEqual([RECORDS, RECORDS]);
  });

  it('keeps the last minutes, and records that a consumer group has not read', async () => {
    const [view, input] = [await filled('first'), await filled('last')];
    await filled();
    const offsets = [{ topic: input.name, partition: 0, next: 100n }];
    await log.commit('slow', { offsets });
    await log.commit('fast', { offsets: offsets.map((offset) => ({ ...offset, next: 900n })) });
    await filled();
    await log.enforceRetention(Date.now());
    expect([await kept(view), await kept(input)]).toEqual([RECORDS, RECORDS]);
    await log.enforceRetention(Date.now() + ELEVEN_MINUTES_MS);
    expect(await kept(view)).toBe(0);
    expect((await log.bounds(input, 0)).earliest).toBe(100n);
  });

  it('reuses the space of removed records, so that its file stays near the cap', async () => {
    for (let round = 0; round < 6; round++) {
      await filled('first');
      await log.enforceRetention(Date.now() + ELEVEN_MINUTES_MS);
    }
    const environment = openEnvironment(join(config.dataDir, 'log'));
    expect(environment.recordBytes()).toBeLessThanOrEqual(CAP_MB * 1_000_000);
    await environment.release();
    expect(readFileSync(join(config.dataDir, 'log', 'data.mdb')).length).toBeLessThan(9_000_000);
  });

  it('releases read pages of its file, and reads them again', async () => {
    const topic = await filled();
    expect(await kept(topic)).toBe(RECORDS);
    const environment = openEnvironment(join(config.dataDir, 'log'));
    const before = mappedKib(config.dataDir);
    if (!environment.releaseReadPages()) process.stdout.write('ffi-rs or Linux is absent: no page is released\n');
    else {
      expect(before).toBeGreaterThan(1000);
      expect(mappedKib(config.dataDir)).toBeLessThan(before / 10);
    }
    await environment.release();
    expect(await kept(topic)).toBe(RECORDS);
  });
});

/** Resident KiB of mapped files below a folder. */
function mappedKib(folder: string): number {
  let maps = '';
  try {
    maps = readFileSync('/proc/self/smaps', 'utf8');
  } catch {
    return 0;
  }
  let [isBelow, kib] = [false, 0];
  for (const line of maps.split('\n')) {
    if (/^[0-9a-f]+-[0-9a-f]+ /.test(line)) isBelow = line.includes(folder) && line.includes(' r--s ');
    else if (isBelow && line.startsWith('Rss:')) kib += Number(/\d+/.exec(line)?.[0] ?? 0);
  }
  return kib;
}

describe('records of the embedded event log', () => {
  it('are read back byte for byte, whether they are deflated or not', async () => {
    const config = await temporaryConfig();
    const log = await openEventLog(config, silentLogger());
    const topic = await createTopic(log);
    const values = [0, 1, 1023, 1024, 5000, 65_536, 65_537, 200_000].flatMap((bytes) => [
      Buffer.alloc(bytes, 7),
      randomBytes(bytes),
    ]);
    await log.append(
      topic,
      values.map((value) => ({ key: 'k', value })),
    );
    const outputs = [{ topic, records: values.map((value) => ({ key: 'k', value })) }];
    await log.commit('group', { outputs });
    const read = await readAll(log, topic);
    expect(read).toHaveLength(values.length * 2);
    const isSame = read.map(({ value }, at) => Buffer.compare(value, values[at % values.length] ?? Buffer.of()) === 0);
    expect(isSame).toEqual(read.map(() => true));
    await log.close();
    await rm(config.dataDir, { recursive: true });
  });
});
