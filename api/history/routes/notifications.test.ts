// /notifications with signed requests: feed, read marks, preferences and devices of the signer's wallet.

import bs58 from 'bs58';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { encodeMessage, NOTIFICATION_TYPES, notificationId, TOPICS } from '../../../schemas/index.ts';
import { FakeLog } from '../../../test/support/api/fake-log.ts';
import { HistoryStage, makeApp, NOW } from '../../../test/support/api/history-stage.ts';
import { TestKey } from '../../../test/support/api/quote-maker.ts';
import { signedHeaders, startTestWallets, type TestWallets } from '../../../test/support/api/wallet-requests.ts';
import { eventually, until } from '../../../test/support/platform/eventually.ts';
import { DEVICES_MAX } from '../../notifications/limits.ts';
import { type RunningNotifications, startNotificationServices } from '../../notifications/services.ts';

type Method = 'GET' | 'PATCH' | 'PUT' | 'POST' | 'DELETE';

const SECRET = 'secret of the service';
const key = new TestKey();
const other = new TestKey();
let stage: HistoryStage;
let log: FakeLog;
let wallets: TestWallets;
let notifications: RunningNotifications;
let app: FastifyInstance;

const startServices = () =>
  startNotificationServices(
    { log, logger: pino({ level: 'silent' }), config: { webhookNetworks: '', webhookSecret: SECRET } },
    () => NOW * 1000 + 7,
  );

beforeAll(async () => {
  stage = await HistoryStage.open();
  log = new FakeLog();
  wallets = await startTestWallets({ now: () => NOW, log });
  notifications = await startServices();
  app = await makeApp(stage.clickhouse, undefined, { wallets: wallets.auth, notifications });
});
beforeEach(() => stage.reset());
afterAll(async () => {
  await app.close();
  await notifications.stop();
  await wallets.stop();
  await stage.close();
});

async function ask(method: Method, url: string, payload?: unknown, signer = key) {
  const headers = {
    ...signedHeaders(signer, NOW),
    ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
  };
  const body = payload === undefined ? {} : { payload: JSON.stringify(payload) };
  const answer = await app.inject({ method, url, headers, ...body });
  return { status: answer.statusCode, body: answer.json<Record<string, unknown>>() };
}

const idOf = (n: number) => notificationId(NOW - 1000 + n, `test:${n}`);
/** The n-th row of the store; later ones are newer. */
const row = (n: number, members: Record<string, unknown> = {}) => ({
  id: idOf(n),
  authority: key.name,
  user: other.name,
  type: 'RECORD_UPDATE',
  title: `number ${n}`,
  body: 'Your long order 3 on perp-0 was filled',
  data: JSON.stringify({ record: 'trade', marketType: 'perp', marketIndex: 0 }),
  slot: n,
  ts: NOW - 1000 + n,
  ...members,
});
const titles = ({ body }: { readonly body: Record<string, unknown> }) =>
  (body.records as { readonly title: string }[]).map(({ title }) => title);

