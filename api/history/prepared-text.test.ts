import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import Fastify from 'fastify';
import { describe, expect, it } from 'vitest';
import { PreparedText } from './prepared-text.ts';

function stage() {
  const app = Fastify();
  const prepared = new PreparedText('application/json; charset=utf-8');
  let made = 0;
  let version = 1;
  app.get('/', (request, reply) =>
    prepared.send(request, reply, version, () => {
      made++;
      return `[${version}]`;
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
  it('is made once for each version and encoding', async () => {
    const { ask, made, change } = stage();
    for (let round = 0; round < 3; round++) await ask();
    expect([(await ask()).body, made()]).toEqual(['[1]', 1]);
    change();
    expect([(await ask()).body, made()]).toEqual(['[2]', 2]);
  });

  it('comes in the smallest encoding that the client takes', async () => {
    const { ask } = stage();
    const br = await ask('gzip, deflate, br');
    const gzip = await ask('gzip;q=0.8, br;q=0');
    expect([br.headers['content-encoding'], brotliDecompressSync(br.rawPayload).toString()]).toEqual(['br', '[1]']);
    expect([gzip.headers['content-encoding'], gunzipSync(gzip.rawPayload).toString()]).toEqual(['gzip', '[1]']);
    expect((await ask('identity')).headers['content-encoding']).toBeUndefined();
    expect(br.headers).toMatchObject({ vary: 'accept-encoding', 'content-type': 'application/json; charset=utf-8' });
  });
});
