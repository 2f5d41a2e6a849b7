// Logs that one node cut and another one has whole.

import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../platform/index.ts';
import { loadDefinition } from '../../schemas/index.ts';
import { FaultyNode } from '../../test/support/ingest/faulty-node.ts';
import { RpcSource } from '../rpc.ts';
import type { AccountStream } from './account-stream.ts';
import { RequestBudget } from './budget.ts';
import { REAL_CLOCK } from './clock.ts';
import { Endpoint } from './endpoint.ts';
import { JsonRpc } from './json-rpc.ts';
import { Nodes } from './nodes.ts';

const PROGRAM = 'exchange';
const SLOT = 7;
const WHOLE = ['Program log: begins', 'Program log: ends'];
const CUT = ['Program log: begins', 'Log truncated'];

interface Transaction {
  readonly logs: readonly string[];
  readonly err?: unknown;
}

describe('a cut log', () => {
  const open: FaultyNode[] = [];
  afterEach(async () => {
    for (const node of open.splice(0)) await node.close();
  });

  /** A node with one transaction, null for none, that answers a request for its block after a time. */
  const nodeOf = async (transaction: Transaction | null, blockMs = 0) => {
    const node = await FaultyNode.open(null);
    open.push(node);
    const meta = transaction && { err: transaction.err ?? null, logMessages: transaction.logs };
    node.on('getTransaction', () => ({ result: meta && { slot: SLOT, meta } }));
    const signed = { signatures: ['signature'], message: { accountKeys: [PROGRAM] } };
    node.on('getBlock', async () => {
      await delay(blockMs);
      return { result: meta && { transactions: [{ transaction: signed, meta }] } };
    });
    return node;
  };
  const rpcOf = (...nodes: readonly FaultyNode[]) => {
    const endpoints = nodes.map(({ url }) => new Endpoint(url, new RequestBudget(0, REAL_CLOCK), REAL_CLOCK));
    return new JsonRpc(
      new Nodes(endpoints, 'confirmed', new AbortController().signal, REAL_CLOCK),
      {} as AccountStream,
    );
  };
  const logsOf = async (rpc: JsonRpc) => {
    const [one] = await rpc.transactions(['signature'], 'confirmed');
    return one?.found?.logs ?? null;
  };
  const blockLogsOf = async (rpc: JsonRpc) =>
    (await rpc.block(SLOT, [PROGRAM], { commitment: 'confirmed' }))?.transactions.map(({ logs }) => logs);

  it('is read whole from the next node that has it', async () => {
    const rpc = rpcOf(await nodeOf({ logs: CUT }), await nodeOf(null), await nodeOf({ logs: WHOLE }));
    expect(await logsOf(rpc)).toEqual(WHOLE);
    expect(await blockLogsOf(rpc)).toEqual([WHOLE]);
  });

  it('counts when no other node has more', async () => {
    const rpc = rpcOf(await nodeOf(null), await nodeOf({ logs: CUT }), await nodeOf(null));
    expect(await logsOf(rpc)).toEqual(CUT);
    expect(await blockLogsOf(rpc)).toEqual([CUT]);
  });

  it('counts soon when another node does not answer, which is then left alone for a while', async () => {
    const silent = await nodeOf(null);
    silent.on('getTransaction', () => new Promise(() => {}));
    const rpc = rpcOf(await nodeOf({ logs: CUT }), silent);
    expect(await logsOf(rpc)).toEqual(CUT);
    expect(await logsOf(rpc)).toEqual(CUT);
    expect(silent.requests).toBe(1);
  });

  it('costs a wait for a silent node once, however often the source fetches one alone', async () => {
    const [cut, silent] = [await nodeOf({ logs: CUT }), await nodeOf(null)];
    silent.on('getTransaction', () => new Promise(() => {}));
    const source = new RpcSource({
      rpcUrls: [cut.url, silent.url],
      wsUrls: [],
      definition: loadDefinition('velocity'),
      logger: silentLogger(),
      silenceMs: 1_000,
    });
    for (const signature of ['first', 'second']) expect((await source.transaction(signature))?.logs).toEqual(CUT);
    expect(silent.requests).toBe(1);
  });

  it('of a block is read whole from a node that answers late, also where it was too slow for live updates', async () => {
    const [cut, late] = [await nodeOf({ logs: CUT }), await nodeOf({ logs: WHOLE }, 1_200)];
    late.on('getTransaction', () => new Promise(() => {}));
    const rpc = rpcOf(cut, late);
    expect(await logsOf(rpc)).toEqual(CUT);
    expect(await blockLogsOf(rpc)).toEqual([WHOLE]);
  });

  it('leaves no node alone because the request was given up', async () => {
    const [cut, silent] = [await nodeOf({ logs: CUT }), await nodeOf(null)];
    silent.on('getTransaction', () => new Promise(() => {}));
    const rpc = rpcOf(cut, silent);
    await rpc.transactions(['signature'], 'confirmed', { signal: AbortSignal.timeout(200) }).catch(() => {});
    await logsOf(rpc);
    expect(silent.requests).toBe(2);
  });

  it('is asked for once at each node, however busy they are', async () => {
    const [first, busy] = [await nodeOf({ logs: CUT }), await nodeOf({ logs: WHOLE })];
    busy.http = () => ({ status: 429, headers: { 'retry-after': '60' } });
    const rpc = rpcOf(first, busy);
    expect(await logsOf(rpc)).toEqual(CUT);
    expect(await logsOf(rpc)).toEqual(CUT);
    expect([first.requests, busy.requests]).toEqual([2, 1]);
  });

  it('of a failed transaction costs no further request', async () => {
    const second = await nodeOf({ logs: WHOLE });
    const rpc = rpcOf(await nodeOf({ logs: CUT, err: { InstructionError: [0, 'Custom'] } }), second);
    await logsOf(rpc);
    await blockLogsOf(rpc);
    expect(second.requests).toBe(0);
  });
});