describe('the feed', () => {
  it('has the notifications of the wallet and of every wallet, newest first, once each', async () => {
    const market = row(3, { authority: '', user: null, type: 'NEW_MARKET', body: 'perp-0 is open for trading' });
    await stage.store('notification', [row(1), row(2, { authority: other.name }), market, row(1)]);
    const { status, body } = await ask('GET', '/notifications');
    expect(status).toBe(200);
    expect(body).toMatchObject({ success: true, meta: { nextPage: null } });
    expect(body.records).toEqual([
      expect.objectContaining({
        title: 'number 3',
        authorityId: key.name,
        user: null,
        body: 'SOL-PERP is open for trading',
      }),
      {
        notificationId: idOf(1),
        authorityId: key.name,
        title: 'number 1',
        body: 'Your long order 3 on SOL-PERP was filled',
        type: 'RECORD_UPDATE',
        status: 'SENT',
        channels: ['app'],
        user: other.name,
        data: { record: 'trade', marketType: 'perp', marketIndex: 0, symbol: 'SOL-PERP' },
        actions: [],
        sentAt: NOW - 999,
        createdAt: NOW - 999,
      },
    ]);
  });

  it('has pages that later notifications do not shift', async () => {
    await stage.store(
      'notification',
      Array.from({ length: 45 }, (_, n) => row(n)),
    );
    const first = await ask('GET', '/notifications');
    await stage.store('notification', [row(100)]);
    const next = (first.body.meta as { nextPage: string }).nextPage;
    const second = await ask('GET', `/notifications?page=${next}`);
    const third = await ask('GET', `/notifications?page=${(second.body.meta as { nextPage: string }).nextPage}`);
    const all = [first, second, third].flatMap(titles);
    expect(all).toEqual(Array.from({ length: 45 }, (_, n) => `number ${44 - n}`));
    expect(third.body.meta).toEqual({ nextPage: null });
    expect((await ask('GET', `/notifications?page=${next}`, undefined, other)).body).toMatchObject({
      error: 'ValidationError',
      message: 'page belongs to another wallet',
    });
    expect((await ask('GET', '/notifications?page=x')).status).toBe(400);
    expect((await ask('GET', '/notifications?status=OPEN')).status).toBe(400);
  });

  it('shows how the pushes went, and filters by status', async () => {
    await stage.store(
      'notification',
      [1, 2, 3, 4, 5].map((n) => row(n)),
    );
    const push = (n: number, status: string, version: number) => ({
      id: idOf(n),
      authority: key.name,
      status,
      version,
      at_ms: String((NOW + n) * 1000),
    });
    await stage.store('notification_delivery', [
      push(1, 'PENDING', 0),
      push(2, 'PENDING', 0),
      push(2, 'SENT', 1),
      push(3, 'FAILED', 1),
    ]);
    await stage.store('notification_read', [{ id: idOf(4), authority: key.name, at_ms: '5' }]);
    await stage.store('notification_read', [{ id: idOf(5), authority: other.name, at_ms: '5' }]);
    const { body } = await ask('GET', '/notifications');
    expect(
      (body.records as Record<string, unknown>[]).map(({ status, channels, sentAt }) => [status, channels, sentAt]),
    ).toEqual([
      ['SENT', ['app'], NOW - 995],
      ['READ', ['app'], NOW - 996],
      ['FAILED', ['app', 'push'], null],
      ['SENT', ['app', 'push'], NOW + 2],
      ['PENDING', ['app', 'push'], null],
    ]);
    const filtered = async (status: string) => titles(await ask('GET', `/notifications?status=${status}`));
    expect(await filtered('READ')).toEqual(['number 4']);
    expect(await filtered('SENT')).toEqual(['number 5', 'number 2']);
    expect(await filtered('FAILED')).toEqual(['number 3']);
    expect(await filtered('PENDING')).toEqual(['number 1']);
  });
});

