import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Admin, Kafka, logLevel } from 'kafkajs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Topic } from '../../schemas/index.ts';
import { startKafka } from '../../test/support/log/broker.ts';
import { describeEventLog } from '../../test/support/log/contract.ts';
import {
  countedLosses,
  createTopic,
  numbered,
  readAll,
  take,
  testTopic,
  text,
} from '../../test/support/log/harness.ts';
import type { KafkaBroker } from '../../test/support/log/kafka-broker.ts';
import { eventually } from '../../test/support/platform/eventually.ts';
import { times } from '../../test/support/platform/times.ts';
import { type Config, readConfig } from '../config.ts';
import { silentLogger } from '../runtime/logger.ts';
import { openEventLog } from './open.ts';
import { type EventLog, offsetKey } from './port.ts';

const TOPIC_RESOURCE = 2;

let broker: KafkaBroker;
beforeAll(async () => {
  broker = await startKafka();
});
afterAll(() => broker?.stop());

function kafkaConfig(): Config {
  const kafkaTopicPrefix = `${randomBytes(3).toString('hex')}.`;
  return readConfig({}, { log: 'kafka', kafkaBrokers: broker.brokers, kafkaTopicPrefix });
}

async function withAdmin(use: (admin: Admin) => Promise<void>): Promise<void> {
  const admin = new Kafka({ brokers: [broker.brokers], logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  await use(admin);
  await admin.disconnect();
}

/** Deletes a topic of one partition and creates it again, so that its end is 0: a topic cannot lose a part of its tail on request. */
async function recreate(topic: string): Promise<void> {
  await withAdmin(async (admin) => {
    await admin.deleteTopics({ topics: [topic] });
    await eventually(() => admin.createTopics({ topics: [{ topic, numPartitions: 1 }] }));
  });
}

/** Closes segments at once, so that the broker's cleaner may compact them; a further record closes the last one. */
async function hastenCompaction(name: string): Promise<void> {
  const configEntries = [
    { name: 'cleanup.policy', value: 'compact' },
    { name: 'segment.ms', value: '50' },
    { name: 'min.cleanable.dirty.ratio', value: '0.01' },
  ];
  await withAdmin(async (admin) => {
    await admin.alterConfigs({ validateOnly: false, resources: [{ type: TOPIC_RESOURCE, name, configEntries }] });
  });
}

describeEventLog('kafka', async () => {
  const config = kafkaConfig();
  return {
    config,
    atomicOutputs: false,
    kills: times(2, 8),
    propertyRuns: 6,
    async compact(log, topic) {
      await hastenCompaction(config.kafkaTopicPrefix + topic.name);
      await sleep(60);
      await log.append(topic, [{ key: 'closes-the-segment', value: Buffer.alloc(0) }]);
      await sleep(300);
    },
    stop: async () => {},
  };
});

/** Every call of the log reports that no broker answers. */
async function expectAway(log: EventLog, topic: Topic): Promise<void> {
  const failed = await Promise.allSettled([
    log.append(topic, numbered(1, 1)),
    log.bounds(topic, 0),
    log.read(topic, 0, 0n, 10),
    log.load('group'),
    log.commit('group', { offsets: [{ topic: topic.name, partition: 0, next: 2n }] }),
  ]);
  for (const one of failed) expect(one).toMatchObject({ status: 'rejected', reason: { name: 'LogAwayError' } });
}

describe('kafka event log', () => {
  it('goes on when the broker is killed and comes back, and says so where the configured time is shorter', async () => {
    const log = await openEventLog(kafkaConfig(), silentLogger());
    const topic = await createTopic(log);
    const following = take(log, topic, new Map([[0, 'earliest']]), 300);
    await log.append(topic, numbered(100));
    await log.commit('group', { offsets: [{ topic: topic.name, partition: 0, next: 100n }] });
    const impatient = await openEventLog({ ...kafkaConfig(), kafkaPatienceMs: 1_000 }, silentLogger());
    const own = await createTopic(impatient);
    await impatient.append(own, numbered(1));
    await impatient.commit('group', { offsets: [{ topic: own.name, partition: 0, next: 1n }] });

    const restarted = broker.restart(() => expectAway(impatient, own));
    const looking = sleep(100).then(() => Promise.all([log.bounds(topic, 0), log.load('group')]));
    for (let first = 100; first < 300; first += 10) await log.append(topic, numbered(10, first));
    await restarted;

    const [{ next }, { offsets }] = await looking;
    expect(next).toBeGreaterThanOrEqual(100n);
    expect(offsets.get(offsetKey(topic.name, 0))).toBe(100n);
    const expected = Array.from({ length: 300 }, (_, number) => String(number));
    expect((await readAll(log, topic)).map(text)).toEqual(expected);
    expect((await following).map(text)).toEqual(expected);
    expect((await log.load('group')).offsets.get(offsetKey(topic.name, 0))).toBe(100n);
    expect(await readAll(log, await createTopic(log))).toEqual([]);
    await log.close();

    await eventually(() => impatient.append(own, numbered(1, 2)));
    expect((await readAll(impatient, own)).map(text)).toEqual(['0', '2']);
    await expect(impatient.append(testTopic(), numbered(1))).rejects.toThrow(/ensureTopics/);
    await impatient.close();
  });

  it('checks the lease again between the outputs and the offsets of a commit', async () => {
    const log = await openEventLog(kafkaConfig(), silentLogger());
    const topic = await createTopic(log);
    const fence = { role: 'test', epoch: 1n, check: () => Promise.reject(new Error('taken over')) };
    const step = { outputs: [{ topic, records: numbered(1) }], state: [{ key: 'k', value: Buffer.from('v') }], fence };
    await expect(log.commit('group', step)).rejects.toThrow('taken over');
    expect((await readAll(log, topic)).map(text)).toEqual(['0']);
    expect((await log.load('group')).state.size).toBe(0);
    await log.close();
  });

  it('checks the lease between the parts of a large output', async () => {
    const log = await openEventLog(kafkaConfig(), silentLogger());
    const topic = await createTopic(log);
    let checks = 0;
    const check = async () => {
      checks += 1;
      if (checks === 2) throw new Error('taken over');
    };
    const outputs = ['a', 'b', 'c'].map((key) => ({ topic, records: [{ key, value: Buffer.alloc(5_000_000, 1) }] }));
    const step = { outputs, state: [{ key: 'k', value: Buffer.from('v') }], fence: { role: 'test', epoch: 1n, check } };
    await expect(log.commit('group', step)).rejects.toThrow('taken over');
    expect((await readAll(log, topic)).map(({ key }) => key)).toEqual(['a', 'b']);
    expect((await log.load('group')).state.size).toBe(0);
    await log.close();
  });

  it('lets several processes create the same topics at once', async () => {
    const config = kafkaConfig();
    const topics = Array.from({ length: 6 }, () => testTopic(2));
    const logs = await Promise.all([1, 2, 3].map(() => openEventLog(config, silentLogger())));
    await Promise.all(logs.map((log) => log.ensureTopics(topics)));
    for (const log of logs) {
      for (const topic of topics) await log.append(topic, numbered(1, 0, 1));
    }
    for (const topic of topics) expect((await logs[0]?.bounds(topic, 1))?.next).toBe(3n);
    await Promise.all(logs.map((log) => log.close()));
  });

  it('reads on from the new end of a partition that lost its tail, while it follows and from a committed offset', async () => {
    const config = kafkaConfig();
    const { losses, lines, count } = countedLosses();
    const log = await openEventLog(config, silentLogger(), losses);
    const topic = await createTopic(log);
    await log.append(topic, numbered(100));
    await log.commit('group', { offsets: [{ topic: topic.name, partition: 0, next: 90n }] });
    const taken: string[] = [];
    const stop = new AbortController();
    const following = (async () => {
      for await (const { records } of log.follow({ topic, from: new Map([[0, 'earliest']]), signal: stop.signal }))
        taken.push(...records.map(text));
    })();
    await eventually(async () => expect(taken).toHaveLength(100));

    await recreate(config.kafkaTopicPrefix + topic.name);
    await eventually(async () => expect(await count()).toBe(1));
    const again = await openEventLog(config, silentLogger(), losses);
    await again.append(topic, numbered(10, 100));
    await eventually(async () => expect(taken).toHaveLength(110));
    const { offsets } = await again.load('group');
    const fromGroup = take(again, topic, new Map([[0, offsets.get(offsetKey(topic.name, 0)) ?? 0n]]), 3);
    await eventually(async () => expect(await count()).toBe(2));
    await again.append(topic, numbered(3, 110));

    expect((await fromGroup).map(text)).toEqual(['110', '111', '112']);
    await eventually(async () => expect(taken).toEqual(Array.from({ length: 113 }, (_, number) => String(number))));
    expect(lines).toMatchObject([
      { topic: topic.name, partition: 0, from: '0', to: '99' },
      { topic: topic.name, partition: 0, from: '10', to: '89' },
    ]);
    stop.abort();
    await following;
    await Promise.all([log.close(), again.close()]);
  });

  it('puts the prefix before every topic, so that two logs on one broker do not meet', async () => {
    const [one, other] = [
      await openEventLog(kafkaConfig(), silentLogger()),
      await openEventLog(kafkaConfig(), silentLogger()),
    ];
    const topic: Topic = testTopic();
    await one.ensureTopics([topic]);
    await one.append(topic, numbered(1));
    await expect(other.append(topic, numbered(1))).rejects.toThrow(/ensureTopics/);
    await other.ensureTopics([topic]);
    expect(await readAll(other, topic)).toEqual([]);
    await one.commit('group', { state: [{ key: 'k', value: Buffer.from('one') }] });
    expect((await other.load('group')).state.size).toBe(0);
    await Promise.all([one.close(), other.close()]);
  });
});
