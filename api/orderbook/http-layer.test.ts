// Rules of every answer below the routes: refusals of the parser and the router, encodings, entity tags, spellings of paths,
// and metrics. Uses a real socket where fastify creates no request.

import { once } from 'node:events';
import { connect } from 'node:net';
import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { boundPort } from '../../platform/index.ts';
import { diff, Stage, snapshot, until } from '../../test/support/api/stage.ts';
import { BookReader } from '../views/book-reader.ts';
import { orderbookApp } from './app.ts';
import type { Feeds } from './feeds.ts';
import { RestMetrics } from './metrics.ts';
import { MAX_MARKETS } from './parameters.ts';

const LEVELS = { min: 0, low: 2, medium: 10_082, high: 100_000, veryHigh: 1_200_000, unsafeMax: 5_000_000 };
const FEES = { marketType: 'perp', marketIndex: 0, atMs: 1, ...LEVELS } as const;
const feeds: Feeds = {
  ready: true,
  fees: { get: (key) => (key === 'perp-0' ? FEES : null) },
  rankings: { get: () => null },
  oracle: { guard: () => false, latest: async () => ({ feeds: [], solana: null }) },
};

let stage: Stage;
let reader: BookReader;
let registry: Registry;
let app: FastifyInstance;
let port: number;
let seq = 1;

beforeAll(async () => {
  stage = new Stage();
  await stage.markets();
  const bids = Array.from({ length: 100 }, (_, index) => ({ price: 81_000_000 - index, dlob: 1n, vamm: 0n }));
  await stage.books(snapshot({ bids }));
  reader = new BookReader(stage.context());
  await reader.start();
  await until(() => reader.ready);
  registry = new Registry();
  const metrics = new RestMetrics(registry, reader, { slotStallMs: 5000 });
  const accounts = { read: async () => [] };
  app = await orderbookApp({ reader, accounts, slotStallMs: 5000, feeds, metrics }, pino({ level: 'silent' }));
  await app.listen({ host: '127.0.0.1', port: 0 });
  port = boundPort(app.server.address());
});

afterAll(async () => {
  await app.close();
  await reader.stop();
});

const get = (url: string, headers: Record<string, string> = {}) => app.inject({ method: 'GET', url, headers });

/** All bytes that the server sends before it closes the connection. */
async function raw(request: string): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port });
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.write(request);
  await once(socket, 'end');
  socket.destroy();
  return Buffer.concat(chunks).toString();
}

const line = (path: string, more = 'Connection: close\r\n') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;