describe('a read mark', () => {
  it('shows at once, and is in the log', async () => {
    await stage.store('notification', [row(1), row(2, { authority: '' })]);
    for (const n of [1, 2]) {
      expect(await ask('PATCH', `/notifications/${idOf(n)}`, { status: 'READ' })).toEqual({
        status: 200,
        body: { success: true },
      });
    }
    expect(titles(await ask('GET', '/notifications?status=READ'))).toEqual(['number 2', 'number 1']);
    expect(titles(await ask('GET', '/notifications?status=SENT'))).toEqual([]);
    // The mark of a notification for everybody is the wallet's own.
    expect((await ask('GET', '/notifications', undefined, other)).body.records).toMatchObject([{ status: 'SENT' }]);
    const { partitions } = TOPICS.notificationMarks;
    const marks = await Promise.all(
      Array.from({ length: partitions }, (_, partition) => log.read(TOPICS.notificationMarks, partition, 0n, 10)),
    );
    expect(marks.flat().map(({ key: wallet }) => wallet)).toEqual([key.name, key.name]);
  });

  it('is possible as soon as the notification is published', async () => {
    const bytes = { ...row(7), authority: bs58.decode(key.name), user: null, ts: NOW - 993 };
    notifications.recent.take(key.name, encodeMessage('Notification', bytes));
    expect((await ask('PATCH', `/notifications/${idOf(7)}`, { status: 'READ' })).status).toBe(200);
    expect((await ask('PATCH', `/notifications/${idOf(7)}`, { status: 'READ' }, other)).status).toBe(404);
  });

  it.each([idOf(9), 'x', '018bcfe5-6800-4abc-8def-0123456789ab'])('of an unknown id is 404: %s', async (id) => {
    expect(await ask('PATCH', `/notifications/${id}`, { status: 'READ' })).toEqual({
      status: 404,
      body: { success: false, error: 'Notification not found' },
    });
  });

  it('of another wallet is 404', async () => {
    await stage.store('notification', [row(8, { authority: other.name })]);
    expect((await ask('PATCH', `/notifications/${idOf(8)}`, { status: 'READ' })).status).toBe(404);
  });

  it('that is one of thousands leaves the pages of its wallet whole, also where the store lacks it', async () => {
    const signer = new TestKey();
    const own = { authority: signer.name };
    await stage.store(
      'notification',
      [1, 2, 3].map((n) => row(n, own)),
    );
    const authority = bs58.decode(signer.name);
    const marks = [...Array.from({ length: 5_000 }, (_, n) => n), 1, 2].flatMap((n) => [
      encodeMessage('NotificationRead', { id: idOf(n), authority, atMs: n }),
      encodeMessage('NotificationDelivery', { id: idOf(n), authority, status: 'FAILED', version: 1, atMs: n }),
    ]);
    const stored = [0, 3].map((n) => ({ id: idOf(n), ...own, at_ms: '5' }));
    await stage.store('notification_read', stored);
    await log.append(
      TOPICS.notificationMarks,
      marks.map((value) => ({ key: signer.name, value })),
    );
    await until(() => [...notifications.marks.of(signer.name).keys()].at(-1) === idOf(2));
    const all = await ask('GET', '/notifications', undefined, signer);
    expect(all.status).toBe(200);
    expect(titles(all)).toEqual(['number 3', 'number 2', 'number 1']);
    const failed = await ask('GET', '/notifications?status=FAILED', undefined, signer);
    expect([failed.status, titles(failed)]).toEqual([200, []]);
    expect(titles(await ask('GET', '/notifications?status=READ', undefined, signer))).toHaveLength(3);
  });

  it.each([{}, { status: 'SENT' }, { status: 'READ', more: 1 }, [], 'READ', null])(
    'with body %j is 400',
    async (body) => {
      const answer = await ask('PATCH', `/notifications/${idOf(1)}`, body);
      expect([answer.status, answer.body.error]).toEqual([400, 'ValidationError']);
    },
  );
});

describe('preferences', () => {
  it('are empty, then as written, at once and in a service that starts later', async () => {
    const types = ['NEW_MARKET', 'RECORD_UPDATE'];
    const nobody = new TestKey();
    expect((await ask('GET', '/notifications/preferences', undefined, nobody)).body).toEqual({
      success: true,
      preferences: { authorityId: nobody.name, pushOptOutTypes: [] },
    });
    const expected = { success: true, preferences: { authorityId: key.name, pushOptOutTypes: types } };
    expect((await ask('PUT', '/notifications/preferences', { pushOptOutTypes: types })).body).toEqual(expected);
    expect((await ask('GET', '/notifications/preferences')).body).toEqual(expected);
    const later = await startServices();
    expect(later.settings.optOutTypes(key.name)).toEqual(types);
    await later.stop();
    await ask('PUT', '/notifications/preferences', { pushOptOutTypes: [] });
    expect((await ask('GET', '/notifications/preferences')).body).toMatchObject({
      preferences: { pushOptOutTypes: [] },
    });
  });

  it('may name every type', async () => {
    const all = { pushOptOutTypes: NOTIFICATION_TYPES };
    expect((await ask('PUT', '/notifications/preferences', all, new TestKey())).status).toBe(200);
  });

  it.each([
    {},
    { pushOptOutTypes: 'NEW_MARKET' },
    { pushOptOutTypes: ['OTHER'] },
    { pushOptOutTypes: null },
    { pushOptOutTypes: [5] },
    { pushOptOutTypes: ['TEST', 'TEST'] },
    { pushOptOutTypes: [], more: 1 },
  ])('with body %j are 400', async (body) => {
    const answer = await ask('PUT', '/notifications/preferences', body);
    expect([answer.status, answer.body.error]).toEqual([400, 'ValidationError']);
  });
});

