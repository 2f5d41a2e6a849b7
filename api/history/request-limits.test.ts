import type { FastifyInstance } from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import { absentStore } from '../../test/support/api/absent-store.ts';
import { Contract } from '../../test/support/api/contracts.ts';
import { makeApp, NOW } from '../../test/support/api/history-stage.ts';
import { TestKey } from '../../test/support/api/quote-maker.ts';
import { signedHeaders } from '../../test/support/api/wallet-requests.ts';
import { HistoryError } from '../http/errors.ts';
import { clientOf, type LimitSettings, RequestLimits } from './request-limits.ts';

const NONE: LimitSettings = { readsPerMinute: 0, writesPerMinute: 0, walletRequestsPerMinute: 0, trustedProxies: '' };
const SECOND_MS = 1000;

const apps: FastifyInstance[] = [];
let nowMs = 5;
const clock = () => nowMs;

afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.close()));
});

async function start(settings: Partial<LimitSettings>): Promise<FastifyInstance> {
  const app = await makeApp(absentStore(), undefined, { limits: new RequestLimits({ ...NONE, ...settings }, clock) });
  app.post('/written', async () => ({ success: true }));
  apps.push(app);
  return app;
}

interface Sent {
  readonly url: string;
  readonly method?: 'GET' | 'POST';
  readonly headers?: Record<string, string>;
  readonly remoteAddress?: string;
}

/** Statuses of requests. */
async function statuses(app: FastifyInstance, ...requests: readonly (Sent | string)[]): Promise<number[]> {
  const all = [];
  for (const request of requests) {
    all.push((await app.inject(typeof request === 'string' ? { url: request } : request)).statusCode);
  }
  return all;
}

const write = { method: 'POST', url: '/written' } as const;
const from = (remoteAddress: string) => ({ ...write, remoteAddress });

describe('writes of an address', () => {
  it('are refused beyond a minute of them, with the time to wait, and come back at the rate', async () => {
    const app = await start({ writesPerMinute: 30 });
    expect(await statuses(app, ...Array(31).fill(write))).toEqual([...Array(30).fill(200), 429]);
    const { headers, body } = await app.inject(write);
    expect([headers['retry-after'], body]).toEqual(['2', '{"success":false,"error":"Too many requests"}']);
    expect(headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-expose-headers': 'retry-after, x-final',
    });
    nowMs += 2 * SECOND_MS;
    expect(await statuses(app, write, write)).toEqual([200, 429]);
  });

  it('do not count for another address, except one of the same IPv6 network', async () => {
    const app = await start({ writesPerMinute: 1 });
    const addresses = ['10.0.0.1', '10.0.0.2', '2a00::1', '2a00:0:0:1::1', '2a00::2', '::ffff:10.0.0.1'];
    expect(await statuses(app, ...addresses.map(from))).toEqual([200, 200, 200, 200, 429, 429]);
  });

  it('include signed reads; other reads are free', async () => {
    const app = await start({ writesPerMinute: 1 });
    const signed = { url: '/params', headers: signedHeaders(new TestKey(), NOW) };
    expect(await statuses(app, signed, signed, '/params', '/params', write)).toEqual([200, 429, 200, 200, 429]);
  });

  it('count for the client that a trusted proxy names, and for the sender otherwise', async () => {
    const one = { headers: { 'x-forwarded-for': '203.0.113.1' } };
    const two = { headers: { 'x-forwarded-for': '203.0.113.2' } };
    const behind = await start({ writesPerMinute: 1, trustedProxies: '10.0.0.0/8' });
    const proxied = [one, two, one].map((headers) => ({ ...from('10.0.0.1'), ...headers }));
    expect(await statuses(behind, ...proxied)).toEqual([200, 200, 429]);
    const alone = await start({ writesPerMinute: 1 });
    expect(await statuses(alone, { ...write, ...one }, { ...write, ...two })).toEqual([200, 429]);
  });
});

describe('reads of an address', () => {
  it('are limited only where the operator says so', async () => {
    const app = await start({ readsPerMinute: 2 });
    expect(await statuses(app, '/params', '/nowhere', '/params', write)).toEqual([200, 404, 429, 200]);
    const free = await start({});
    expect(await statuses(free, ...Array(200).fill('/params'))).toEqual(Array(200).fill(200));
  });
});

describe('the contract', () => {
  interface Refusal {
    readonly headers: Readonly<Record<string, { readonly required: boolean }>>;
  }
  interface Document {
    readonly paths: Readonly<
      Record<string, Readonly<Record<string, { readonly responses: Readonly<Record<string, Refusal>> }>>>
    >;
  }

  it.each(['/openapi.json', '/hosted/openapi.json'])('of %s has the refusal of every operation', async (url) => {
    const app = await start({ readsPerMinute: 1 });
    const document = (await app.inject(url)).json<Document>();
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    );
    expect(operations.length).toBeGreaterThan(50);
    for (const { path, method, operation } of operations) {
      const declared = operation.responses[429]?.headers['Retry-After']?.required;
      expect([method, path, declared]).toEqual([method, path, true]);
    }
    const refused = await app.inject(url);
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '60']);
    const place = [url.replace('/openapi.json', '/market/{symbol}/trades'), 'get', 'responses', '429'];
    const isDeclared = new Contract(document).validator('paths', ...place, 'content', 'application/json', 'schema');
    expect(isDeclared(refused.json())).toBe(true);
  });
});

describe('signed requests of a wallet', () => {
  it('are refused beyond a minute of them', () => {
    const limits = new RequestLimits({ ...NONE, walletRequestsPerMinute: 2 }, clock);
    limits.countWallet('a');
    limits.countWallet('a');
    limits.countWallet('b');
    expect(() => limits.countWallet('a')).toThrow(HistoryError);
    expect(() => limits.countWallet('a')).toThrow('Too many requests');
    nowMs += 30 * SECOND_MS;
    limits.countWallet('a');
  });
});

describe('the name of a client', () => {
  it.each([
    ['127.0.0.1', '127.0.0.1'],
    ['::ffff:127.0.0.1', '127.0.0.1'],
    ['2a00:1:2:3:4:5:6:7', '2a00:1:2:3:0:0:0:0'],
    ['2a00:1:2:3::', '2a00:1:2:3:0:0:0:0'],
    ['unknown', 'unknown'],
  ])('of %s is %s', (address, name) => {
    expect(clientOf(address)).toBe(name);
  });
});
