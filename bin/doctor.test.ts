import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { readConfig } from '../platform/index.ts';
import { TestRegistry } from '../test/support/schemas/registry.ts';
import { doctor } from './doctor.ts';

const SECRET = 'hunter2';
let answer: { readonly status: number; readonly body: string };
let server: Server;
let port: number;
let dataDir: string;

beforeAll(async () => {
  dataDir = path.join(mkdtempSync(path.join(tmpdir(), 'slotbook-doctor-')), 'data');
  server = createServer((request, response) => {
    const { status, body } = request.url === '/ping' ? { status: 200, body: 'Ok.' } : answer;
    response.writeHead(status).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});

afterAll(async () => {
  rmSync(path.dirname(dataDir), { recursive: true, force: true });
  await new Promise((resolve) => server.close(resolve));
});

/** The printed report while every service answers, except perhaps the node. */
async function diagnose(
  rpcUrl: string,
  schemaRegistryUrl = '',
): Promise<{ readonly code: number; readonly text: string }> {
  const config = readConfig(
    {},
    { dataDir, rpcUrl, schemaRegistryUrl, clickhouseUrl: `http://127.0.0.1:${port}`, ...FREE_PORTS },
  );
  const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    return { code: await doctor(config), text: written.mock.calls.map(([line]) => String(line)).join('') };
  } finally {
    written.mockRestore();
  }
}

const FREE_PORTS = { orderbookPort: 0, gatewayPort: 0, historyPort: 0, metricsPort: 0, pagePort: 0 };

it('finds nothing missing with a node, and creates no log', async () => {
  answer = { status: 200, body: '{"result":{"solana-core":"3.0.0"}}' };
  const { code, text } = await diagnose(`http://127.0.0.1:${port}/`);
  expect(text).toContain('ok   RPC: {"solana-core":"3.0.0"}');
  expect(text).toContain('ok   event log: embedded, created at the first start');
  expect(code).toBe(0);
  expect(existsSync(dataDir)).toBe(false);
});

it.each([
  ['a server that is no node', 200, '{}', 'does not answer getVersion: no Solana node'],
  ['a page', 200, '<html>', 'does not answer getVersion: no Solana node'],
  ['a refusal', 401, `no such key: ${SECRET}`, 'answers 401'],
  [
    'a JSON-RPC error',
    403,
    `{"error":{"code":-32052,"message":"bad key ${SECRET}"}}`,
    'answers getVersion with error -32052',
  ],
])('explains %s instead of a node, without its key', async (_, status, body, finding) => {
  answer = { status, body };
  const { code, text } = await diagnose(`http://127.0.0.1:${port}/${SECRET}?key=${SECRET}`);
  expect(text).toContain(`MISS RPC: ${finding}\n`);
  expect(text).not.toContain(SECRET);
  expect(code).toBe(1);
});

it.each([
  ['is unreachable', `http://127.0.0.1:9/${SECRET}`],
  ['holds a password', `http://user:${SECRET}@127.0.0.1:9/`],
])('prints no secret of an address that %s', async (_, rpcUrl) => {
  const { code, text } = await diagnose(rpcUrl);
  expect(text).toMatch(/^MISS RPC: ./m);
  expect(text).not.toContain(SECRET);
  expect(code).toBe(1);
});

it('checks the configured schema registry, changes nothing in it, and prints no secret of its address', async () => {
  answer = { status: 200, body: '{"result":{}}' };
  const node = `http://127.0.0.1:${port}/`;
  const registry = new TestRegistry();
  await registry.start();
  registry.add('one', '{}');
  expect((await diagnose(node, registry.url)).text).toContain('ok   schema registry: 1 subjects');
  await registry.stop();
  const { code, text } = await diagnose(node, `http://user:${SECRET}@127.0.0.1:9/`);
  expect(text).toMatch(/^MISS schema registry: schema registry http:\/\/127.0.0.1:9 does not answer/m);
  expect(text).not.toContain(SECRET);
  expect(code).toBe(1);
});
