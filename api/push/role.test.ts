// The push role over a log in memory: what reaches a receiver, and what the log says of it.

import bs58 from 'bs58';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Commit, type RunningRole, readConfig, silentLogger } from '../../platform/index.ts';
import {
  decodeMessage,
  type Notification,
  type NotificationDelivery,
  notificationId,
  TOPICS,
  type Topic,
} from '../../schemas/index.ts';
import { FakeLog } from '../../test/support/api/fake-log.ts';
import { publishNotifications } from '../../test/support/api/notifications.ts';
import { PushReceiver } from '../../test/support/api/push-receiver.ts';
import { eventually } from '../../test/support/platform/eventually.ts';
import { WalletSettings } from '../notifications/wallet-settings.ts';
import { COMMIT_MAX, MAX_AGE_S } from './limits.ts';
import { PUSH_GROUP, startPush } from './role.ts';

const wallet = (n: number) => new Uint8Array(32).fill(n);
const nameOf = (n: number) => bs58.encode(wallet(n));
const now = () => Math.floor(Date.now() / 1000);

let log: FakeLog;
let receiver: PushReceiver;
let settings: WalletSettings;
let role: RunningRole | null = null;

beforeEach(async () => {
  log = new FakeLog();
  receiver = await PushReceiver.start();
  settings = new WalletSettings({ log, logger: silentLogger() });
  await settings.start();
});
afterEach(async () => {
  await role?.stop();
  role = null;
  await settings.stop();
  await receiver.stop();
});

async function start(): Promise<void> {
  const config = readConfig(
    {},
    { pushDelivery: 'send', webhookSecret: 'secret', webhookNetworks: '127.0.0.0/8', logLevel: 'silent' },
  );
  role = await startPush({ config, log, logger: silentLogger(), metrics: new Registry() });
}
const addHook = (n: number, deviceId = 'hook', token = receiver.url) =>
  settings.putDevice({ authority: wallet(n), deviceId, platform: '', token, isRemoved: false, createdAtMs: 1 });

const notification = (n: number, owner: number | null, members: Partial<Notification> = {}): Notification => ({
  id: notificationId(now(), `test:${n}`),
  authority: owner === null ? new Uint8Array(0) : wallet(owner),
  user: null,
  type: 'RECORD_UPDATE',
  title: `number ${n}`,
  body: 'perp-0',
  data: '{}',
  slot: n,
  ts: now(),
  ...members,
});
const publish = (...all: readonly Notification[]) => publishNotifications(log, ...all);
async function recordsOf(topic: Topic) {
  const all = Array.from({ length: topic.partitions }, (_, partition) => log.read(topic, partition, 0n, 100_000));
  return (await Promise.all(all)).flat().map(({ value }) => decodeMessage(value));
}
async function statuses(): Promise<readonly string[]> {
  const marks = await recordsOf(TOPICS.notificationMarks);
  return marks.map(({ value }) => (value as NotificationDelivery).status);
}
const openJobs = async () => [...(await log.load(PUSH_GROUP)).state.keys()];

