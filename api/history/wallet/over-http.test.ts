// Wallet signatures over real sockets: what node and the framework do to headers and bodies before the checks.

import { once } from 'node:events';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { absentStore } from '../../../test/support/api/absent-store.ts';
import { makeApp, NOW } from '../../../test/support/api/history-stage.ts';
import { TestKey } from '../../../test/support/api/quote-maker.ts';
import {
  headersOf,
  messageText,
  signedHeaders,
  startTestWallets,
  type TestWallets,
} from '../../../test/support/api/wallet-requests.ts';
import { readJsonBodies } from '../../http/edge-errors.ts';

const MAX_BODY_BYTES = 200;
const key = new TestKey();
let app: FastifyInstance;
let wallets: TestWallets;
let port: number;
let url: string;

beforeAll(async () => {
  wallets = await startTestWallets({ now: () => NOW });
  app = await makeApp(absentStore(), undefined, { wallets: wallets.auth });
  await app.register(async (scope) => {
    readJsonBodies(scope, MAX_BODY_BYTES);
    scope.get('/signed', ({ raw }) => wallets.auth.authenticate(raw, { writes: false }));
    const schema = { body: { type: 'object', required: ['a'], properties: { a: { type: 'string' } } } };
    scope.post('/signed', { schema }, async ({ raw, body }) => ({
      ...(await wallets.auth.authenticate(raw, { writes: true })),
      body,
    }));
    scope.delete('/signed', ({ raw }) => wallets.auth.authenticate(raw, { writes: true }));
  });
  url = await app.listen({ host: '127.0.0.1', port: 0 });
  port = Number(new URL(url).port);
});

afterAll(async () => {
  await app?.close();
  await wallets?.stop();
});

const signed = () => signedHeaders(key, NOW);

/** Sends header lines as they are; returns the status and the body of the answer. */
async function sendRaw(lines: readonly string[], method = 'GET', body = ''): Promise<[status: number, body: unknown]> {
  const socket = connect(port, '127.0.0.1');
  const head = [`${method} /signed HTTP/1.1`, 'host: x', 'connection: close', ...lines].join('\r\n');
  socket.write(Buffer.from(`${head}\r\n\r\n${body}`, 'latin1'));
  let text = '';
  socket.setEncoding('utf8').on('data', (part) => {
    text += part;
  });
  await once(socket, 'close');
  const json = text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1);
  return [Number(text.split(' ', 2)[1]), JSON.parse(json)];
}

const linesOf = (headers: Readonly<Record<string, string>>) =>
  Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
const refused = (error: string) => [401, { success: false, error }];
const ADMITTED = [200, { signer: key.name, authority: key.name }];

describe('headers on the wire', () => {
  it('are read with white space around them and in any letter case', async () => {
    expect(await sendRaw(linesOf(signed()))).toEqual(ADMITTED);
    const spaced = Object.entries(signed()).map(([name, value]) => `${name.toUpperCase()}: \t ${value} \t`);
    expect(await sendRaw(spaced)).toEqual(ADMITTED);
  });

  it('are refused when one is sent twice, in either order, or hidden behind another one', async () => {
    const good = signed();
    const other = signedHeaders(new TestKey(), NOW);
    expect(await sendRaw([...linesOf(good), ...linesOf(other)])).toEqual(refused('Invalid wallet address'));
    expect(await sendRaw([...linesOf(other), ...linesOf(good)])).toEqual(refused('Invalid wallet address'));
    const second = `x-signed-message: ${other['x-signed-message']}`;
    expect(await sendRaw([...linesOf(good), second])).toEqual(refused('Invalid message format'));
    expect(await sendRaw([second, ...linesOf(good)])).toEqual(refused('Invalid message format'));
  });

  it('are refused with a line break, a NUL, or a space before the colon', async () => {
    const { 'x-signed-message': message = '', ...rest } = signed();
    const sent = (line: string) => sendRaw([...linesOf(rest), line]);
    for (const line of [
      `x-signed-message: ${message.slice(0, 20)}\r\n ${message.slice(20)}`,
      `x-signed-message: ${message}\0`,
      `x-signed-message : ${message}`,
      `x-signed-message: ${message.replace('{', '{\n')}`,
    ]) {
      const [status] = await sent(line);
      expect([400, 401]).toContain(status);
    }
  });

  it('are refused when a body could be read as a second request', async () => {
    const lines = [...linesOf(signed()), 'content-length: 5', 'transfer-encoding: chunked'];
    const [status] = await sendRaw(lines, 'POST', '0\r\n\r\n');
    expect(status).toBe(400);
  });

  it('may be UTF-8, by their bytes', async () => {
    const message = messageText(key.name, NOW, { action: 'über' });
    const onWire = Buffer.from(message, 'utf8').toString('latin1');
    expect(await sendRaw(linesOf({ ...headersOf(key, message), 'x-signed-message': onWire }))).toEqual(ADMITTED);
  });

  it('are open to web pages of any origin', async () => {
    const answer = await fetch(`${url}/signed`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.test',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'x-wallet-address,x-signature,x-signed-message,content-type',
      },
    });
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(answer.headers.get('access-control-allow-headers')).toMatch(/x-signed-message/);
  });
});

