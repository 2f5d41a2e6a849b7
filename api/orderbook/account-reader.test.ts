import { createServer, type Server } from 'node:http';
import { afterEach, expect, it } from 'vitest';
import { boundPort } from '../hosts.ts';
import { rpcAccountReader } from './account-reader.ts';

let server: Server | undefined;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** A JSON-RPC server that answers each call with `answer(addresses)`; resolves to its URL. */
async function rpc(answer: (addresses: string[]) => string): Promise<string> {
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => {
      body += part;
    });
    request.on('end', () => response.end(answer(JSON.parse(body).params[0])));
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${boundPort(server.address())}`;
}

it('reads accounts in calls of 100, null for those that do not exist', async () => {
  const calls: number[] = [];
  const url = await rpc((addresses) => {
    calls.push(addresses.length);
    const value = addresses.map((address) => (address === 'k1' ? null : { data: [`${address}==`, 'base64'] }));
    return JSON.stringify({ jsonrpc: '2.0', id: 1, result: { context: { slot: 1 }, value } });
  });
  const keys = Array.from({ length: 150 }, (_, index) => `k${index}`);
  const found = await rpcAccountReader(url).read(keys);
  expect(calls).toEqual([100, 50]);
  expect([found.length, found[0], found[1], found[149]]).toEqual([150, 'k0==', null, 'k149==']);
});

it('answers null for every account when the chain gives an error, nonsense or nothing', async () => {
  const url = await rpc(([first]) => (first === 'a' ? '{"error":{"code":-32005}}' : 'no json'));
  expect(await rpcAccountReader(url).read(['a'])).toEqual([null]);
  expect(await rpcAccountReader(url).read(['b', 'c'])).toEqual([null, null]);
  expect(await rpcAccountReader('http://127.0.0.1:1').read(['a'])).toEqual([null]);
  expect(await rpcAccountReader('').read(['a'])).toEqual([null]);
});
