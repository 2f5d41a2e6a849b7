// Thousands of notifications while the processes that write and push them are killed: each is recorded once, and sent.

import { setTimeout as sleep } from 'node:timers/promises';
import bs58 from 'bs58';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EventLog, openEventLog, readConfig, silentLogger } from '../../platform/index.ts';
import {
  decodeMessage,
  encodeEvent,
  encodeMessage,
  type NotificationDelivery,
  TOPICS,
  type Topic,
  walletSettingKey,
} from '../../schemas/index.ts';
import { PushReceiver } from '../support/api/push-receiver.ts';
import { times } from '../support/platform/times.ts';
import { eventually, temporaryDirectory } from '../support/processes/processes.ts';
import { fillEvent, signatureOf } from '../support/processors/history/events.ts';
import { accountRecord, user, wallet } from '../support/processors/notifications/records.ts';
import { ProcessSupervisor } from './harness/processes/supervisor.ts';

/** Each notifies two accounts. */
const FILLS = times(2_000, 5_000);
const ACCOUNTS = 80;
const KILLS = times(3, 30);
const SLOW_MS = 240_000;
const BATCH = times(100, 250);

describe('notifications while their processes are killed', () => {
  const { dir, remove } = temporaryDirectory();
  let log: EventLog;
  let receiver: PushReceiver;
  let supervisor: ProcessSupervisor;

  beforeAll(async () => {
    receiver = await PushReceiver.start();
    log = await openEventLog(readConfig({}, { dataDir: dir, logLevel: 'silent' }), silentLogger());
    await log.ensureTopics([TOPICS.events, TOPICS.margin, TOPICS.walletSettings]);
    await log.append(TOPICS.margin, accounts());
    await log.append(TOPICS.walletSettings, devices(receiver.url));
    supervisor = new ProcessSupervisor({
      DATA_DIR: dir,
      PUSH_DELIVERY: 'send',
      WEBHOOK_SECRET: 'secret',
      WEBHOOK_NETWORKS: '127.0.0.0/8',
    });
    supervisor.keep('notifications', ['notifications']);
    supervisor.keep('push', ['push']);
    await eventually('both processes', () => isReady());
  });
  afterAll(async () => {
    await supervisor?.stop();
    await log?.close();
    await receiver?.stop();
    remove();
  });
  const isReady = () => ['notifications', 'push'].every((name) => supervisor.running(name) !== undefined);

  it('are recorded once and sent, each with one outcome', async () => {
    const writing = writeFills(log);
    for (let kill = 0; kill < KILLS; kill++) {
      await sleep(300 + ((kill * 997) % 700));
      await supervisor.running(kill % 3 === 0 ? 'notifications' : 'push')?.kill9();
    }
    await writing;
    const count = 2 * FILLS;
    await eventually('notifications', async () => (await sizeOf(log, TOPICS.notifications)) >= count, SLOW_MS);
    // PENDING and an outcome of each.
    await eventually('outcomes', async () => (await sizeOf(log, TOPICS.notificationMarks)) >= 2 * count, SLOW_MS);

    const ids = (await recordsOf(log, TOPICS.notifications)).map(({ value }) => (value as { id: string }).id);
    expect([ids.length, new Set(ids).size]).toEqual([count, count]);
    const marks = (await recordsOf(log, TOPICS.notificationMarks)).map(({ value }) => value as NotificationDelivery);
    const pending = marks.filter(({ version }) => version === 0).map(({ id }) => id);
    expect([pending.length, new Set(pending).size]).toEqual([count, count]);
    const ended = await outcomes(log);
    expect([ended.length, new Set(ended.map(({ id }) => id)).size]).toEqual([count, count]);
    expect(ended.filter(({ status }) => status !== 'SENT')).toEqual([]);
    // A kill between a request and its commit repeats the request with the same key.
    expect(new Set(receiver.keys).size).toBe(count);
    expect(
      supervisor.exits.filter(({ code }) => code !== null),
      supervisor.complaints.join('\n'),
    ).toEqual([]);
  });
});

function accounts() {
  return Array.from({ length: ACCOUNTS }, (_, n) => ({ key: bs58.encode(user(n)), value: accountRecord(n, 1n, []) }));
}

/** One webhook for each wallet, which has two accounts. */
function devices(url: string) {
  return Array.from({ length: ACCOUNTS / 2 }, (_, n) => {
    const authority = wallet(2 * n);
    const value = { authority, deviceId: 'hook', platform: '', token: url, isRemoved: false, createdAtMs: 1 };
    return { key: walletSettingKey(bs58.encode(authority), 'hook'), value: encodeMessage('NotificationDevice', value) };
  });
}

async function writeFills(log: EventLog): Promise<void> {
  for (let from = 0; from < FILLS; from += BATCH) {
    const ts = BigInt(Math.floor(Date.now() / 1000));
    const records = Array.from({ length: BATCH }, (_, at) => {
      const n = from + at;
      const sides = { taker: user(n % ACCOUNTS), maker: user((n * 7 + 1) % ACCOUNTS) };
      const { data, ...event } = fillEvent(n);
      const fill = { ...data, ...sides, ts, action_explanation: 'orderFilledWithMatch', market_index: n % 4 };
      const value = encodeEvent({ ...event, signature: signatureOf(n), data: fill });
      return { key: `perp-${n % 4}`, value };
    });
    await log.append(TOPICS.events, records);
    await sleep(150);
  }
}

/** Number of records of a topic. */
async function sizeOf(log: EventLog, topic: Topic): Promise<number> {
  let size = 0n;
  for (let partition = 0; partition < topic.partitions; partition++) {
    const { earliest, next } = await log.bounds(topic, partition);
    size += next - earliest;
  }
  return Number(size);
}

async function recordsOf(log: EventLog, topic: Topic) {
  const found: ReturnType<typeof decodeMessage>[] = [];
  for (let partition = 0; partition < topic.partitions; partition++) {
    let { earliest: next } = await log.bounds(topic, partition);
    while (true) {
      const records = await log.read(topic, partition, next, 5_000);
      const last = records.at(-1);
      if (!last) break;
      for (const { value } of records) found.push(decodeMessage(value));
      next = last.offset + 1n;
    }
  }
  return found;
}

async function outcomes(log: EventLog): Promise<readonly NotificationDelivery[]> {
  const marks = await recordsOf(log, TOPICS.notificationMarks);
  return marks.map(({ value }) => value as NotificationDelivery).filter(({ version }) => version === 1);
}
