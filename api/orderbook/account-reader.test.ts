import { createServer, type Server } from 'node:http';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { boundPort } from '../../platform/index.ts';
import { until } from '../../test/support/api/stage.ts';
import { type AccountReader, CACHE_MS, MAX_WAITING, rpcAccountReader } from './account-reader.ts';

interface Call {
  readonly addresses: string[];
  readonly config: Record<string, unknown>;
  readonly respond: (body: string) => void;
}

let server: Server | undefined;
let calls: Call[];
let nowMs: number;
let metrics: Registry;
let lines: { readonly failures: number }[];

beforeEach(() => {
  calls = [];
  lines = [];
  nowMs = 1_783_268_433_645;
  metrics = new Registry();
});

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** A JSON-RPC server that answers each call with `answer(addresses)`, or gives no answer on demand. */
async function rpc(answer: (addresses: string[]) => string | null): Promise<string> {
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => {
      body += part;
    });
    request.on('end', () => {
      const [addresses, config] = JSON.parse(body).params;
      calls.push({ addresses, config, respond: (text) => response.end(text) });
      const text = answer(addresses);
      if (text !== null) response.end(text);
    });
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${boundPort(server.address())}`;
}

function reader(rpcUrl: string): AccountReader {
  const logger = pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  return rpcAccountReader({ rpcUrl, metrics, logger, clock: () => nowMs });
}

/** Each account's bytes are its name. `k1` does not exist. */
const found = (addresses: string[]): string => {
  const value = addresses.map((address) => (address === 'k1' ? null : { data: [`${address}==`, 'base64'] }));
  return JSON.stringify({ jsonrpc: '2.0', id: 1, result: { context: { slot: 1 }, value } });
};
const keys = (count: number, from = 0) => Array.from({ length: count }, (_, index) => `k${from + index}`);

/** The non-zero counts of outcomes. */
async function outcomes(): Promise<Record<string, number>> {
  const { values } = (await metrics.getSingleMetric('slotbook_account_reads_total')?.get()) ?? { values: [] };
  const happened = values.filter(({ value }) => value > 0);
  return Object.fromEntries(happened.map(({ labels, value }) => [String(labels.outcome), value]));
}

it('reads accounts at `confirmed`, in calls of 100, null for an account that does not exist', async () => {
  const bytes = await reader(await rpc(found)).read(keys(150));
  expect(calls.map(({ addresses }) => addresses.length).sort()).toEqual([100, 50].sort());
  expect(calls[0]?.config).toEqual({ encoding: 'base64', commitment: 'confirmed' });
  expect([bytes.length, bytes[0], bytes[1], bytes[149]]).toEqual([150, 'k0==', null, 'k149==']);
});

it('shares one call among concurrent requests, and calls again only after a slot', async () => {
  const accounts = reader(await rpc(found));
  const asked = [accounts.read(['a', 'b']), accounts.read(['b', 'a']), accounts.read(['a'])];
  expect(await Promise.all(asked)).toEqual([['a==', 'b=='], ['b==', 'a=='], ['a==']]);
  nowMs += CACHE_MS - 1;
  expect(await accounts.read(['b', 'c'])).toEqual(['b==', 'c==']);
  expect(calls.map(({ addresses }) => addresses)).toEqual([['a', 'b'], ['c']]);
  nowMs += 1;
  await accounts.read(['a', 'c']);
  expect(calls[2]?.addresses).toEqual(['a']);
  expect(await outcomes()).toEqual({ read: 4, kept: 5 });
});

it('runs at most 4 calls and lets one more round wait; beyond that accounts are null', async () => {
  const accounts = reader(await rpc(() => null));
  const first = accounts.read(keys(MAX_WAITING));
  await until(() => calls.length === 4);
  const second = accounts.read(keys(MAX_WAITING, MAX_WAITING));
  expect(await accounts.read(['late'])).toEqual([null]);
  expect(calls).toHaveLength(4);
  for (const call of calls) call.respond(found(call.addresses));
  expect((await first)[MAX_WAITING - 1]).toBe(`k${MAX_WAITING - 1}==`);
  await until(() => calls.length === 8);
  for (const call of calls.slice(4)) call.respond(found(call.addresses));
  expect((await second)[0]).toBe(`k${MAX_WAITING}==`);
  expect(await outcomes()).toEqual({ read: 2 * MAX_WAITING, busy: 1 });
});

it('answers null after the client’s timeout, even when other requests occupied the calls', async () => {
  const accounts = reader(await rpc(() => null));
  const first = accounts.read(keys(MAX_WAITING));
  await until(() => calls.length === 4);
  const second = accounts.read(['late']);
  nowMs += 2500;
  for (const call of calls) call.respond(found(call.addresses));
  expect([(await first)[0], await second]).toEqual(['k0==', [null]]);
  expect(await outcomes()).toEqual({ read: MAX_WAITING, failed: 1 });
});

it('answers null, counts, and logs once in ten seconds when the node answers an error, nonsense or nothing', async () => {
  const accounts = reader(await rpc(([first]) => (first === 'a' ? '{"error":{"code":-32005}}' : 'no json')));
  expect(await accounts.read(['a'])).toEqual([null]);
  expect(await accounts.read(['b', 'c'])).toEqual([null, null]);
  expect(lines.map(({ failures }) => failures)).toEqual([1]);
  nowMs += 10_000;
  expect(await accounts.read(['a'])).toEqual([null]);
  expect(lines.map(({ failures }) => failures)).toEqual([1, 2]);
  expect(await outcomes()).toEqual({ failed: 4 });
});

it('answers null for every account when no node listens, or none is configured', async () => {
  expect(await reader('http://127.0.0.1:1').read(['a'])).toEqual([null]);
  metrics = new Registry();
  expect(await reader('').read(['a'])).toEqual([null]);
});
