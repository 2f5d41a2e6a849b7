import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import bs58 from 'bs58';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { type Exchange, type LedgerAccount, type RunningLocalnet, startLocalnet } from '../localnet/index.ts';
import { silentLogger } from '../platform/index.ts';
import { loadDefinition } from '../schemas/index.ts';
import { PERP } from '../test/support/ingest/accounts.ts';
import { blankAccount, setField } from '../test/support/ingest/bytes.ts';
import { FaultyNode } from '../test/support/ingest/faulty-node.ts';
import { SourceReading } from '../test/support/ingest/source-reading.ts';
import { stepInTurns } from '../test/support/localnet/step-in-turns.ts';
import { PubSub } from './rpc/pubsub.ts';
import { RpcSource, type RpcSourceOptions } from './rpc.ts';

const definition = loadDefinition('velocity');
const logger = silentLogger();
/** A tenth of the product's interval: a resume point follows an audit. */
const AUDIT_MS = 500;

function sourceOf(net: RunningLocalnet, options: Partial<RpcSourceOptions> = {}): RpcSource {
  const urls = { rpcUrls: [net.rpcUrl], wsUrls: [net.wsUrl] };
  return new RpcSource({ ...urls, definition, logger, silenceMs: 60_000, auditMs: AUDIT_MS, ...options });
}

/** A chain whose only activity is these writes, one per slot. */
function exchangeOf(genesis: readonly LedgerAccount[], writes: readonly LedgerAccount[] = []): Exchange {
  let slot = 1000;
  const left = [...writes];
  const block = (account: LedgerAccount) => {
    const signature = bs58.encode(new Uint8Array(64).fill(slot & 0xff));
    const accountKeys = [account.pubkey, account.owner];
    return [{ signature, err: null, logMessages: [], accountKeys, writes: [account] }];
  };
  return {
    nextBlock: () => ({ slot: ++slot, blockTime: slot, transactions: left.splice(0, 1).flatMap(block) }),
    genesis: () => genesis,
    restingOrders: () => [],
    markets: () => [],
    vaults: () => [],
    events: () => [],
    eventCounts: () => ({}),
    snapshot: () => null,
  };
}

