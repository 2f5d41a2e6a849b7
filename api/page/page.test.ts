// The page server: the document with the addresses of the services, its policy, its files and the metrics.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Fastify, { type FastifyInstance } from 'fastify';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Config, readConfig, updateEndpoints } from '../../platform/index.ts';
import { LENIENT_PATHS } from '../http/paths.ts';
import { contentPolicy, hostOf, pageAddresses } from './addresses.ts';
import { readPageFiles } from './files.ts';
import { pageRoutes } from './routes.ts';

let folder: string;
let app: FastifyInstance;
const configOf = (overrides: Partial<Config> = {}) => readConfig({}, { dataDir: folder, ...overrides });

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'slotbook-page-'));
  mkdirSync(path.join(folder, 'assets'));
  writeFileSync(path.join(folder, 'index.html'), '<meta content="%SLOTBOOK_ADDRESSES%">');
  writeFileSync(path.join(folder, 'assets', 'index-Ab3.js'), `export const text = '${'x'.repeat(2_000)}';`);
  app = Fastify({ routerOptions: LENIENT_PATHS });
  const files = readPageFiles(folder);
  const metrics = new Registry();
  pageRoutes(app, { config: configOf({ pageMetricsUrls: 'own, http://127.0.0.1:1/metrics' }), metrics, files });
  pageRoutes(app, { config: configOf(), metrics, files }, '/ui');
  pageRoutes(app, { config: configOf(), metrics, files: readPageFiles(path.join(folder, 'none')) }, '/unbuilt');
});
afterAll(async () => {
  await app.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('addresses of the services', () => {
  it('are the ports at the host of the request', () => {
    expect(pageAddresses(configOf(), 'books.example:8080')).toEqual({
      orderbook: 'http://books.example:6969',
      gateway: 'ws://books.example:6970/ws',
      history: 'http://books.example:6971',
    });
  });

  it('are the named ones behind a proxy', () => {
    const named = configOf({ pageOrderbookUrl: 'https://b.example/', pageGatewayUrl: 'wss://b.example/ws' });
    expect(pageAddresses(named, 'b.example')).toMatchObject({
      orderbook: 'https://b.example',
      gateway: 'wss://b.example/ws',
    });
  });

  it('come from endpoints.json for port 0, and are null while unknown', async () => {
    const config = configOf({ orderbookPort: 0, gatewayPort: 0 });
    expect(pageAddresses(config, '127.0.0.1').orderbook).toBeNull();
    await updateEndpoints(folder, { orderbook: 'http://127.0.0.1:4321' });
    expect(pageAddresses(config, '[::1]:80')).toMatchObject({ orderbook: 'http://[::1]:4321', gateway: null });
  });

  it.each(['x; script-src *', 'a b', "'unsafe-inline'"])('never put the host %j into the policy', (host) => {
    expect(hostOf(host)).toBe('127.0.0.1');
    expect(contentPolicy(pageAddresses(configOf(), host))).not.toContain(host);
  });
});

describe('the page', () => {
  it('has the addresses in the document, and a policy without exceptions', async () => {
    const { statusCode, body, headers } = await app.inject({ url: '/', headers: { host: 'h:1' } });
    expect(statusCode).toBe(200);
    expect(body).toContain('&quot;orderbook&quot;:&quot;http://h:6969&quot;');
    const policy = String(headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(policy).toContain("connect-src 'self' http://h:6969 ws://h:6970 http://h:6971 ws://h:6971;");
    expect(policy).not.toContain('unsafe');
  });

  it('leads /ui to its folder, on which the files are relative', async () => {
    const { statusCode, headers } = await app.inject('/ui');
    expect([statusCode, headers.location]).toEqual([302, 'ui/']);
    expect((await app.inject('/ui/')).statusCode).toBe(200);
  });

  it('serves files compressed, with a tag, for ever when their name has a hash', async () => {
    const answer = await app.inject({ url: '/ui/assets/index-Ab3.js', headers: { 'accept-encoding': 'gzip' } });
    expect(answer.headers).toMatchObject({
      'content-encoding': 'gzip',
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
    });
    const again = await app.inject({
      url: '/assets/index-Ab3.js',
      headers: { 'if-none-match': String(answer.headers.etag) },
    });
    expect(again.statusCode).toBe(304);
  });

  it.each(['/assets/none.js', '/../package.json', '/%2e%2e/package.json', '/assets/'])(
    'has no file at %s',
    async (url) => {
      expect((await app.inject(url)).statusCode).toBe(404);
    },
  );

  it('says what to do when it is not built', async () => {
    const { statusCode, body } = await app.inject('/unbuilt/');
    expect([statusCode, body]).toEqual([503, 'The page is not built. Run: npm run build']);
  });

  it('hands on the metrics of the named processes alone', async () => {
    const { processes } = (await app.inject('/metrics.json')).json<{
      processes: { process: string; error: string | null }[];
    }>();
    expect(processes.map(({ process, error }) => [process, error === null])).toEqual([
      ['own', true],
      ['127.0.0.1:1', false],
    ]);
    expect((await app.inject('/ui/metrics.json')).json()).toEqual({ processes: [] });
  });
});
