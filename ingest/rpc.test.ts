import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Connection } from '@solana/web3.js';
import bs58 from 'bs58';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { WebSocketServer } from 'ws';
import { type Exchange, type LedgerAccount, type RunningLocalnet, startLocalnet } from '../localnet/index.ts';
import { silentLogger } from '../platform/index.ts';
import { eventually, until } from '../platform/testing/eventually.ts';
import { loadDefinition } from '../schemas/index.ts';
import { compileEvents } from './decode/events.ts';
import { decodeTransaction } from './decode/transaction.ts';
import { compileReaders, Differ } from './differ.ts';
import { userAddress } from './role.ts';
import { PubSub } from './rpc/pubsub.ts';
import { RpcSource, type RpcSourceOptions } from './rpc.ts';
import type { ResumePoint, SourceUpdate } from './source.ts';
import { PERP } from './testing/accounts.ts';
import { blankAccount, setField } from './testing/bytes.ts';

const definition = loadDefinition('velocity');
const logger = silentLogger();

/** Reads a source in the background. */
class Reading {
  readonly updates: SourceUpdate[] = [];
  readonly #stop = new AbortController();
  readonly #done: Promise<void>;

  constructor(source: RpcSource, resume: ResumePoint | null = null) {
    this.#done = (async () => {
      for await (const batch of source.updates(resume, this.#stop.signal)) this.updates.push(...batch);
    })();
  }

  of<K extends SourceUpdate['kind']>(kind: K): Extract<SourceUpdate, { kind: K }>[] {
    return this.updates.filter((update): update is Extract<SourceUpdate, { kind: K }> => update.kind === kind);
  }

  async until(what: string, holds: () => boolean): Promise<void> {
    await eventually(() => {
      if (!holds()) throw new Error(`waited in vain for ${what}`);
    });
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#done;
  }
}

function sourceOf(net: RunningLocalnet, options: Partial<RpcSourceOptions> = {}): RpcSource {
  return new RpcSource({ rpcUrl: net.rpcUrl, wsUrl: net.wsUrl, definition, logger, silenceMs: 60_000, ...options });
}

async function control(net: RunningLocalnet, method: string, params: unknown): Promise<void> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const response = await fetch(net.rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  expect(await response.json()).not.toHaveProperty('error');
}

const decoder = compileEvents(definition);
function eventIds(updates: readonly SourceUpdate[]): string[] {
  return updates.flatMap((update) =>
    update.kind === 'transaction' && !update.failed
      ? decodeTransaction(update, decoder).events.map((_, index) => `${update.signature} ${index}`)
      : [],
  );
}

/** Orders that the differ's messages lead to, as the localnet names them. */
function ordersOf(updates: readonly SourceUpdate[]): string[] {
  const differ = new Differ(compileReaders(definition), userAddress(definition));
  const orders = new Set<string>();
  const take: Parameters<Differ['account']>[1] = (output) => {
    if (output.name !== 'BookOrders') return;
    const { source, marketType, marketIndex } = output.value;
    const id = (maker: Uint8Array, orderId: number) =>
      `${source} ${marketType}-${marketIndex} ${Buffer.from(maker).toString('hex')} ${orderId}`;
    for (const { maker, orderId } of output.value.removals) orders.delete(id(maker, orderId));
    for (const { maker, orderId } of output.value.upserts) orders.add(id(maker, orderId));
  };
  for (const update of updates) {
    if (update.kind === 'account') differ.account(update, take);
    else if (update.kind === 'snapshotBegin') differ.snapshotBegin();
    else if (update.kind === 'snapshotEnd') differ.snapshotEnd(update.slot, take);
  }
  return [...orders];
}

/** A chain on which nothing happens but these writes, one to a slot. */
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

