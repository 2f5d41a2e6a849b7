// A misbehaving node loses no event without a recorded hole, and stops neither trades nor books.

import { describe, expect, it, type TestContext } from 'vitest';
import { type RunningLocalnet, startLocalnet } from '../../localnet/index.ts';
import { silentLogger } from '../../platform/index.ts';
import { loadDefinition } from '../../schemas/index.ts';
import { type Answer, FaultyNode } from '../../test/support/ingest/faulty-node.ts';
import { SHARED_NETWORK } from '../../test/support/ingest/shared-thread.ts';
import { SourceReading } from '../../test/support/ingest/source-reading.ts';
import { stepInTurns } from '../../test/support/localnet/step-in-turns.ts';
import { ask } from '../../test/support/localnet/test-client.ts';
import { RpcSource, type RpcSourceOptions } from '../rpc.ts';

const definition = loadDefinition('velocity');
/** Slots by which a faulty getSlot is ahead. */
const JUMP_SLOTS = 5_000;

/** A cluster behind a node with faults, and its reader, for one test: all stop at its end. */
class Stage {
  readonly net: RunningLocalnet;
  readonly node: FaultyNode;
  readonly #context: TestContext;
  #reading: SourceReading | undefined;

  private constructor(net: RunningLocalnet, node: FaultyNode, context: TestContext) {
    this.net = net;
    this.node = node;
    this.#context = context;
  }

  static async open(context: TestContext, before = 20): Promise<Stage> {
    const small = { seed: 7, keepEvents: true, accounts: 12, ordersPerMarket: 6, activity: 0.5 };
    const net = await startLocalnet({ rpcPort: 0, wsPort: 0, speed: 0, ...small });
    context.onTestFinished(() => net.stop());
    await net.step(before);
    return new Stage(net, await openNode(net, context), context);
  }