describe('refusals below the routes', () => {
  it.each(['/%zz', '/%E0%A4%A', '/dlob/%'])(
    'a path that does not decode is 400 text, for any origin: %s',
    async (path) => {
      const answer = await get(path);
      expect([answer.statusCode, answer.body]).toEqual([400, 'Bad Request: the path does not decode']);
      expect(answer.headers).toMatchObject({
        'content-type': 'text/plain; charset=utf-8',
        'access-control-allow-origin': '*',
      });
    },
  );

  it('the server reads the largest batch: 200 markets with every list, escaped like libraries do', async () => {
    const list = (value: string) => Array.from({ length: MAX_MARKETS }, () => value).join(',');
    const lists = { marketName: 'SOL-PERP', marketIndex: '65535', marketType: 'perp', depth: '100' };
    const flags = { includeVamm: 'false', includeOracle: 'false', includeIndicative: 'false', includePhoenix: 'false' };
    const all = Object.entries({ ...lists, ...flags, includeOpenbook: 'false', includeSerum: 'false' });
    const query = new URLSearchParams(Object.fromEntries(all.map(([name, value]) => [name, list(value)])));
    const answer = await fetch(`http://127.0.0.1:${port}/batchL2?${query}`);
    expect([answer.status, ((await answer.json()) as { l2s: unknown[] }).l2s.length]).toEqual([200, MAX_MARKETS]);
  });

  it('more than 64 KiB before the body is 431 text, for any origin', async () => {
    const answer = await raw(line(`/l2?marketName=${'x'.repeat(66_000)}`));
    expect(answer).toMatch(/^HTTP\/1\.1 431 Request Header Fields Too Large\r\n/);
    expect(answer).toContain('\r\nAccess-Control-Allow-Origin: *\r\n');
    expect(answer).toContain('\r\nContent-Type: text/plain; charset=utf-8\r\n');
    expect(answer).toMatch(/\r\n\r\nRequest line and headers must be at most 64 KiB$/);
  });

  it('a request without a host is 400 text; HTTP/1.0 needs none', async () => {
    const answer = await raw('GET /health HTTP/1.1\r\nConnection: close\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n[\s\S]*\r\n\r\nBad Request: this is not HTTP$/);
    expect(answer.toLowerCase()).toContain('\r\naccess-control-allow-origin: *\r\n');
    expect(await raw('GET /health HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*OK$/);
  });

  it.each(['application/json', 'text/plain', 'x/y', 'no type'])(
    'a body is not read, so that an unknown path stays 404 whatever is sent to it: %s',
    async (type) => {
      const body = { method: 'POST', headers: { 'content-type': type }, body: '{' };
      const answer = await fetch(`http://127.0.0.1:${port}/nowhere`, body);
      expect([answer.status, await answer.text()]).toEqual([404, 'Not found']);
    },
  );

  it('input that is not HTTP is 400 text, and the server continues', async () => {
    expect(await raw('hello\r\n\r\n')).toMatch(
      /^HTTP\/1\.1 400 Bad Request\r\n[\s\S]*\r\n\r\nBad Request: this is not HTTP$/,
    );
    expect(await raw(line('/health'))).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*OK$/);
  });
});

describe('offers to upgrade', () => {
  const offering = (path: string, upgrade: string) =>
    raw(
      line(path, `Connection: close, Upgrade, HTTP2-Settings\r\nUpgrade: ${upgrade}\r\nHTTP2-Settings: AAMAAABk\r\n`),
    );

  it.each([
    ['/health', 'h2c', /^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\nOK$/],
    ['/dlob/l2?marketName=SOL-PERP&depth=1', 'h2c', /^HTTP\/1\.1 200 OK\r\n[\s\S]*"marketName":"SOL-PERP"/],
    ['/nowhere', 'websocket', /^HTTP\/1\.1 404 Not Found\r\n[\s\S]*\r\n\r\nNot found$/],
    ['/ws', 'h2c', /^HTTP\/1\.1 404 Not Found\r\n[\s\S]*\r\n\r\nNot found$/],
  ])('%s to %s is answered as if nothing had been offered', async (path, upgrade, answer) => {
    expect(await offering(path, upgrade)).toMatch(answer);
    expect((await offering(path, upgrade)).toLowerCase()).toContain('\r\naccess-control-allow-origin: *\r\n');
  });
});

describe('paths', () => {
  it('may follow a scheme and host, as in requests to a proxy', async () => {
    const answer = await raw(`GET http://x/dlob/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*OK$/);
  });

  it.each(['/L2', '/l2/', '/dlob/l2/', '/DLOB/L2'])('%s is /l2', async (path) => {
    expect((await get(`${path}?marketName=SOL-PERP`)).body).toBe((await get('/l2?marketName=SOL-PERP')).body);
  });
});

describe('encodings', () => {
  it.each([
    ['/l2', 'gzip', 'gzip', gunzipSync],
    ['/l2', 'deflate', 'deflate', inflateSync],
    ['/l2', 'br', 'br', brotliDecompressSync],
    ['/l2', 'zstd', 'zstd', zstdDecompressSync],
    ['/l2', 'br;q=0, gzip;q=0, *', 'zstd', zstdDecompressSync],
    ['/l2', 'gzip;q=0.1, deflate;q=0.9', 'deflate', inflateSync],
    ['/l2', 'x-gzip', 'gzip', gunzipSync],
    ['/l3', 'gzip, deflate, br', 'br', brotliDecompressSync],
    ['/l3', 'zstd, br;q=0.9', 'zstd', zstdDecompressSync],
    ['/batchL2', 'gzip', 'gzip', gunzipSync],
  ])('%s is sent to who takes "%s" in %s', async (path, accepted, encoding, decode) => {
    // Without orders, L3 is too short for compression.
    if (path === '/l3') await manyOrders();
    const plain = await get(`${path}?marketName=SOL-PERP`);
    const encoded = await get(`${path}?marketName=SOL-PERP`, { 'accept-encoding': accepted });
    expect(encoded.headers['content-encoding']).toBe(encoding);
    expect(Number(encoded.headers['content-length'])).toBe(encoded.rawPayload.length);
    expect(encoded.rawPayload.length).toBeLessThan(plain.rawPayload.length / 2);
    expect(decode(encoded.rawPayload).toString()).toBe(plain.body);
  });

  it.each(['identity;q=1, gzip;q=0.5', 'gzip;q=0', '*;q=0', 'compress', ''])(
    'a book goes out plain to who takes "%s"',
    async (accepted) => {
      const { headers } = await get('/l2?marketName=SOL-PERP', { 'accept-encoding': accepted });
      expect(headers['content-encoding']).toBeUndefined();
    },
  );

  it('a book is encoded once for all clients, and again after a change', async () => {
    const market = reader.markets.byName('SOL-PERP');
    if (!market) throw new Error('no market');
    const bytes = () => reader.bodies.l2(market, 100, false).bytes('gzip');
    const before = bytes();
    expect(bytes()).toBe(before);
    const asked = () => get('/batchL2?marketName=SOL-PERP,SOL-PERP', { 'accept-encoding': 'gzip' });
    const batch = gunzipSync((await asked()).rawPayload).toString();
    const slot = 700;
    await stage.books(diff(++seq, slot));
    await until(() => reader.newestSlot === slot);
    expect(bytes()).not.toBe(before);
    expect(JSON.parse(batch).l2s[1].slot).not.toBe(slot);
    expect(JSON.parse(gunzipSync((await asked()).rawPayload).toString()).l2s[1].slot).toBe(slot);
  });

  it.each(['utf-8', 'gzip', 'none, gzip'])(
    'a request is served that names "%s" for the body it has not',
    async (named) => {
      for (const url of ['/health', '/l2?marketName=SOL-PERP', '/openapi.json']) {
        expect((await get(url, { 'content-encoding': named })).statusCode, url).toBe((await get(url)).statusCode);
      }
      const missing = await app.inject({
        method: 'POST',
        url: '/l2',
        headers: { 'content-encoding': named },
        payload: 'x',
      });
      expect([missing.statusCode, missing.body]).toEqual([404, (await get('/nowhere')).body]);
    },
  );

  it('every answer varies by Accept-Encoding, compressed or not', async () => {
    for (const url of ['/health', '/l2', '/l2?marketName=SOL-PERP', '/nowhere', '/%zz']) {
      for (const headers of [{}, { 'accept-encoding': 'gzip' }]) {
        expect((await get(url, headers)).headers.vary?.toLowerCase(), url).toBe('accept-encoding');
      }
    }
  });
});

describe('entity tags', () => {
  it('are weak, equal for equal bodies, and allow 304 without a body', async () => {
    const url = '/priorityFees?marketType=perp&marketIndex=0';
    const first = await get(url);
    const tag = String(first.headers.etag);
    expect(tag).toMatch(/^W\/"[0-9a-f]+-.{27}"$/);
    const again = await get(url, { 'if-none-match': `"other", ${tag}` });
    expect([again.statusCode, again.body, again.headers.etag]).toEqual([304, '', tag]);
    expect(again.headers['access-control-allow-origin']).toBe('*');
    expect((await get(url, { 'if-none-match': 'W/"other"' })).body).toBe(first.body);
  });

  it.each([
    ['/batchPriorityFees?marketType=perp&marketIndex=0', true],
    ['/auctionParams?marketIndex=0&marketType=perp&direction=long&amount=1&assetType=base', true],
    ['/auctionParams', false],
    ['/l2?marketName=SOL-PERP', false],
    ['/health', false],
  ])('exist for %s: %s', async (url, hasTag) => {
    expect('etag' in (await get(url)).headers).toBe(hasTag);
  });
});

describe('metrics', () => {
  const valuesOf = async (name: string) => (await registry.getSingleMetric(name)?.get())?.values ?? [];
  const total = async (name: string, wanted: Record<string, string>) => {
    const values = await valuesOf(name);
    const isWanted = ({ labels }: { labels: Partial<Record<string, string | number>> }) =>
      Object.entries(wanted).every(([label, value]) => labels[label] === value);
    return values.filter(isWanted).reduce((sum, { value }) => sum + value, 0);
  };

  it('count requests by route and status, unknown paths together, and time them', async () => {
    const count = (path: string, status: string) => total('incoming_requests_count_total', { path, status });
    const before = [await count('/l3', '400'), await count('none', '404')];
    for (const url of ['/l3', '/L3/?x=1', '/nowhere', '/elsewhere']) await get(url);
    expect([await count('/l3', '400'), await count('none', '404')]).toEqual([
      (before[0] ?? 0) + 2,
      (before[1] ?? 0) + 2,
    ]);
    const timed = (await valuesOf('slotbook_rest_request_seconds')).filter(
      ({ labels }) => labels.path === '/l3' && labels.status === '400' && labels.le === 3,
    );
    expect(timed.map(({ value }) => value)).toEqual([(before[0] ?? 0) + 2]);
  });

  it('count lookups by route, a miss without a publication', async () => {
    const count = (path: string, miss: string) => total('cache_hit_count_total', { path, miss });
    const paths = ['/batchL2', '/priorityFees', '/unsettledPnlUsers'];
    const before = await Promise.all(paths.flatMap((path) => [count(path, 'false'), count(path, 'true')]));
    await get('/batchL2?marketName=SOL-PERP,BTC-PERP,SOL-PERP');
    await get('/priorityFees?marketType=perp&marketIndex=0');
    await get('/unsettledPnlUsers?marketIndex=0');
    const after = await Promise.all(paths.flatMap((path) => [count(path, 'false'), count(path, 'true')]));
    expect(after.map((value, at) => value - (before[at] ?? 0))).toEqual([2, 1, 1, 0, 0, 1]);
  });

  it('report the health, and the slots of each published book', async () => {
    expect(await total('health_status', {})).toBe(0);
    expect(await total('last_ws_message_received_ts', {})).toBe(reader.slotAdvancedAtMs);
  });
});

async function manyOrders(): Promise<void> {
  const order = (orderId: number) => ({
    price: 80_000_000 - orderId,
    size: 1n,
    maker: new Uint8Array(32).fill(orderId),
    orderId,
    source: 'user' as const,
    rank: [0, 1, 1, orderId],
  });
  const slot = 600;
  await stage.books(diff(++seq, slot, { bidOrders: Array.from({ length: 40 }, (_, at) => order(at + 500)) }));
  await until(() => reader.newestSlot === slot);
}