describe('devices', () => {
  const subscription = JSON.stringify({
    endpoint: 'https://push.example.com/abc',
    expirationTime: null,
    keys: { p256dh: Buffer.alloc(65, 4).toString('base64url'), auth: Buffer.alloc(16, 1).toString('base64url') },
  });

  it('are registered, replaced and removed, at once', async () => {
    const owner = new TestKey();
    const post = (body: object) => ask('POST', '/notifications/devices', body, owner);
    const list = async () => (await ask('GET', '/notifications/devices', undefined, owner)).body.devices;
    const phone = { deviceId: 'phone', token: 'token-1', platform: 'ios', createdAt: NOW };
    expect((await post({ deviceId: 'phone', token: 'token-1', platform: 'ios' })).body).toEqual({
      success: true,
      device: phone,
    });
    expect(await list()).toEqual([phone]);
    expect((await post({ deviceId: 'phone', platform: 'android' })).status).toBe(200);
    await post({ deviceId: 'browser', platform: 'web', token: subscription });
    expect(await list()).toMatchObject([
      { deviceId: 'phone', platform: 'android', token: null },
      { deviceId: 'browser' },
    ]);
    expect((await ask('GET', '/notifications/devices')).body.devices).toEqual([]);
    expect(await ask('DELETE', '/notifications/devices/phone', undefined, owner)).toEqual({
      status: 200,
      body: { success: true },
    });
    expect(await list()).toMatchObject([{ deviceId: 'browser' }]);
    expect(await ask('DELETE', '/notifications/devices/phone', undefined, owner)).toEqual({
      status: 404,
      body: { success: false, error: 'Device not found' },
    });
    const later = await startServices();
    expect(later.settings.devices(owner.name)).toMatchObject([{ deviceId: 'browser', token: subscription }]);
    await later.stop();
  });

  it('get the secret of a webhook, each its own', async () => {
    const hook = (deviceId: string) =>
      ask(
        'POST',
        '/notifications/devices',
        { deviceId, platform: '', token: 'https://hooks.example.com/a' },
        new TestKey(),
      );
    const secrets = [await hook('a'), await hook('b')].map(({ body }) => (body.device as { secret: string }).secret);
    expect(secrets.every((secret) => /^[\w-]{43}$/.test(secret))).toBe(true);
    expect(new Set(secrets).size).toBe(2);
  });

  it('are at most ten for a wallet, also when they come at once', async () => {
    const owner = new TestKey();
    const answers = await Promise.all(
      Array.from({ length: DEVICES_MAX + 3 }, (_, n) =>
        ask('POST', '/notifications/devices', { deviceId: `d${n}`, platform: 'ios' }, owner),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(DEVICES_MAX);
    expect(answers.find(({ status }) => status === 400)?.body).toEqual({
      success: false,
      error: 'A wallet has at most 10 devices',
    });
    expect((await ask('POST', '/notifications/devices', { deviceId: 'd0', platform: 'web' }, owner)).status).toBe(200);
  });

  it.each([
    { platform: 'ios' },
    { deviceId: '', platform: 'ios' },
    { deviceId: 'a b', platform: 'ios' },
    { deviceId: 'a/../b', platform: 'ios' },
    { deviceId: 'x'.repeat(129), platform: 'ios' },
    { deviceId: 'a' },
    { deviceId: 'a', platform: 'windows' },
    { deviceId: 5, platform: 'ios' },
    { deviceId: 'a', platform: null },
    { deviceId: 'a', platform: 'ios', token: 5 },
    { deviceId: 'a', platform: 'ios', token: 'two words' },
    { deviceId: 'a', platform: 'ios', token: 'x'.repeat(4_097) },
    { deviceId: 'a', platform: 'web', token: 'no subscription' },
    { deviceId: 'a', platform: 'web', token: '{"endpoint":"https://push.example.com/a"}' },
    { deviceId: 'a', platform: 'web', token: subscription.replace('push.example.com', '127.0.0.1') },
    { deviceId: 'a', platform: '', token: 'http://hooks.example.com/' },
    { deviceId: 'a', platform: '', token: 'https://10.0.0.1/' },
    { deviceId: 'a', platform: '', token: 'https://[::1]/' },
    { deviceId: 'a', platform: '', token: 'file:///etc/passwd' },
    { deviceId: 'a', platform: '', token: 'https://user:password@hooks.example.com/' },
    { deviceId: 'a', platform: 'ios', more: 1 },
  ])('with body %j are 400', async (body) => {
    const answer = await ask('POST', '/notifications/devices', body);
    expect([answer.status, answer.body.error]).toEqual([400, 'ValidationError']);
  });
});

describe('requests', () => {
  it.each([
    ['GET', '/notifications'],
    ['PATCH', `/notifications/${idOf(1)}`],
    ['GET', '/notifications/preferences'],
    ['PUT', '/notifications/preferences'],
    ['GET', '/notifications/devices'],
    ['POST', '/notifications/devices'],
    ['DELETE', '/notifications/devices/a'],
  ] as const)('%s %s needs a signature, and a write a new one', async (method, url) => {
    const payloads: Partial<Record<Method, object>> = {
      PATCH: { status: 'READ' },
      PUT: { pushOptOutTypes: [] },
      POST: { deviceId: 'a', platform: 'ios' },
    };
    const payload = payloads[method];
    const send = (headers: Record<string, string>) =>
      app.inject({
        method,
        url,
        headers: { ...headers, ...(payload && { 'content-type': 'application/json' }) },
        ...(payload && { payload: JSON.stringify(payload) }),
      });
    const without = await send({});
    expect([without.statusCode, without.json()]).toEqual([
      401,
      { success: false, error: 'Missing authentication headers' },
    ]);
    const headers = signedHeaders(new TestKey(), NOW);
    expect((await send(headers)).statusCode).not.toBe(401);
    const again = await send(headers);
    if (method === 'GET') expect(again.statusCode).toBe(200);
    else expect([again.statusCode, again.json()]).toEqual([401, { success: false, error: 'Signature already used' }]);
  });

  it('of a delegate act for the authority of the account', async () => {
    const account = bs58.encode(Buffer.alloc(32, 77));
    wallets.accounts.set(account, { authority: key.name, delegate: other.name });
    await stage.store('notification', [row(1)]);
    const headers = signedHeaders(other, NOW, { isDelegate: true, velocityUserAccount: account });
    const answer = await app.inject({ url: '/notifications', headers });
    expect(answer.json<{ records: unknown[] }>().records).toMatchObject([{ authorityId: key.name }]);
  });

  it('that change something are 503 while the log is away, and change nothing', async () => {
    const { append } = log;
    const owner = new TestKey();
    log.append = async (topic, records) => {
      if (topic.name === TOPICS.walletSettings.name) throw new Error('away');
      return append.call(log, topic, records);
    };
    try {
      expect(await ask('PUT', '/notifications/preferences', { pushOptOutTypes: ['TEST'] }, owner)).toEqual({
        status: 503,
        body: { success: false, error: 'Changes cannot be stored at the moment' },
      });
    } finally {
      log.append = append;
    }
    expect((await ask('GET', '/notifications/preferences', undefined, owner)).body).toMatchObject({
      preferences: { pushOptOutTypes: [] },
    });
  });
});

describe('a change of another process', () => {
  it('arrives through the log', async () => {
    const elsewhere = await startServices();
    const owner = new TestKey();
    await ask('PUT', '/notifications/preferences', { pushOptOutTypes: ['TEST'] }, owner);
    await eventually(async () => expect(elsewhere.settings.optOutTypes(owner.name)).toEqual(['TEST']));
    await elsewhere.stop();
  });
});