  /** Another node of the same cluster. */
  openNode(): Promise<FaultyNode> {
    return openNode(this.net, this.#context);
  }

  get read(): SourceReading {
    if (!this.#reading) throw new Error('nothing is read yet');
    return this.#reading;
  }

  async start(options: Partial<RpcSourceOptions> = {}, rpcUrls = [this.node.url]): Promise<void> {
    const wsUrls = [this.net.wsUrl];
    const base = {
      rpcUrls,
      wsUrls,
      definition,
      logger: silentLogger(),
      transport: SHARED_NETWORK,
      silenceMs: 60_000,
      auditMs: 150,
    };
    const reading = new SourceReading(new RpcSource({ ...base, ...options }));
    this.#reading = reading;
    this.#context.onTestFinished(() => reading.stop());
    await reading.until('accounts', () => reading.of('snapshotEnd').length > 0);
  }

  step(slots: number): Promise<void> {
    return stepInTurns(this.net, slots);
  }

  truth(): string[] {
    return this.net.exchange.events(0, 1e6).map(({ signature, index }) => `${signature} ${index}`);
  }

  async complete(): Promise<void> {
    await this.read.until('all events', () => this.read.eventIds().length >= this.truth().length);
    expect(this.read.eventIds().sort()).toEqual(this.truth().sort());
  }

  async drop(): Promise<void> {
    await ask(this.net.rpcUrl, 'localnet_dropConnections', {});
  }

  expectOrderedGaps(): void {
    for (const { fromSlot, toSlot } of this.read.of('gap')) expect(fromSlot).toBeLessThanOrEqual(toSlot);
    const slots = this.read.of('slot').map(({ slot }) => slot);
    expect(slots).toEqual([...slots].sort((a, b) => a - b));
    const resumed = this.read.of('progress').map(({ resume }) => resume.slot);
    expect(Math.max(0, ...slots, ...resumed)).toBeLessThanOrEqual(this.net.ledger.tipSlot);
  }
}

async function openNode(net: RunningLocalnet, { onTestFinished }: TestContext): Promise<FaultyNode> {
  const node = await FaultyNode.open(net.rpcUrl);
  onTestFinished(() => node.close());
  return node;
}

// Most tests wait for pauses and audits.
describe.concurrent('a node with faults', () => {
  it('that once answers a slot far ahead loses nothing, and gaps stay in order', async (context) => {
    const stage = await Stage.open(context);
    let jumps = 0;
    stage.node.on('getSlot', async (_, next) => {
      const answer = await next();
      jumps += 1;
      return 'result' in answer ? { result: Number(answer.result) + JUMP_SLOTS } : answer;
    });
    await stage.start();
    await stage.step(20);
    await stage.complete();
    await stage.drop();
    await stage.step(20);
    await stage.read.until('another read', () => stage.read.of('snapshotEnd').length > 1);
    await stage.step(10);
    await stage.complete();
    await stage.read.until('a jump', () => jumps > 0);
    stage.expectOrderedGaps();
  });

  it('with one item error in every batch delivers the rest, and records the hole', async (context) => {
    const stage = await Stage.open(context, 40);
    const victim = stage.net.exchange.events(0, 1e6)[3]?.signature;
    stage.node.on('getTransaction', ([signature], next) =>
      signature === victim ? { error: { code: -32603, message: 'Internal error' } } : next(),
    );
    await stage.start();
    const others = stage.truth().filter((id) => !id.startsWith(String(victim)));
    await stage.read.until('all others', () => stage.read.eventIds().length >= others.length);
    expect(stage.read.of('progress').every(({ resume }) => resume.slot <= stage.net.ledger.tipSlot)).toBe(true);
    await stage.step(20);
    await stage.read.until('live events', () => stage.read.eventIds().length > others.length);
    const holes = () => stage.read.of('gap').filter(({ isLasting, filled }) => isLasting && !filled);
    await stage.read.until('the hole', () => holes().length > 0);
    expect(holes()[0]?.reason).toContain(victim);
    await stage.read.until(
      'progress',
      () => (stage.read.of('progress').at(-1)?.resume.slot ?? 0) > (holes()[0]?.toSlot ?? 1e9),
    );
    expect(stage.read.of('reconnect')).toEqual([]);
    stage.expectOrderedGaps();
  });

  it('that lists no signatures for long keeps live trades and books, also after a reconnect', async (context) => {
    const stage = await Stage.open(context);
    await stage.start();
    await stage.step(10);
    await stage.complete();
    stage.node.on('getSignaturesForAddress', () => ({ error: { code: -32603, message: 'Internal error' } }));
    await stage.step(10);
    await stage.complete();
    await stage.drop();
    await stage.read.until('another read', () => stage.read.of('snapshotEnd').length > 1);
    const before = stage.read.eventIds().length;
    await stage.step(20);
    await stage.read.until('live events', () => stage.read.eventIds().length > before);
    expect(stage.read.of('reconnect').length).toBe(1);
    stage.node.heal('getSignaturesForAddress');
    await stage.complete();
  });

  it('with short and empty signature pages is asked on, and the end is proven by the known signature', async (context) => {
    const stage = await Stage.open(context, 60);
    stage.node.on('getSignaturesForAddress', async ([, config], next) => {
      const answer = await next();
      const { before } = config as { before?: string };
      if (!('result' in answer) || !Array.isArray(answer.result)) return answer;
      return { result: before === undefined ? answer.result.slice(0, 3) : answer.result.slice(0, 7) };
    });
    await stage.start();
    await stage.step(10);
    await stage.complete();
    // A node without the older part proves nothing, so the resume point waits.
    await stage.drop();
    await stage.net.step(10);
    stage.node.on('getSignaturesForAddress', () => ({ result: [] }));
    const resumed = () => stage.read.of('progress').at(-1)?.resume.slot ?? 0;
    const before = resumed();
    await stage.read.until('another read', () => stage.read.of('snapshotEnd').length > 1);
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(resumed()).toBe(before);
    stage.node.heal('getSignaturesForAddress');
    await stage.complete();
    await stage.read.until('progress', () => resumed() > before);
  });

  it('without logs or without a transaction is replaced by the next node', async (context) => {
    const stage = await Stage.open(context, 30);
    const second = await stage.openNode();
    let nulls = 0;
    stage.node.on('getTransaction', async (_, next): Promise<Answer> => {
      nulls += 1;
      if (nulls % 2 === 0) return { result: null };
      const answer = await next();
      if (!('result' in answer) || answer.result === null) return answer;
      const value = answer.result as { meta: object };
      return { result: { ...value, meta: { ...value.meta, logMessages: null } } };
    });
    await stage.start({}, [stage.node.url, second.url]);
    await stage.complete();
    expect(nulls).toBeGreaterThan(0);
    expect(stage.read.of('gap')).toEqual([]);
  });

  it('that answers 429 is asked again after its pause, and meanwhile another node answers', async (context) => {
    const stage = await Stage.open(context, 30);
    const second = await stage.openNode();
    await stage.start({}, [stage.node.url, second.url]);
    await stage.step(5);
    await stage.complete();
    stage.node.http = () => ({ status: 429, headers: { 'retry-after': '3600' } });
    const asked = stage.node.requests;
    await stage.drop();
    await stage.step(10);
    await stage.read.until('another read', () => stage.read.of('snapshotEnd').length > 1);
    await stage.complete();
    expect(stage.node.requests - asked).toBeLessThan(5);
  });

  it('with an empty or cut account read closes no account', async (context) => {
    const stage = await Stage.open(context, 30);
    await stage.start();
    const cut = (share: number) =>
      stage.node.on('getProgramAccounts', async (_, next) => {
        const answer = await next();
        if (!('result' in answer)) return answer;
        const result = answer.result as { context: object; value: unknown[] };
        return { result: { ...result, value: result.value.slice(0, Math.floor(result.value.length * share)) } };
      });
    for (const share of [0, 0.3]) {
      cut(share);
      await stage.drop();
      const events = stage.read.eventIds().length;
      await stage.read.until('a reconnect', () => stage.read.of('reconnect').length > (share === 0 ? 0 : 1));
      await stage.step(10);
      await stage.read.until('live events', () => stage.read.eventIds().length > events);
      expect(stage.read.of('snapshotEnd').length).toBe(1);
    }
    stage.node.heal('getProgramAccounts');
    await stage.read.until('a believed read', () => stage.read.of('snapshotEnd').length === 2);
    expect(stage.read.orders().length).toBe(stage.net.exchange.restingOrders().length);
  });

  it('that is behind is refused, and no read goes back in time', async (context) => {
    const stage = await Stage.open(context, 30);
    await stage.start();
    await stage.step(10);
    const asked: unknown[] = [];
    let stale = 0;
    stage.node.on('getProgramAccounts', async ([, config], next) => {
      asked.push((config as { minContextSlot?: number }).minContextSlot);
      const answer = await next();
      if (!('result' in answer) || stale++ >= 3) return answer;
      const result = answer.result as { context: { slot: number }; value: unknown[] };
      return { result: { ...result, context: { slot: result.context.slot - 30 } } };
    });
    await stage.drop();
    await stage.read.until('another read', () => stage.read.of('snapshotEnd').length > 1);
    expect(asked.every((slot) => Number(slot) > stage.net.ledger.genesisSlot)).toBe(true);
    expect(stage.read.of('snapshotBegin').at(-1)?.slot).toBe(stage.net.ledger.tipSlot);
  });

  it('that is behind while the chain stands still is read again once the chain moves', async (context) => {
    const stage = await Stage.open(context, 30);
    const readSlot = stage.net.ledger.tipSlot - 4;
    stage.node.on('getProgramAccountsV2', () => ({ error: { code: -32601, message: 'Method not found' } }));
    stage.node.on('getProgramAccounts', async (_, next) => {
      const answer = await next();
      if (!('result' in answer)) return answer;
      return { result: { ...(answer.result as object), context: { slot: readSlot } } };
    });
    await stage.start();
    stage.node.heal('getProgramAccounts');
    await stage.step(5);
    await stage.read.until('another read', () => stage.read.of('snapshotEnd').length > 1);
    expect(stage.read.of('reconnect')[0]?.reason).toContain('before the first news');
    expect(stage.read.of('slot').map(({ slot }) => slot)[0]).toBe(readSlot);
    expect(stage.read.of('slot')[1]?.slot).toBeGreaterThan(readSlot + 4);
  });

  it('that answers late is asked once at a time whether the chain stands still', async (context) => {
    const stage = await Stage.open(context, 30);
    await stage.start();
    let asking = 0;
    let most = 0;
    stage.node.on('getSlot', async (_, next) => {
      asking += 1;
      most = Math.max(most, asking);
      await new Promise((resolve) => setTimeout(resolve, 700));
      asking -= 1;
      return next();
    });
    await stage.net.step(1);
    await stage.read.until('a question', () => asking > 0);
    await stage.net.step(1);
    await stage.read.until('the last label', () => stage.read.of('slot').at(-1)?.slot === stage.net.ledger.tipSlot);
    expect(most).toBe(1);
  });
});