describe('pushes', () => {
  it('reach every device of the wallet once, and end as SENT', async () => {
    await addHook(1);
    await addHook(1, 'second');
    await start();
    const one = notification(1, 1);
    await publish(one, notification(2, 2), one);
    await eventually(async () => expect(await statuses()).toEqual(['PENDING', 'SENT']));
    expect([...receiver.keys].sort()).toEqual([`${one.id}:${nameOf(1)}:hook`, `${one.id}:${nameOf(1)}:second`]);
    expect(JSON.parse(receiver.received[0]?.body.toString() ?? '')).toMatchObject({
      notificationId: one.id,
      authorityId: nameOf(1),
      status: 'PENDING',
      channels: ['app', 'push'],
    });
    expect(await openJobs()).toEqual([]);
  });

  it('do not happen for types that the wallet opted out of, devices without token, and old notifications', async () => {
    await addHook(1);
    await addHook(2, 'hook', '');
    await settings.putPreferences({ authority: wallet(1), pushOptOutTypes: ['NEW_MARKET'], atMs: 1 });
    await start();
    const old = notification(3, 1, { ts: now() - MAX_AGE_S - 5 });
    await publish(notification(1, 1, { type: 'NEW_MARKET' }), notification(2, 2), old, notification(4, 1));
    await eventually(async () => expect(await statuses()).toEqual(['PENDING', 'SENT']));
    expect(receiver.received).toHaveLength(1);
  });

  it('of a notification for every wallet reach each wallet with devices', async () => {
    for (const n of [1, 2, 3]) await addHook(n);
    await settings.putPreferences({ authority: wallet(2), pushOptOutTypes: ['NEW_MARKET'], atMs: 1 });
    await start();
    await publish(notification(1, null, { type: 'NEW_MARKET' }));
    await eventually(async () => expect((await statuses()).filter((status) => status === 'SENT')).toHaveLength(2));
    expect(receiver.keys.map((key) => key.split(':')[1]).sort()).toEqual([nameOf(1), nameOf(3)].sort());
    expect(await openJobs()).toEqual([]);
  });

  it('are tried again after a transient failure', async () => {
    await addHook(1);
    receiver.answer = () => (receiver.received.length === 1 ? 503 : 200);
    await start();
    await publish(notification(1, 1));
    await eventually(async () => expect(await statuses()).toEqual(['PENDING', 'SENT']));
    expect(new Set(receiver.keys).size).toBe(1);
    expect(receiver.received).toHaveLength(2);
  });

  it('that a receiver refuses end as FAILED, with a dead letter', async () => {
    await addHook(1);
    receiver.answer = () => 400;
    await start();
    const one = notification(1, 1);
    await publish(one);
    await eventually(async () => expect(await statuses()).toEqual(['PENDING', 'FAILED']));
    expect(await recordsOf(TOPICS.deadLetters)).toMatchObject([
      { value: { reason: 'push-failed', origin: `${one.id}:${nameOf(1)}:hook`, detail: 'push failed: status 400' } },
    ]);
  });

  it('remove a device that does not exist any more', async () => {
    await addHook(1);
    receiver.answer = () => 410;
    await start();
    await publish(notification(1, 1));
    await eventually(async () => expect(settings.devices(nameOf(1))).toEqual([]));
    await eventually(async () => expect(await statuses()).toEqual(['PENDING', 'FAILED']));
  });

  it('leave a device that got another token while the old one was found gone', async () => {
    await addHook(1);
    const token = `${receiver.url}/later`;
    receiver.answer = () => {
      void addHook(1, 'hook', token);
      return 410;
    };
    await start();
    await publish(notification(1, 1));
    await eventually(async () => expect(await statuses()).toEqual(['PENDING', 'FAILED']));
    expect(settings.devices(nameOf(1))).toMatchObject([{ deviceId: 'hook', token }]);
    receiver.answer = () => 201;
    await publish(notification(2, 1));
    await eventually(async () => expect(await statuses()).toEqual(['PENDING', 'FAILED', 'PENDING', 'SENT']));
  });

  it('under way at a stop are sent after the next start, with the same key', async () => {
    await addHook(1);
    receiver.answer = () => 503;
    await start();
    const all = Array.from({ length: 20 }, (_, n) => notification(n, 1));
    await publish(...all);
    await eventually(async () => expect(await openJobs()).toHaveLength(20));
    await role?.stop();
    receiver.answer = () => 200;
    await start();
    await eventually(async () => expect((await statuses()).filter((status) => status === 'SENT')).toHaveLength(20));
    expect(new Set(receiver.keys).size).toBe(20);
    expect(await openJobs()).toEqual([]);
  });

  it('that have ended do not run again when the rest of their batch was not committed', async () => {
    await addHook(1);
    const all = Array.from({ length: COMMIT_MAX + 10 }, (_, n) => notification(n, 1));
    await publish(...all);
    const commit = log.commit.bind(log);
    const pendingIn = ({ outputs = [], offsets = [] }: Commit) =>
      offsets.length > 0 ? outputs.reduce((sum, { records }) => sum + records.length, 0) : 0;
    vi.spyOn(log, 'commit').mockImplementation(async (group, step) => {
      if (pendingIn(step) === 10) throw new Error('the log is gone');
      await commit(group, step);
    });
    await start();
    await expect(role?.done).rejects.toThrow('the log is gone');
    await role?.stop();
    vi.mocked(log.commit).mockRestore();
    await start();
    await eventually(async () => expect(await openJobs()).toEqual([]));
    await eventually(async () => expect((await statuses()).filter((one) => one === 'SENT')).toHaveLength(all.length));
    expect((await statuses()).filter((one) => one === 'PENDING')).toHaveLength(all.length);
  });
});
