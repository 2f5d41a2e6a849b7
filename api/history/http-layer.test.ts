// Behaviour shared with the order-book server: spellings of paths, and encodings.

import { request } from 'node:http';
import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ClickHouse } from '../../platform/index.ts';
import { makeApp } from '../../test/support/api/history-stage.ts';

/** Parameters of each row query. */
const queries: unknown[] = [];
/** A built history without rows. */
const client = {
  query: async ({ query, query_params }: { query: string; query_params: unknown }) => {
    if (query.includes('.projection')) return { json: async () => [{ name: 'events' }] };
    queries.push(query_params);
    return { json: async () => [] };
  },
} as unknown as ClickHouse['client'];
const ACCOUNT = 'GXyE3Snk3pPYX4Nz9QRVBrnBfbJRTAQYxuy5DRdnebAn';

let app: FastifyInstance;

beforeAll(async () => {
  app = await makeApp({ client, database: 'x' });
});

afterAll(() => app.close());

describe('paths', () => {
  it.each(['/params/', '/PARAMS', '/Params/?x=1'])('%s is /params', async (path) => {
    const answer = await app.inject(path);
    expect([answer.statusCode, answer.body]).toEqual([200, (await app.inject('/params')).body]);
  });

  it('keep the case of the values in them', async () => {
    const paths = [`/user/${ACCOUNT}/trades`, `/USER/${ACCOUNT}/Trades/`, `/user/${ACCOUNT.toLowerCase()}/trades`];
    const answers = [];
    for (const path of paths) {
      queries.length = 0;
      const { statusCode } = await app.inject(path);
      answers.push({ statusCode, queries: JSON.stringify(queries) });
    }
    expect(answers[0]).toMatchObject({ statusCode: 200, queries: expect.stringContaining('{') });
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).not.toEqual(answers[0]);
  });

  it('may follow the address, as in requests to a proxy', async () => {
    const url = await app.listen({ host: '127.0.0.1', port: 0 });
    const status = await new Promise((resolve) => {
      request(url, { path: 'http://x/params' }, (answer) => resolve(answer.resume().statusCode)).end();
    });
    expect(status).toBe(200);
  });
});

describe('encodings', () => {
  it.each([
    ['gzip', 'gzip', gunzipSync],
    ['deflate', 'deflate', inflateSync],
    ['br', 'br', brotliDecompressSync],
    ['zstd', 'zstd', zstdDecompressSync],
    ['gzip, deflate, br, zstd', 'br', brotliDecompressSync],
    ['br;q=0.5, zstd;q=0.9, gzip;q=0.7', 'zstd', zstdDecompressSync],
    ['br;q=0, *', 'gzip', gunzipSync],
  ])('an answer is sent to who takes "%s" in %s', async (accepted, encoding, decode) => {
    const plain = await app.inject('/openapi.json');
    const encoded = await app.inject({ url: '/openapi.json', headers: { 'accept-encoding': accepted } });
    expect(encoded.headers['content-encoding']).toBe(encoding);
    expect(decode(encoded.rawPayload).toString()).toBe(plain.body);
  });

  it.each(['identity;q=1, gzip;q=0.5', 'gzip;q=0', '*;q=0', 'compress', ''])(
    'an answer goes out plain to who takes "%s"',
    async (accepted) => {
      const { headers } = await app.inject({ url: '/openapi.json', headers: { 'accept-encoding': accepted } });
      expect(headers['content-encoding']).toBeUndefined();
    },
  );

  it.each(['utf-8', 'gzip'])('a request is served that names "%s" for the body it has not', async (named) => {
    const answer = await app.inject({ url: '/params', headers: { 'content-encoding': named } });
    expect([answer.statusCode, answer.body]).toEqual([200, (await app.inject('/params')).body]);
  });

  it('every answer has Vary: Accept-Encoding', async () => {
    for (const url of ['/params', '/nowhere', '/market/x/trades']) {
      expect((await app.inject(url)).headers.vary?.toString().toLowerCase(), url).toContain('accept-encoding');
    }
  });
});
