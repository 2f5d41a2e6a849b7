import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import Fastify from 'fastify';
import { describe, expect, it } from 'vitest';
import { PreparedText } from './prepared-text.ts';

/** Long enough to be compressed. */
const textOf = (version: number): string => `[${version}]`.padEnd(2_000);

function stage() {
  const app = Fastify();
  const prepared = new PreparedText('application/json; charset=utf-8');
  let made = 0;
  let version = 1;
  app.get('/', (request, reply) =>
    prepared.send(request, reply, version, () => {
      made++;
      return textOf(version);
    }),
  );
  const ask = (accepted?: string) =>
    app.inject({ url: '/', headers: accepted === undefined ? {} : { 'accept-encoding': accepted } });
  return {
    ask,
    made: () => made,
    change: () => {
      version++;
    },
  };
}

describe('prepared text', () => {
  it('is encoded once per version and encoding', async () => {
    const { ask, made, change } = stage();
    for (let round = 0; round < 3; round++) await ask();
    expect([(await ask()).body, made()]).toEqual([textOf(1), 1]);
    change();
    expect([(await ask()).body, made()]).toEqual([textOf(2), 2]);
  });

  it('uses the smallest encoding that the client accepts', async () => {
    const { ask } = stage();
    const br = await ask('gzip, deflate, br');
    const gzip = await ask('gzip;q=0.8, br;q=0');
    expect([br.headers['content-encoding'], brotliDecompressSync(br.rawPayload).toString()]).toEqual(['br', textOf(1)]);
    expect([gzip.headers['content-encoding'], gunzipSync(gzip.rawPayload).toString()]).toEqual(['gzip', textOf(1)]);
    expect((await ask('identity')).headers['content-encoding']).toBeUndefined();
    expect(br.headers).toMatchObject({ vary: 'accept-encoding', 'content-type': 'application/json; charset=utf-8' });
  });
});