describe('a body', () => {
  const post = async (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) => {
    const all = { ...signed(), 'content-type': 'application/json', ...headers };
    const answer = await fetch(`${url}/signed`, { method: 'POST', headers: all, body });
    return [answer.status, await answer.json()];
  };

  it('is read as JSON', async () => {
    const [status, answer] = await post('{"a":"1"}', { 'content-type': 'application/json; charset=utf-8' });
    expect([status, answer]).toEqual([200, { signer: key.name, authority: key.name, body: { a: '1' } }]);
  });

  it.each([
    ['malformed JSON', '{"a":', {}],
    ['another type', '{"a":"1"}', { 'content-type': 'text/plain' }],
    ['no body', '', {}],
    ['a prototype', '{"a":"1","__proto__":{"b":1}}', {}],
  ])('is refused: %s', async (_name, body, headers) => {
    const answer = await post(body, headers);
    expect(answer).toEqual([400, { error: 'ValidationError', message: expect.any(String) }]);
  });

  it.each([
    ['gzip', gzipSync('{"a":"1"}')],
    ['utf-8', '{"a":"1"}'],
  ])('is refused with a Content-Encoding: %s', async (encoding, body) => {
    const message = 'body must have no Content-Encoding';
    expect(await post(body, { 'content-encoding': encoding })).toEqual([400, { error: 'ValidationError', message }]);
  });

  it('is read with the encoding that changes nothing', async () => {
    expect((await post('{"a":"1"}', { 'content-encoding': 'identity' }))[0]).toBe(200);
  });

  it('is refused beyond its size limit, announced or not', async () => {
    const large = JSON.stringify({ a: 'x'.repeat(MAX_BODY_BYTES) });
    expect(await post(large)).toEqual([413, { error: 'PayloadTooLarge', message: expect.any(String) }]);
    const chunk = `${large.length.toString(16)}\r\n${large}\r\n0\r\n\r\n`;
    const lines = [...linesOf(signed()), 'content-type: application/json', 'transfer-encoding: chunked'];
    const [status] = await sendRaw(lines, 'POST', chunk);
    expect(status).toBe(413);
  });

  it('may be absent where the route needs none, with a content type or not', async () => {
    const remove = (headers: Record<string, string>) =>
      fetch(`${url}/signed`, { method: 'DELETE', headers: { ...signed(), ...headers } });
    expect((await remove({})).status).toBe(200);
    expect((await remove({ 'content-type': 'application/json' })).status).toBe(200);
  });
});

describe('a captured request', () => {
  it('cannot be sent again', async () => {
    const headers = { ...signed(), 'content-type': 'application/json' };
    const send = () => fetch(`${url}/signed`, { method: 'POST', headers, body: '{"a":"1"}' });
    const answers = await Promise.all([send(), send(), send(), send()]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401]);
    const again = await send();
    expect([again.status, await again.json()]).toEqual(refused('Signature already used'));
  });
});
