// The contract of the push port, for every adapter, against a local receiver.

import { createECDH, randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import webPush from 'web-push';
import { ConfigError, parseNetworks, silentLogger } from '../../platform/index.ts';
import type { NotificationDevice } from '../../schemas/index.ts';
import { PushReceiver } from '../../test/support/api/push-receiver.ts';
import type { NotificationRecord } from '../notifications/record.ts';
import { webhookSecretOf } from '../notifications/tokens.ts';
import { type PushConfig, pushAdapters } from './adapters.ts';
import { logAdapter } from './log.ts';
import { type Push, type PushAdapter, PushError } from './port.ts';
import { webPushAdapter } from './web-push.ts';
import { gatewayAdapter, signatureOf, webhookAdapter } from './webhook.ts';

const SECRET = 'secret of the service';
const LOOPBACK = parseNetworks('test', '127.0.0.0/8');
const NOW = 1_780_000_000;
const vapid = { subject: 'mailto:operator@example.com', ...webPush.generateVAPIDKeys() };
const browser = createECDH('prime256v1');
browser.generateKeys();
const auth = randomBytes(16);

const record: NotificationRecord = {
  notificationId: '019b76da-a808-77a7-9450-181c6b78eaa7',
  authorityId: 'wallet',
  title: 'Order filled',
  body: 'Your long order 3 on SOL-PERP was filled: 1.5 at 150.2',
  type: 'RECORD_UPDATE',
  status: 'PENDING',
  channels: ['app', 'push'],
  user: 'account',
  data: { record: 'trade', price: '150200000' },
  actions: [],
  sentAt: null,
  createdAt: NOW,
};
const device = (platform: string, token: string): NotificationDevice => ({
  authority: new Uint8Array(32),
  deviceId: 'device-1',
  platform,
  token,
  isRemoved: false,
  createdAtMs: 0,
});
const subscriptionOf = (endpoint: string) =>
  JSON.stringify({ endpoint, keys: { p256dh: browser.getPublicKey('base64url'), auth: auth.toString('base64url') } });
const options = { secret: SECRET, allowed: LOOPBACK, now: () => NOW };

interface Case {
  readonly name: string;
  readonly make: (url: string) => PushAdapter;
  readonly platform: string;
  readonly token: (url: string) => string;
}
const NETWORK: readonly Case[] = [
  { name: 'webhook', make: () => webhookAdapter(options), platform: '', token: (url) => url },
  { name: 'gateway', make: (url) => gatewayAdapter({ ...options, url }), platform: 'ios', token: () => 'token-1' },
  { name: 'web', make: () => webPushAdapter(vapid, LOOPBACK), platform: 'web', token: subscriptionOf },
];

let receiver: PushReceiver;
beforeEach(async () => {
  receiver = await PushReceiver.start();
});
afterEach(() => receiver.stop());

const push = ({ platform, token }: Case, url = receiver.url): Push => ({
  device: device(platform, token(url)),
  record,
  idempotencyKey: 'key-1',
});
const never = new AbortController().signal;
/** The failure of an attempt; `sent` without one. */
const outcome = (one: Case, url = receiver.url): Promise<string> =>
  one
    .make(url)
    .send(push(one, url), never)
    .then(
      () => 'sent',
      (error: unknown) => {
        if (!(error instanceof PushError)) throw error;
        return error.failure;
      },
    );

describe.each(NETWORK)('the $name adapter', (one) => {
  it('sends the notification once', async () => {
    expect(await outcome(one)).toBe('sent');
    expect(receiver.received).toHaveLength(1);
    expect(contentOf(one.name)).toMatchObject({
      notificationId: record.notificationId,
      title: record.title,
      body: record.body,
      data: record.data,
    });
  });

  it.each([
    [200, 'sent'],
    [204, 'sent'],
    [400, 'refused'],
    [403, 'refused'],
    [404, 'gone'],
    [410, 'gone'],
    [408, 'busy'],
    [429, 'busy'],
    [500, 'busy'],
    [503, 'busy'],
    [302, 'refused'],
    [null, 'unreachable'],
  ])('takes status %s as %s', async (status, expected) => {
    receiver.answer = () => status;
    expect(await outcome(one)).toBe(expected);
  });

  it('reports a receiver that is not there as unreachable', async () => {
    expect(await outcome(one, 'http://127.0.0.1:1/')).toBe('unreachable');
  });

  it('says nothing of the receiver in its error', async () => {
    receiver.answer = () => 500;
    const error = await one.make(receiver.url).send(push(one), never).catch(String);
    expect(error).toBe('PushError: push failed: status 500');
  });
});

describe('the log adapter', () => {
  it('sends nothing, and logs the notification without the token', async () => {
    const lines: object[] = [];
    const logger = { info: (line: object) => lines.push(line) } as unknown as Parameters<typeof logAdapter>[0];
    await logAdapter(logger).send({ device: device('ios', 'a secret'), record, idempotencyKey: 'key-1' }, never);
    expect(lines).toMatchObject([{ title: 'Order filled', platform: 'ios', idempotencyKey: 'key-1' }]);
    expect(JSON.stringify(lines)).not.toContain('a secret');
  });
});

/** The body that arrived; for a browser, as the browser decrypts it. */
function contentOf(name: string): object {
  const [received] = receiver.received;
  if (!received) throw new Error('nothing arrived');
  if (name !== 'web') return JSON.parse(received.body.toString()) as object;
  const { decrypt } = createRequire(import.meta.url)('http_ece') as {
    decrypt(body: Buffer, options: object): Buffer;
  };
  const authSecret = auth.toString('base64url');
  return JSON.parse(
    String(decrypt(received.body, { version: 'aes128gcm', privateKey: browser, authSecret })),
  ) as object;
}

describe('a webhook', () => {
  it('is signed over time and body with the key of its device', async () => {
    await outcome(NETWORK[0] as Case);
    const [{ headers, body } = { headers: {}, body: Buffer.alloc(0) }] = receiver.received;
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'idempotency-key': 'key-1',
      'x-slotbook-timestamp': String(NOW),
      'x-slotbook-signature': signatureOf(webhookSecretOf(SECRET, 'wallet', 'device-1'), NOW, body.toString()),
    });
  });

  it('reaches no address inside the deployment', async () => {
    const closed = webhookAdapter({ ...options, allowed: [] });
    for (const url of [receiver.url, receiver.url.replace('http:', 'https:'), 'https://localhost/']) {
      const sending = closed.send({ device: device('', url), record, idempotencyKey: 'key-1' }, never);
      await expect(sending).rejects.toMatchObject({ failure: 'refused' });
    }
    expect(receiver.received).toEqual([]);
  });
});

