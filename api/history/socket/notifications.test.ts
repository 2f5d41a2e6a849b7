// The notifications channel through a real connection: whose notifications arrive, in which order, each exactly once.

import bs58 from 'bs58';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { encodeMessage, type Notification, notificationId } from '../../../schemas/index.ts';
import { ACCOUNT, AUTHORITY, HistorySocketStage, type Message } from '../../../test/support/api/history-socket.ts';
import { registry } from '../../../test/support/api/history-stage.ts';
import { publishNotifications } from '../../../test/support/api/notifications.ts';
import { until } from '../../../test/support/api/stage.ts';
import { RecentNotifications } from '../../notifications/recent-notifications.ts';
import type { SocketClient } from './client.ts';
import { Hub } from './hub.ts';
import { NotificationChannels, RecentListFull } from './notifications.ts';

let stage: HistorySocketStage;

beforeEach(async () => {
  stage = new HistorySocketStage();
  await stage.start();
});
afterEach(() => stage.stop());

const OTHER = bs58.encode(Buffer.alloc(32, 8));
const request = { channelType: 'notifications', authority: AUTHORITY };

/** The n-th notification; later ones have later times. `authority` empty: for every wallet. */
function notification(n: number, authority = AUTHORITY): Notification {
  const ts = 1_780_000_000 + n;
  return {
    id: notificationId(ts, `test:${n}`),
    authority: authority === '' ? new Uint8Array(0) : bs58.decode(authority),
    user: authority === '' ? null : ACCOUNT,
    type: authority === '' ? 'NEW_MARKET' : 'RECORD_UPDATE',
    title: `number ${n}`,
    body: 'Your long order 3 on perp-0 was filled',
    data: JSON.stringify({ record: 'trade', marketType: 'perp', marketIndex: 0, n }),
    slot: n,
    ts,
  };
}

const publish = (...all: readonly Notification[]) => publishNotifications(stage.log, ...all);

interface SentNotification {
  readonly title: string;
  readonly data: Readonly<Record<string, unknown>>;
}
const titlesOf = (messages: readonly Message[], type: 'init' | 'update'): readonly string[] =>
  messages
    .filter((message) => message.type === type)
    .flatMap(({ data }) => [data as SentNotification].flat().map(({ title }) => title));

describe('notifications channel', () => {
  it('sends init, then the notifications of the wallet and of every wallet, and no others', async () => {
    stage.loadUnread = async () => [{ notification: notification(1) }];
    const client = await stage.connect();
    client.subscribe(request);
    const [acknowledgement, init] = await client.receives(2);
    expect(acknowledgement).toMatchObject({ message: 'Subscribed to notifications' });
    expect(init).toMatchObject({ type: 'init', channel: `notifications:${AUTHORITY}`, data: [{ title: 'number 1' }] });
    await publish(notification(2, OTHER), notification(3), notification(4, ''));
    const updates = (await client.receives(4)).slice(2);
    expect(titlesOf(updates, 'update').toSorted()).toEqual(['number 3', 'number 4']);
    expect(updates).toContainEqual(
      expect.objectContaining({
        channel: `notifications:${AUTHORITY}`,
        data: expect.objectContaining({
          authorityId: AUTHORITY,
          user: bs58.encode(ACCOUNT),
          notificationId: notification(3).id,
          body: 'Your long order 3 on SOL-PERP was filled',
          status: 'SENT',
          channels: ['app'],
          data: expect.objectContaining({ symbol: 'SOL-PERP', n: 3 }),
        }),
      }),
    );
    expect(client.received).toHaveLength(4);
  });

  it('accepts authorityId for authority, and gives a wallet without notifications an empty init', async () => {
    const client = await stage.connect();
    client.subscribe({ channelType: 'notifications', authorityId: AUTHORITY });
    expect((await client.receives(2))[1]).toMatchObject({ type: 'init', data: [] });
  });

  it('has in init what the store lacks, and not what was read, newest first', async () => {
    await publish(notification(5), notification(6), notification(7, OTHER));
    await until(() => stage.recent.next === 3);
    stage.marks = new Map([[notification(4).id, { isRead: true, delivery: null }]]);
    stage.loadUnread = async () => [5, 4, 3].map((n) => ({ notification: notification(n) }));
    const client = await stage.connect();
    client.subscribe(request);
    expect(titlesOf(await client.receives(2), 'init')).toEqual(['number 6', 'number 5', 'number 3']);
  });

  it('sends each notification once that arrives during the query, and repeats none', async () => {
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    stage.loadUnread = async () => {
      await released;
      return [{ notification: notification(2) }];
    };
    const client = await stage.connect();
    client.subscribe(request);
    await client.receives(1);
    await publish(notification(2), notification(3), notification(3));
    await until(() => stage.recent.next === 2);
    release();
    await client.receives(3);
    await publish(notification(3), notification(4));
    const received = await client.receives(4);
    expect(titlesOf(received, 'init')).toEqual(['number 2']);
    expect(titlesOf(received, 'update')).toEqual(['number 3', 'number 4']);
  });

  it('does not double the stream of a repeated subscribe, and ends it with unsubscribe', async () => {
    const client = await stage.connect();
    client.subscribe(request);
    client.subscribe(request);
    await client.receives(4);
    await publish(notification(1));
    await client.receives(5);
    client.send({ type: 'unsubscribe', ...request });
    client.send('mark');
    await client.receives(6);
    await publish(notification(2));
    client.subscribe(request);
    const received = await client.receives(8);
    expect(titlesOf(received, 'update')).toEqual(['number 1']);
  });

  it('sends an update once that arrives during the query of a repeated subscribe, and has it in the second init', async () => {
    const client = await stage.connect();
    client.subscribe(request);
    await client.receives(2);
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    stage.loadUnread = async () => {
      await released;
      return [];
    };
    client.subscribe(request);
    await client.receives(3);
    await publish(notification(1));
    await client.receives(4);
    release();
    await client.receives(5);
    await publish(notification(2));
    const received = await client.receives(6);
    expect(titlesOf(received, 'init')).toEqual(['number 1']);
    expect(titlesOf(received, 'update')).toEqual(['number 1', 'number 2']);
  });

  it('refuses a subscribe while the store is away, and takes the next one', async () => {
    const { loadUnread } = stage;
    stage.loadUnread = async () => {
      throw new Error('away');
    };
    const client = await stage.connect();
    client.subscribe(request);
    expect((await client.receives(2))[1]).toMatchObject({ type: 'error', channelType: 'notifications' });
    stage.loadUnread = loadUnread;
    client.subscribe(request);
    expect((await client.receives(4))[3]).toMatchObject({ type: 'init' });
  });

  it('fails a subscribe during which too many notifications arrive', async () => {
    const recent = new RecentNotifications(2);
    let release = (): void => {};
    const loadUnread = () =>
      new Promise<[]>((resolve) => {
        release = () => resolve([]);
      });
    const channels = new NotificationChannels({
      hub: new Hub(),
      markets: registry(),
      loadUnread,
      recent,
      marks: { of: () => new Map() },
    });
    const client = { send: () => true } as unknown as SocketClient;
    const channel = {
      channelType: 'notifications',
      channel: `notifications:${AUTHORITY}`,
      authority: AUTHORITY,
    } as const;
    const subscribing = channels.subscribe(channel, client, () => true);
    for (const n of [1, 2, 3]) channels.take(AUTHORITY, encodeMessage('Notification', notification(n)));
    release();
    await expect(subscribing).rejects.toThrow(RecentListFull);
  });
});