describe('RPC source over the localnet', () => {
  let net: RunningLocalnet | undefined;
  let reading: SourceReading | undefined;
  let node: FaultyNode | undefined;
  afterEach(async () => {
    await reading?.stop();
    await node?.close();
    node = undefined;
    await net?.stop();
    net = undefined;
    reading = undefined;
  });
  const open = async () => {
    net = await startLocalnet({
      rpcPort: 0,
      wsPort: 0,
      speed: 0,
      seed: 5,
      keepEvents: true,
      accounts: 16,
      ordersPerMarket: 8,
    });
    return net;
  };
  it('stays connected when the chain itself stops, even with unconfirmed slots', async () => {
    const running = await open();
    await stepInTurns(running, 40);
    node = await FaultyNode.open(running.rpcUrl);
    const { asked } = node;
    reading = new SourceReading(
      sourceOf(running, { rpcUrls: [node.url], silenceMs: 50, accountCommitment: 'finalized' }),
    );
    const read = reading;
    await read.until('progress', () => read.of('progress').length > 0);
    const before = asked.get('getSlot') ?? 0;
    await read.until('several questions', () => (asked.get('getSlot') ?? 0) >= before + 4);
    expect(read.of('reconnect')).toEqual([]);
  });

  it('reads accounts once the stream has begun, at its slot or later, so that one read is enough', async () => {
    const running = await open();
    await stepInTurns(running, 20);
    const oldest = running.ledger.tipSlot;
    node = await FaultyNode.open(running.rpcUrl);
    const asked: unknown[] = [];
    for (const method of ['getProgramAccountsV2', 'getProgramAccounts']) {
      node.on(method, ([, config], next) => {
        asked.push((config as { readonly minContextSlot?: number }).minContextSlot);
        return next();
      });
    }
    reading = new SourceReading(sourceOf(running, { rpcUrls: [node.url] }));
    const read = reading;
    while (read.of('snapshotEnd').length === 0) await stepInTurns(running, 5);
    expect(asked.length).toBeGreaterThan(0);
    for (const slot of asked) expect(Number(slot)).toBeGreaterThanOrEqual(oldest);
  });

  it('reports the blocks that the node no longer has', async () => {
    const silent = exchangeOf([]);
    net = await startLocalnet({ rpcPort: 0, wsPort: 0, speed: 0, retainedBlocks: 10, createExchange: () => silent });
    const running = net;
    await running.step(400);
    const chain = running.ledger.genesisHash;
    const from = running.ledger.genesisSlot + 5;
    reading = new SourceReading(sourceOf(running), { slot: from, signatures: {}, chain });
    const read = reading;
    await read.until('progress', () => read.of('progress').length > 0);
    const gaps = read.of('gap').map(({ fromSlot, filled, reason }) => [fromSlot, filled, reason]);
    expect(gaps).toEqual([
      [from, false, 'not connected'],
      [from, false, 'the node no longer has these blocks'],
    ]);
  });

  it('keeps reading oracles of other programs, including one that a market names later', async () => {
    const [marketKey, oracle, later, program] = [1, 2, 3, 4].map((fill) => new Uint8Array(32).fill(fill));
    const text = (key: Uint8Array | undefined) => bs58.encode(key ?? []);
    const marketWith = (key: Uint8Array | undefined): LedgerAccount => {
      const data = blankAccount(PERP);
      setField(data, PERP.layout, 'oracle', key ?? new Uint8Array(32));
      return { pubkey: text(marketKey), owner: text(PERP.owner), lamports: 1, data };
    };
    const oracleAt = (key: Uint8Array | undefined): LedgerAccount => {
      return { pubkey: text(key), owner: text(program), lamports: 1, data: Buffer.alloc(8, 1) };
    };
    const exchange = exchangeOf(
      [marketWith(oracle), oracleAt(oracle), oracleAt(later)],
      [marketWith(oracle), marketWith(later)],
    );
    net = await startLocalnet({ rpcPort: 0, wsPort: 0, speed: 0, createExchange: () => exchange });
    const running = net;
    reading = new SourceReading(sourceOf(running, { auditMs: 50 }));
    const read = reading;
    const updatesOf = (key: Uint8Array | undefined) =>
      read.of('account').filter(({ pubkey }) => Buffer.compare(pubkey, key ?? new Uint8Array()) === 0).length;
    await read.until('another read of the oracle', () => updatesOf(oracle) > 1);
    expect(updatesOf(later)).toBe(0);
    await stepInTurns(running, 5);
    await read.until('the oracle that is named now', () => updatesOf(later) > 0);
  });
});

describe('PubSub connection', () => {
  it('reports garbage frames and continues, and reports the end of the connection once', async () => {
    const server = createServer();
    const sockets = new WebSocketServer({ server });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    sockets.on('connection', (socket) => {
      socket.on('message', (data) => {
        const { id } = JSON.parse(data.toString()) as { id: number };
        socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: 77 }));
        socket.send('not json');
        socket.send('null');
        socket.send(
          JSON.stringify({ jsonrpc: '2.0', method: 'slotNotification', params: { subscription: 5, result: 1 } }),
        );
        socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'slotNotification', params: { subscription: 77 } }));
        const result = { slot: 9 };
        socket.send(
          JSON.stringify({ jsonrpc: '2.0', method: 'slotNotification', params: { subscription: 77, result } }),
        );
        socket.close();
      });
    });
    const garbage: string[] = [];
    const slots: number[] = [];
    let closings = 0;
    const closed = new Promise<void>((resolve) => {
      const { port } = server.address() as AddressInfo;
      void PubSub.open(`ws://127.0.0.1:${port}`, {
        garbage: (_, __, bytes) => garbage.push(Buffer.from(bytes).toString()),
        closed: () => {
          closings += 1;
          resolve();
        },
      }).then((pubsub) =>
        pubsub.subscribe('slotSubscribe', [], (result) => slots.push((result as { readonly slot: number }).slot)),
      );
    });
    await closed;
    expect(garbage.length).toBe(4);
    expect(garbage[0]).toBe('not json');
    expect(slots).toEqual([9]);
    expect(closings).toBe(1);
    sockets.close();
    server.close();
  });
});