describe('the gateway', () => {
  it('gets the device, signed with the secret of the service', async () => {
    await outcome(NETWORK[1] as Case);
    const [{ headers, body } = { headers: {}, body: Buffer.alloc(0) }] = receiver.received;
    expect(JSON.parse(body.toString())).toMatchObject({
      device: { deviceId: 'device-1', platform: 'ios', token: 'token-1' },
    });
    expect(headers['x-slotbook-signature' as never]).toBe(signatureOf(SECRET, NOW, body.toString()));
  });
});

describe('Web Push', () => {
  it('is encrypted and signed with the VAPID key', async () => {
    await outcome(NETWORK[2] as Case);
    const [{ headers, body } = { headers: {}, body: Buffer.alloc(0) }] = receiver.received;
    expect(headers).toMatchObject({ 'content-encoding': 'aes128gcm', ttl: '14400' });
    expect(headers['authorization' as never]).toMatch(new RegExp(`^vapid t=[\\w.-]+, k=${vapid.publicKey}$`));
    expect(body.toString('latin1')).not.toContain('SOL-PERP');
  });

  it('leaves out the data of a notification that no push service takes', async () => {
    const data = { long: 'x'.repeat(4_000) };
    const subscribed = device('web', subscriptionOf(receiver.url));
    await webPushAdapter(vapid, LOOPBACK).send(
      { device: subscribed, record: { ...record, data }, idempotencyKey: 'key-1' },
      never,
    );
    expect(receiver.received[0]?.body.length).toBeLessThan(4_096);
    expect(contentOf('web')).toMatchObject({ title: record.title, data: {}, idempotencyKey: 'key-1' });
  });

  it('refuses a token that is no subscription', async () => {
    const sending = webPushAdapter(vapid, LOOPBACK).send(
      { device: device('web', 'x'), record, idempotencyKey: 'key-1' },
      never,
    );
    await expect(sending).rejects.toMatchObject({ failure: 'refused' });
  });
});

describe('the adapter of a device', () => {
  const config: PushConfig = {
    pushDelivery: 'send',
    pushGatewayUrl: 'http://10.0.0.1/',
    vapidSubject: vapid.subject,
    vapidPublicKey: vapid.publicKey,
    vapidPrivateKey: vapid.privateKey,
    webhookSecret: SECRET,
    webhookNetworks: '',
  };
  const names = (changed: Partial<PushConfig>) => {
    const find = pushAdapters({ ...config, ...changed }, silentLogger(), () => NOW);
    return ['ios', 'android', 'web', ''].map((platform) => find(device(platform, 'token'))?.name ?? null);
  };

  it('follows from its platform and the settings', () => {
    expect(names({})).toEqual(['gateway', 'gateway', 'web', 'webhook']);
    expect(names({ pushGatewayUrl: '', vapidPublicKey: '', webhookSecret: '' })).toEqual([null, null, null, null]);
    expect(names({ pushDelivery: 'log' })).toEqual(['log', 'log', 'log', 'log']);
    expect(pushAdapters(config, silentLogger(), () => NOW)(device('ios', ''))).toBeNull();
  });

  it('needs keys that fit', () => {
    expect(() => names({ vapidPrivateKey: 'x' })).toThrow(ConfigError);
    expect(() => names({ vapidSubject: 'nobody' })).toThrow(ConfigError);
    expect(() => names({ webhookNetworks: 'x' })).toThrow(ConfigError);
  });
});
