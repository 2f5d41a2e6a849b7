// A misbehaving node loses no event without a recorded hole, and stops neither trades nor books.

import { afterEach, describe, expect, it } from 'vitest';
import { type RunningLocalnet, startLocalnet } from '../../localnet/index.ts';
import { silentLogger } from '../../platform/index.ts';
import { loadDefinition } from '../../schemas/index.ts';
import { type Answer, FaultyNode } from '../../test/support/ingest/faulty-node.ts';
import { SourceReading } from '../../test/support/ingest/source-reading.ts';
import { RpcSource, type RpcSourceOptions } from '../rpc.ts';

const definition = loadDefinition('velocity');
/** Slots by which a faulty getSlot is ahead. */
const JUMP_SLOTS = 5_000;

describe('a node with faults', () => {
  let net: RunningLocalnet;
  let node: FaultyNode;
  let second: FaultyNode | undefined;
  let read: SourceReading;

  const start = async (options: Partial<RpcSourceOptions> = {}, urls = [node.url]) => {
    const wsUrls = [net.wsUrl];
    const base = { rpcUrls: urls, wsUrls, definition, logger: silentLogger(), silenceMs: 60_000, auditMs: 150 };
    read = new SourceReading(new RpcSource({ ...base, ...options }));
    await read.until('accounts', () => read.of('snapshotEnd').length > 0);
  };
  const prepare = async (before = 20) => {
    net = await startLocalnet({
      rpcPort: 0,
      wsPort: 0,
      speed: 0,
      seed: 7,
      keepEvents: true,
      accounts: 12,
      ordersPerMarket: 6,
      activity: 0.5,
    });
    await net.step(before);
    node = await FaultyNode.open(net.rpcUrl);
  };
  /** Steps slot by slot, so that notifications arrive in between. */
  const step = async (slots: number) => {
    for (let at = 0; at < slots; at += 5) {
      await net.step(Math.min(5, slots - at));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const truth = () => net.exchange.events(0, 1e6).map(({ signature, index }) => `${signature} ${index}`);
  const complete = async () => {
    await read.until('all events', () => read.eventIds().length >= truth().length);
    expect(read.eventIds().sort()).toEqual(truth().sort());
  };
  const drop = async () => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'localnet_dropConnections', params: {} });
    await fetch(net.rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  };
  const expectOrderedGaps = () => {
    for (const { fromSlot, toSlot } of read.of('gap')) expect(fromSlot).toBeLessThanOrEqual(toSlot);
    const slots = read.of('slot').map(({ slot }) => slot);
    expect(slots).toEqual([...slots].sort((a, b) => a - b));
    expect(Math.max(0, ...slots, ...read.of('progress').map(({ resume }) => resume.slot))).toBeLessThanOrEqual(
      net.ledger.tipSlot,
    );
  };
  afterEach(async () => {
    await read.stop();
    await node.close();
    await second?.close();
    second = undefined;
    await net.stop();
  });

  it('that once answers a slot far ahead loses nothing, and gaps stay in order', async () => {
    await prepare();
    let jumps = 0;
    node.on('getSlot', async (_, next) => {
      const answer = await next();
      jumps += 1;
      return 'result' in answer ? { result: Number(answer.result) + JUMP_SLOTS } : answer;
    });
    await start();
    await step(20);
    await complete();
    await drop();
    await step(20);
    await read.until('another read', () => read.of('snapshotEnd').length > 1);
    await step(10);
    await complete();
    await read.until('a jump', () => jumps > 0);
    expectOrderedGaps();
  });

  it('with one item error in every batch delivers the rest, and records the hole', async () => {
    await prepare(40);
    const victim = net.exchange.events(0, 1e6)[3]?.signature;
    node.on('getTransaction', ([signature], next) =>
      signature === victim ? { error: { code: -32603, message: 'Internal error' } } : next(),
    );
    await start();
    const others = truth().filter((id) => !id.startsWith(String(victim)));
    await read.until('all others', () => read.eventIds().length >= others.length);
    expect(read.of('progress').every(({ resume }) => resume.slot <= net.ledger.tipSlot)).toBe(true);
    await step(20);
    await read.until('live events', () => read.eventIds().length > others.length);
    const holes = () => read.of('gap').filter(({ isLasting, filled }) => isLasting && !filled);
    await read.until('the hole', () => holes().length > 0);
    expect(holes()[0]?.reason).toContain(victim);
    await read.until('progress', () => (read.of('progress').at(-1)?.resume.slot ?? 0) > (holes()[0]?.toSlot ?? 1e9));
    expect(read.of('reconnect')).toEqual([]);
    expectOrderedGaps();
  });

  it('that lists no signatures for long keeps live trades and books, also after a reconnect', async () => {
    await prepare();
    await start();
    await step(10);
    await complete();
    node.on('getSignaturesForAddress', () => ({ error: { code: -32603, message: 'Internal error' } }));
    await step(10);
    await complete();
    await drop();
    await read.until('another read', () => read.of('snapshotEnd').length > 1);
    const before = read.eventIds().length;
    await step(20);
    await read.until('live events', () => read.eventIds().length > before);
    expect(read.of('reconnect').length).toBe(1);
    node.heal('getSignaturesForAddress');
    await complete();
  });

  it('with short and empty signature pages is asked on, and the end is proven by the known signature', async () => {
    await prepare(60);
    node.on('getSignaturesForAddress', async ([, config], next) => {
      const answer = await next();
      const { before } = config as { before?: string };
      if (!('result' in answer) || !Array.isArray(answer.result)) return answer;
      return { result: before === undefined ? answer.result.slice(0, 3) : answer.result.slice(0, 7) };
    });
    await start();
    await step(10);
    await complete();
    // A node without the older part proves nothing, so the resume point waits.
    await drop();
    await net.step(10);
    node.on('getSignaturesForAddress', () => ({ result: [] }));
    const resumed = () => read.of('progress').at(-1)?.resume.slot ?? 0;
    const before = resumed();
    await read.until('another read', () => read.of('snapshotEnd').length > 1);
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(resumed()).toBe(before);
    node.heal('getSignaturesForAddress');
    await complete();
    await read.until('progress', () => resumed() > before);
  });

  it('without logs or without a transaction is replaced by the next node', async () => {
    await prepare(30);
    second = await FaultyNode.open(net.rpcUrl);
    let nulls = 0;
    node.on('getTransaction', async (_, next): Promise<Answer> => {
      nulls += 1;
      if (nulls % 2 === 0) return { result: null };
      const answer = await next();
      if (!('result' in answer) || answer.result === null) return answer;
      const value = answer.result as { meta: object };
      return { result: { ...value, meta: { ...value.meta, logMessages: null } } };
    });
    await start({}, [node.url, second.url]);
    await complete();
    expect(nulls).toBeGreaterThan(0);
    expect(read.of('gap')).toEqual([]);
  });

  it('that answers 429 is asked again after its pause, and meanwhile another node answers', async () => {
    await prepare(30);
    second = await FaultyNode.open(net.rpcUrl);
    await start({}, [node.url, second.url]);
    await step(5);
    await complete();
    node.http = () => ({ status: 429, headers: { 'retry-after': '3600' } });
    const asked = node.requests;
    await drop();
    await step(10);
    await read.until('another read', () => read.of('snapshotEnd').length > 1);
    await complete();
    expect(node.requests - asked).toBeLessThan(5);
  });

  it('with an empty or cut account read closes no account', async () => {
    await prepare(30);
    await start();
    const cut = (share: number) =>
      node.on('getProgramAccounts', async (_, next) => {
        const answer = await next();
        if (!('result' in answer)) return answer;
        const result = answer.result as { context: object; value: unknown[] };
        return { result: { ...result, value: result.value.slice(0, Math.floor(result.value.length * share)) } };
      });
    for (const share of [0, 0.3]) {
      cut(share);
      await drop();
      const events = read.eventIds().length;
      await read.until('a reconnect', () => read.of('reconnect').length > (share === 0 ? 0 : 1));
      await step(10);
      await read.until('live events', () => read.eventIds().length > events);
      expect(read.of('snapshotEnd').length).toBe(1);
    }
    node.heal('getProgramAccounts');
    await read.until('a believed read', () => read.of('snapshotEnd').length === 2);
    expect(read.orders().length).toBe(net.exchange.restingOrders().length);
  });

  it('that is behind is refused, and no read goes back in time', async () => {
    await prepare(30);
    await start();
    await step(10);
    const asked: unknown[] = [];
    let stale = 0;
    node.on('getProgramAccounts', async ([, config], next) => {
      asked.push((config as { minContextSlot?: number }).minContextSlot);
      const answer = await next();
      if (!('result' in answer) || stale++ >= 3) return answer;
      const result = answer.result as { context: { slot: number }; value: unknown[] };
      return { result: { ...result, context: { slot: result.context.slot - 30 } } };
    });
    await drop();
    await read.until('another read', () => read.of('snapshotEnd').length > 1);
    expect(asked.every((slot) => Number(slot) > net.ledger.genesisSlot)).toBe(true);
    expect(read.of('snapshotBegin').at(-1)?.slot).toBe(net.ledger.tipSlot);
  });

  it('that is behind while the chain stands still is read again once the chain moves', async () => {
    await prepare(30);
    const readSlot = net.ledger.tipSlot - 4;
    node.on('getProgramAccountsV2', () => ({ error: { code: -32601, message: 'Method not found' } }));
    node.on('getProgramAccounts', async (_, next) => {
      const answer = await next();
      if (!('result' in answer)) return answer;
      return { result: { ...(answer.result as object), context: { slot: readSlot } } };
    });
    await start();
    node.heal('getProgramAccounts');
    await step(5);
    await read.until('another read', () => read.of('snapshotEnd').length > 1);
    expect(read.of('reconnect')[0]?.reason).toContain('before the first news');
    expect(read.of('slot').map(({ slot }) => slot)[0]).toBe(readSlot);
    expect(read.of('slot')[1]?.slot).toBeGreaterThan(readSlot + 4);
  });

  it('that answers late is asked once at a time whether the chain stands still', async () => {
    await prepare(30);
    await start();
    let asking = 0;
    let most = 0;
    node.on('getSlot', async (_, next) => {
      asking += 1;
      most = Math.max(most, asking);
      await new Promise((resolve) => setTimeout(resolve, 700));
      asking -= 1;
      return next();
    });
    await net.step(1);
    await read.until('a question', () => asking > 0);
    await net.step(1);
    await read.until('the last label', () => read.of('slot').at(-1)?.slot === net.ledger.tipSlot);
    expect(most).toBe(1);
  });
});