describe('RPC source over the localnet', { timeout: 120_000 }, () => {
  let net: RunningLocalnet | undefined;
  let reading: Reading | undefined;
  afterEach(async () => {
    await reading?.stop();
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
  /** Steps in several goes, so that notifications arrive between them. */
  const step = async (running: RunningLocalnet, slots: number) => {
    for (let at = 0; at < slots; at += 5) {
      await running.step(Math.min(5, slots - at));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const complete = (running: RunningLocalnet, read: Reading) =>
    read.until('all events', () => eventIds(read.updates).length >= running.exchange.events(0, 1e6).length);

  it('reads all accounts, then gives each transaction once, whether it came before, live or through a lost connection', async () => {
    const running = await open();
    await step(running, 30);
    reading = new Reading(sourceOf(running));
    const read = reading;
    await read.until('progress', () => read.of('progress').length > 0);
    await step(running, 20);
    // The first attempt after the loss fails while it reads back.
    vi.spyOn(Connection.prototype, 'getFirstAvailableBlock').mockRejectedValueOnce(new Error('node is away'));
    await control(running, 'localnet_dropConnections', {});
    await step(running, 20);
    await read.until('third snapshot', () => read.of('snapshotEnd').length === 3);
    await complete(running, read);
    await step(running, 20);
    await complete(running, read);
    const ids = eventIds(read.updates);
    const truth = running.exchange.events(0, 1e6).map(({ signature, index }) => `${signature} ${index}`);
    expect(new Set(ids)).toEqual(new Set(truth));
    expect(ids.length).toBe(truth.length);
    expect(read.of('reconnect').length).toBe(2);
    expect(read.of('gap').map(({ filled }) => filled)).toEqual([false, false, true]);
    expect(new Set(read.of('gap').map(({ fromSlot }) => fromSlot)).size).toBe(1);
    const slots = read.of('slot').map(({ slot }) => slot);
    await read.until('last slot', () => read.of('slot').at(-1)?.slot === running.ledger.tipSlot);
    expect(slots).toEqual([...slots].sort((a, b) => a - b));
    expect(ordersOf(read.updates).length).toBe(running.exchange.restingOrders().length);
  });

  it('subscribes again when the node falls silent while the chain goes on', async () => {
    const running = await open();
    reading = new Reading(sourceOf(running, { silenceMs: 300 }));
    const read = reading;
    await read.until('progress', () => read.of('progress').length > 0);
    await control(running, 'localnet_silence', { ms: 60_000 });
    await step(running, 20);
    await read.until('a lost connection', () => read.of('reconnect').length > 0);
    await control(running, 'localnet_silence', { ms: 0 });
    await read.until('another snapshot', () => read.of('snapshotEnd').length >= 2);
    await complete(running, read);
    expect(read.of('reconnect')[0]?.reason).toContain('no slot for 300 ms');
    expect(eventIds(read.updates).length).toBe(running.exchange.events(0, 1e6).length);
  });

  it('stays connected when the chain itself stands still, also with slots that are not confirmed', async () => {
    const running = await open();
    await step(running, 40);
    const asked = vi.spyOn(Connection.prototype, 'getSlot');
    reading = new Reading(sourceOf(running, { silenceMs: 50, accountCommitment: 'finalized' }));
    const read = reading;
    await read.until('progress', () => read.of('progress').length > 0);
    const before = asked.mock.calls.length;
    await read.until('several questions', () => asked.mock.calls.length >= before + 4);
    expect(read.of('reconnect')).toEqual([]);
    asked.mockRestore();
  });

  it('begins at the resume point, less a margin', async () => {
    const running = await open();
    await step(running, 80);
    reading = new Reading(sourceOf(running));
    const first = reading;
    await first.until('progress', () => first.of('progress').length > 0);
    await first.stop();
    const resume = first.of('progress').at(-1)?.resume ?? null;
    expect(resume?.slot).toBe(running.ledger.tipSlot);
    await step(running, 10);
    reading = new Reading(sourceOf(running), resume);
    const second = reading;
    await second.until('progress', () => second.of('progress').length > 0);
    const slots = second.of('transaction').map(({ slot }) => slot);
    expect(Math.min(...slots)).toBeGreaterThanOrEqual((resume?.slot ?? 0) - 64);
    expect(Math.max(...slots)).toBeGreaterThan(resume?.slot ?? 0);
    const later = running.exchange.events(0, 1e6).filter(({ slot }) => slot > (resume?.slot ?? 0));
    const ids = new Set(eventIds(second.updates));
    expect(later.every(({ signature, index }) => ids.has(`${signature} ${index}`))).toBe(true);
  });

  it('says which blocks the node no longer has', async () => {
    const silent = exchangeOf([]);
    net = await startLocalnet({ rpcPort: 0, wsPort: 0, speed: 0, retainedBlocks: 10, createExchange: () => silent });
    const running = net;
    await running.step(400);
    const chain = running.ledger.genesisHash;
    const from = running.ledger.genesisSlot + 5;
    reading = new Reading(sourceOf(running), { slot: from, signatures: {}, chain });
    const read = reading;
    await read.until('progress', () => read.of('progress').length > 0);
    const gaps = read.of('gap').map(({ fromSlot, filled, reason }) => [fromSlot, filled, reason]);
    expect(gaps).toEqual([
      [from, false, 'not connected'],
      [from, false, 'the node no longer has these blocks'],
    ]);
  });

  it('reads oracles of other programs again and again, also one that a market names only later', async () => {
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
    reading = new Reading(sourceOf(running, { auditMs: 50 }));
    const read = reading;
    const told = (key: Uint8Array | undefined) =>
      read.of('account').filter(({ pubkey }) => Buffer.compare(pubkey, key ?? new Uint8Array()) === 0).length;
    await read.until('another read of the oracle', () => told(oracle) > 1);
    expect(told(later)).toBe(0);
    await step(running, 5);
    await read.until('the oracle that is named now', () => told(later) > 0);
  });

  it('begins anew on another chain', async () => {
    const running = await open();
    await step(running, 10);
    reading = new Reading(sourceOf(running), { slot: 1e9, signatures: {}, chain: 'another' });
    const read = reading;
    await read.until('progress', () => read.of('progress').length > 0);
    expect(eventIds(read.updates).length).toBe(running.exchange.events(0, 1e6).length);
  });

  it('gives up the connection rather than the memory when nobody takes its updates', async () => {
    const running = await open();
    const source = sourceOf(running, { queueMax: 500 });
    const stop = new AbortController();
    const updates: SourceUpdate[] = [];
    let held = true;
    const done = (async () => {
      for await (const batch of source.updates(null, stop.signal)) {
        updates.push(...batch);
        while (held && updates.some(({ kind }) => kind === 'progress')) {
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
      }
    })();
    try {
      await until(() => updates.some(({ kind }) => kind === 'progress'));
      await step(running, 60);
      held = false;
      await until(() => eventIds(updates).length >= running.exchange.events(0, 1e6).length);
      expect(eventIds(updates).length).toBe(running.exchange.events(0, 1e6).length);
      expect(updates.some((update) => update.kind === 'reconnect' && update.reason.includes('fast enough'))).toBe(true);
    } finally {
      stop.abort();
      await done;
    }
  });
});

describe('PubSub connection', () => {
  it('reports garbage frames and goes on, and says once when the connection is gone', async () => {
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
