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
import { eventIdsOf, SourceReading } from '../test/support/ingest/source-reading.ts';
import { until } from '../test/support/platform/eventually.ts';
import { PubSub } from './rpc/pubsub.ts';
import { RpcSource, type RpcSourceOptions } from './rpc.ts';
import type { SourceUpdate } from './source.ts';

const definition = loadDefinition('velocity');
const logger = silentLogger();
/** A tenth of the product's interval: a resume point follows an audit. */
const AUDIT_MS = 500;

function sourceOf(net: RunningLocalnet, options: Partial<RpcSourceOptions> = {}): RpcSource {
  const urls = { rpcUrls: [net.rpcUrl], wsUrls: [net.wsUrl] };
  return new RpcSource({ ...urls, definition, logger, silenceMs: 60_000, auditMs: AUDIT_MS, ...options });
}

async function control(net: RunningLocalnet, method: string, params: unknown): Promise<void> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const response = await fetch(net.rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  expect(await response.json()).not.toHaveProperty('error');
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
  /** Advances in several steps, so that notifications arrive in between. */
  const step = async (running: RunningLocalnet, slots: number) => {
    for (let at = 0; at < slots; at += 5) {
      await running.step(Math.min(5, slots - at));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const complete = (running: RunningLocalnet, read: SourceReading) =>
    read.until('all events', () => read.eventIds().length >= running.exchange.events(0, 1e6).length);

  it('reads all accounts and delivers each transaction once: past, live, or missed without a connection', async () => {
    const running = await open();
    await step(running, 30);
    reading = new SourceReading(sourceOf(running));
    const read = reading;
    await read.until('progress', () => read.of('progress').length > 0);
    await read.until('accounts', () => read.of('snapshotEnd').length > 0);
    await step(running, 20);
    await control(running, 'localnet_dropConnections', {});
    await step(running, 20);
    await read.until('second snapshot', () => read.of('snapshotEnd').length === 2);
    await complete(running, read);
    await step(running, 20);
    await complete(running, read);
    const ids = read.eventIds();
    const truth = running.exchange.events(0, 1e6).map(({ signature, index }) => `${signature} ${index}`);
    expect(new Set(ids)).toEqual(new Set(truth));
    expect(ids.length).toBe(truth.length);
    expect(read.of('reconnect').length).toBe(1);
    expect(read.of('gap').map(({ filled }) => filled)).toEqual([false, true]);
    expect(new Set(read.of('gap').map(({ fromSlot }) => fromSlot)).size).toBe(1);
    const slots = read.of('slot').map(({ slot }) => slot);
    await read.until('last slot', () => read.of('slot').at(-1)?.slot === running.ledger.tipSlot);
    expect(slots).toEqual([...slots].sort((a, b) => a - b));
    expect(read.orders().length).toBe(running.exchange.restingOrders().length);
  });

  it('subscribes again when the node falls silent while the chain continues', async () => {
    const running = await open();
    reading = new SourceReading(sourceOf(running, { silenceMs: 1_500 }));
    const read = reading;
    await read.until('progress', () => read.of('progress').length > 0);
    await read.until('accounts', () => read.of('snapshotEnd').length > 0);
    // The session judges silence by the slots that the node announced before.
    const labels = read.of('slot').length;
    await step(running, 3);
    await read.until('a slot', () => read.of('slot').length > labels);
    await control(running, 'localnet_silence', { ms: 60_000 });
    await step(running, 20);
    await read.until('a lost connection', () => read.of('reconnect').length > 0);
    await control(running, 'localnet_silence', { ms: 0 });
    await read.until('another snapshot', () => read.of('snapshotEnd').length >= 2);
    await complete(running, read);
    expect(read.of('reconnect')[0]?.reason).toContain('no slot for 1500 ms');
    expect(read.eventIds().length).toBe(running.exchange.events(0, 1e6).length);
  });

  it('stays connected when the chain itself stops, even with unconfirmed slots', async () => {
    const running = await open();
    await step(running, 40);
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

  it('begins a margin before the resume point', async () => {
    const running = await open();
    await step(running, 80);
    reading = new SourceReading(sourceOf(running));
    const first = reading;
    await first.until('progress', () => first.of('progress').length > 0);
    await first.stop();
    const resume = first.of('progress').at(-1)?.resume ?? null;
    expect(resume?.slot).toBe(running.ledger.tipSlot);
    await step(running, 10);
    reading = new SourceReading(sourceOf(running), resume);
    const second = reading;
    await second.until('progress', () => second.of('progress').length > 0);
    const slots = second.of('transaction').map(({ slot }) => slot);
    expect(Math.min(...slots)).toBeGreaterThanOrEqual((resume?.slot ?? 0) - 64);
    expect(Math.max(...slots)).toBeGreaterThan(resume?.slot ?? 0);
    const later = running.exchange.events(0, 1e6).filter(({ slot }) => slot > (resume?.slot ?? 0));
    const ids = new Set(second.eventIds());
    expect(later.every(({ signature, index }) => ids.has(`${signature} ${index}`))).toBe(true);
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
    await step(running, 5);
    await read.until('the oracle that is named now', () => updatesOf(later) > 0);
  });

  it('starts over on another chain', async () => {
    const running = await open();
    await step(running, 10);
    reading = new SourceReading(sourceOf(running), { slot: 1e9, signatures: {}, chain: 'another' });
    const read = reading;
    await read.until('progress', () => read.of('progress').length > 0);
    expect(read.eventIds().length).toBe(running.exchange.events(0, 1e6).length);
  });

  it('drops the connection to bound memory when nobody takes its updates', async () => {
    const running = await open();
    const source = sourceOf(running, { queueMax: 500 });
    const stop = new AbortController();
    const updates: SourceUpdate[] = [];
    let held = true;
    const done = (async () => {
      for await (const batch of source.updates(null, stop.signal)) {
        updates.push(...batch);
        const has = (kind: SourceUpdate['kind']) => updates.some((one) => one.kind === kind);
        while (held && has('progress') && has('snapshotEnd')) {
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
      }
    })();
    try {
      await until(() => updates.some(({ kind }) => kind === 'progress'));
      await until(() => updates.some(({ kind }) => kind === 'snapshotEnd'));
      await step(running, 60);
      held = false;
      const ids = () => eventIdsOf(updates).length;
      await until(() => ids() >= running.exchange.events(0, 1e6).length);
      expect(ids()).toBe(running.exchange.events(0, 1e6).length);
      await until(() => updates.some((one) => one.kind === 'reconnect' && one.reason.includes('too slowly')));
    } finally {
      stop.abort();
      await done;
    }
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
