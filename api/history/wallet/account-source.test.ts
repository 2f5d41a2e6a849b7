import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import bs58 from 'bs58';
import { afterEach, describe, expect, it } from 'vitest';
import { startLocalnet } from '../../../localnet/server.ts';
import { loadDefinition } from '../../../schemas/index.ts';
import { ask } from '../../../test/support/localnet/test-client.ts';
import { HISTORY_ERRORS, HistoryError } from '../../http/errors.ts';
import { type AccountOwners, RpcAccountSource } from './account-source.ts';

const AUTHORITY = bs58.encode(new Uint8Array(32).fill(5));
const DELEGATE = bs58.encode(new Uint8Array(32).fill(6));
const ACCOUNT = bs58.encode(new Uint8Array(32).fill(7));
const PROGRAM = loadDefinition('velocity').programs[0];
const OWNER = PROGRAM?.programId ?? '';
const DISCRIMINATOR = Buffer.from(PROGRAM?.accounts.get('User')?.discriminator ?? []);
const USER = Buffer.concat([DISCRIMINATOR, bs58.decode(AUTHORITY), bs58.decode(DELEGATE)]);

const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

interface Node {
  readonly url: string;
  /** Params of each call. */
  readonly calls: unknown[][];
  /** Body of the next answers; a promise holds them back. */
  answer: unknown;
}

async function startNode(): Promise<Node> {
  const node = { url: '', calls: [] as unknown[][], answer: null as unknown };
  const server: Server = createServer(async (request, response) => {
    let text = '';
    for await (const part of request.setEncoding('utf8')) text += part;
    const { method, params } = JSON.parse(text);
    node.calls.push([method, ...params]);
    const answer = await node.answer;
    response.end(typeof answer === 'string' ? answer : JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stops.push(() => new Promise((resolve) => server.close(resolve).closeAllConnections()));
  node.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return node;
}

const accountOf = (data: Uint8Array, owner = OWNER) => ({
  result: { value: { owner, data: [Buffer.from(data).toString('base64'), 'base64'] } },
});
const sourceOf = (rpcUrl: string, slot: number | null = null) =>
  new RpcAccountSource({ rpcUrl, definition: 'velocity', ingestedSlot: () => slot });

/** The owners, or status and name of the refusal. */
function outcome(owners: Promise<AccountOwners | null>): Promise<AccountOwners | string | null> {
  return owners.catch((error: unknown) => {
    if (!(error instanceof HistoryError)) throw error;
    return `${HISTORY_ERRORS[error.code].status} ${HISTORY_ERRORS[error.code].error}`;
  });
}

describe('owners of an account', () => {
  it('are read from the cluster', async () => {
    const exchange = await startLocalnet({ rpcPort: 0, wsPort: 0, speed: 0, seed: 7 });
    stops.push(() => exchange.stop());
    const source = sourceOf(exchange.rpcUrl);
    const filters = [{ memcmp: { offset: 0, bytes: bs58.encode(DISCRIMINATOR) } }];
    const config = { encoding: 'base64', filters, commitment: 'confirmed' };
    const users = await ask<{ pubkey: string; account: { data: [string] } }[]>(exchange.rpcUrl, 'getProgramAccounts', [
      OWNER,
      config,
    ]);
    const [user] = users;
    const bytes = Buffer.from(user?.account.data[0] ?? '', 'base64');
    expect(bytes.length).toBeGreaterThan(72);
    expect(await source.owners(user?.pubkey ?? '')).toEqual({
      authority: bs58.encode(bytes.subarray(8, 40)),
      delegate: bs58.encode(bytes.subarray(40, 72)),
    });
    expect(await source.owners(AUTHORITY)).toBeNull();
    expect(await source.owners(OWNER)).toBeNull();
  });

  it('come from a node that has reached the log, so that no removed delegate is read', async () => {
    const node = await startNode();
    node.answer = accountOf(USER);
    expect(await sourceOf(node.url).owners(ACCOUNT)).toEqual({ authority: AUTHORITY, delegate: DELEGATE });
    const config = { encoding: 'base64', commitment: 'confirmed', dataSlice: { offset: 0, length: 72 } };
    expect(node.calls).toEqual([['getAccountInfo', ACCOUNT, config]]);
    await sourceOf(node.url, 1_000).owners(ACCOUNT);
    expect(node.calls[1]).toEqual(['getAccountInfo', ACCOUNT, { ...config, minContextSlot: 968 }]);
    node.answer = { error: { code: -32016, message: 'Minimum context slot has not been reached' } };
    expect(await outcome(sourceOf(node.url, 1_000).owners(ACCOUNT))).toBe('503 RPCError');
  });

  it('are those of User accounts of the program only', async () => {
    const node = await startNode();
    const source = sourceOf(node.url);
    for (const answer of [
      { result: { value: null } },
      accountOf(USER, AUTHORITY),
      accountOf(Buffer.concat([Buffer.alloc(8), USER.subarray(8)])),
      accountOf(USER.subarray(0, 71)),
      accountOf(Buffer.of()),
    ]) {
      node.answer = answer;
      expect(await source.owners(ACCOUNT)).toBeNull();
    }
  });

  it('are refused when the node fails, answers anything else, or is not configured', async () => {
    const node = await startNode();
    for (const answer of ['no json', 'null', {}, { result: {} }, { result: { value: {} } }, { error: {} }]) {
      node.answer = answer;
      expect(await outcome(sourceOf(node.url).owners(ACCOUNT))).toBe('503 RPCError');
    }
    expect(await outcome(sourceOf('http://127.0.0.1:1').owners(ACCOUNT))).toBe('503 RPCError');
    expect(await outcome(sourceOf('').owners(ACCOUNT))).toBe('503 RPCError');
  });

  it('cost one call for requests at the same time, are never kept, and at most 16 calls run', async () => {
    const node = await startNode();
    let release: (answer: unknown) => void = () => {};
    node.answer = new Promise((resolve) => {
      release = resolve;
    });
    const source = sourceOf(node.url);
    const same = [source.owners(ACCOUNT), source.owners(ACCOUNT)];
    const others = Array.from({ length: 15 }, (_, at) => source.owners(bs58.encode(new Uint8Array(32).fill(100 + at))));
    expect(await outcome(source.owners(AUTHORITY))).toBe('503 RPCError');
    release(accountOf(USER));
    expect(await Promise.all(same)).toEqual(Array(2).fill({ authority: AUTHORITY, delegate: DELEGATE }));
    await Promise.all(others);
    expect(node.calls).toHaveLength(16);
    node.answer = { result: { value: null } };
    expect(await source.owners(ACCOUNT)).toBeNull();
  });
});
