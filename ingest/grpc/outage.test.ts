// How a gRPC source goes on after an outage: by the replay of a server that has the same blocks, and else by RPC.

import { describe, expect, it, type TestContext } from 'vitest';
import { type LocalnetOptions, type RunningLocalnet, startLocalnet } from '../../localnet/index.ts';
import { grpcSource } from '../../test/support/ingest/grpc-source.ts';
import { SourceReading } from '../../test/support/ingest/source-reading.ts';
import { ask } from '../../test/support/localnet/test-client.ts';
import { PATIENCE_MS } from '../../test/support/platform/eventually.ts';
import type { ResumePoint, Source } from '../source.ts';
import type { GrpcServers } from './index.ts';
import { type OpenStream, openWith } from './stream.ts';

const TOKEN = 'open sesame';
/** Far shorter than the product's interval: a resume point follows an audit. */
const AUDIT_MS = 250;

/** Clusters of one test and a reader of them: all stop at its end. */
class Stage {
  readonly #context: TestContext;
  #reading: SourceReading | undefined;

  constructor(context: TestContext) {
    this.#context = context;
  }

  async open(options: LocalnetOptions = {}): Promise<RunningLocalnet> {
    const ports = { rpcPort: 0, wsPort: 0, grpcPort: 0, grpcToken: TOKEN };
    const small = { speed: 0, seed: 5, keepEvents: true, accounts: 16, ordersPerMarket: 8, genesisTime: 1_750_000_000 };
    const net = await startLocalnet({ ...ports, ...small, ...options });
    this.#context.onTestFinished(() => net.stop());
    return net;
  }

  /** The newest reader. */
  get source(): SourceReading {
    if (!this.#reading) throw new Error('nothing is read yet');
    return this.#reading;
  }

  follow(source: Source, resume: ResumePoint | null = null): void {
    const reading = new SourceReading(source, resume);
    this.#reading = reading;
    this.#context.onTestFinished(() => reading.stop());
  }

  async start(
    net: RunningLocalnet,
    servers: Partial<GrpcServers> = {},
    resume: ResumePoint | null = null,
  ): Promise<void> {
    const options = { token: TOKEN, replayPatienceMs: PATIENCE_MS, ...servers };
    this.follow(grpcSource(net, options, { auditMs: AUDIT_MS }), resume);
    await this.source.until('accounts', () => this.source.of('snapshotEnd').length > 0);
    await this.source.until('progress', () => this.source.of('progress').length > 0);
  }

  async complete(net: RunningLocalnet): Promise<void> {
    await this.source.until('all events', () => this.source.eventIds().length >= truth(net).length);
    expect(this.source.eventIds().sort()).toEqual(truth(net).sort());
  }

  ended(times: number): Promise<void> {
    return this.source.until('the end of a stream', () => this.source.of('reconnect').length >= times);
  }
}

const truth = (net: RunningLocalnet): string[] =>
  net.exchange.events(0, 1e6).map(({ signature, index }) => `${signature} ${index}`);

// Most tests wait for outages and audits.
describe.concurrent('a gRPC stream that was lost', () => {
  it('continues where it ended, and reads nothing again', async (context) => {
    const stage = new Stage(context);
    const net = await stage.open();
    await net.step(10);
    await stage.start(net);
    await net.step(20);
    await stage.complete(net);
    await ask(net.rpcUrl, 'localnet_dropConnections');
    await net.step(20);
    await stage.source.until('the end of the outage', () => stage.source.of('continued').length === 1);
    await net.step(5);
    await stage.complete(net);
    expect(stage.source.of('snapshotEnd').length).toBe(1);
    await stage.source.until('the last slot', () => stage.source.of('slot').at(-1)?.slot === net.ledger.tipSlot);
    const slots = stage.source.of('slot').map(({ slot }) => slot);
    expect(slots.slice(1)).toEqual(slots.slice(1).map((_, index) => (slots[1] ?? 0) + index));
    expect(stage.source.orders().length).toBe(net.exchange.restingOrders().length);
  });

  it('gives transactions their place in the block, and accounts their writer', async (context) => {
    const stage = new Stage(context);
    const net = await stage.open();
    await stage.start(net);
    await net.step(20);
    await stage.source.until('the last slot', () => stage.source.of('slot').at(-1)?.slot === net.ledger.tipSlot);
    const live = stage.source.of('transaction').filter(({ blockIndex }) => blockIndex !== null);
    expect(live.length).toBeGreaterThan(10);
    for (const { signature, blockIndex } of live) {
      expect(net.ledger.transaction(signature)?.index).toBe(blockIndex);
    }
    const written = stage.source.of('account').filter(({ signature }) => signature !== undefined);
    expect(written.length).toBeGreaterThan(10);
    expect(written.every(({ writeVersion }) => writeVersion !== null)).toBe(true);
  });

  it('is read anew by RPC when the server no longer replays from there', async (context) => {
    const stage = new Stage(context);
    const net = await stage.open({ grpcReplaySlots: 5 });
    await net.step(10);
    await stage.start(net);
    await net.step(10);
    await stage.complete(net);
    await stage.source.until('labels', () => stage.source.of('slot').length > 3);
    // No step waits for the source, so more slots pass than the server keeps.
    await ask(net.rpcUrl, 'localnet_dropConnections');
    await net.step(60);
    await stage.ended(1);
    await stage.source.until('another read', () => stage.source.of('snapshotEnd').length === 2);
    await stage.complete(net);
    expect(stage.source.of('continued')).toEqual([]);
  });

  it('is not continued when it is lost before a cut read of all accounts was repeated', async (context) => {
    const stage = new Stage(context);
    const net = await stage.open();
    await net.step(10);
    await stage.start(net);
    const known = () =>
      stage.source.of('progress').find(({ resume: { accounts } }) => Object.keys(accounts ?? {}).length > 0);
    await stage.source.until('the number of accounts', () => known() !== undefined);
    const resume = known()?.resume ?? null;
    await stage.source.stop();
    net.faults.add({ kind: 'cutAccounts', share: 0.5 });
    stage.follow(grpcSource(net, { token: TOKEN }), resume);
    await stage.source.until('the accounts of the cut read', () => stage.source.of('account').length > 0);
    await net.step(5);
    await stage.source.until('the last slot', () => stage.source.of('slot').at(-1)?.slot === net.ledger.tipSlot);
    await ask(net.rpcUrl, 'localnet_dropConnections');
    await stage.ended(1);
    expect(stage.source.of('snapshotEnd')).toEqual([]);
    net.faults.clear();
    await net.step(5);
    await stage.source.until('a whole read', () => stage.source.of('snapshotEnd').length > 0);
    expect(stage.source.of('continued')).toEqual([]);
  });

  it('is not continued by a server with other blocks, which is then read as what it is', async (context) => {
    const stage = new Stage(context);
    const net = await stage.open();
    const other = await stage.open({ genesisTime: 1_750_000_001 });
    for (const one of [net, other]) await one.step(10);
    await stage.start(net, { urls: [net.grpcUrl, other.grpcUrl] });
    for (const one of [net, other]) await one.step(20);
    await stage.complete(net);
    await ask(net.rpcUrl, 'localnet_dropConnections');
    for (const one of [net, other]) await one.step(5);
    await stage.ended(2);
    expect(stage.source.of('reconnect')[1]?.reason).toContain('another block than before');
    expect(stage.source.of('continued')).toEqual([]);
    await stage.source.until('another read', () => stage.source.of('snapshotEnd').length === 2);
    await stage.complete(net);
  });

  it('brings after a restart what the server replays, with its place in the block', async (context) => {
    const stage = new Stage(context);
    const net = await stage.open();
    await net.step(100);
    await stage.start(net);
    const resume = stage.source.of('progress').at(-1)?.resume ?? null;
    await stage.source.stop();
    await net.step(20);
    await stage.start(net, {}, resume);
    await stage.source.until('what was missed', () =>
      stage.source.of('transaction').some(({ slot }) => slot === net.ledger.tipSlot),
    );
    const later = stage.source.of('transaction').filter(({ slot }) => slot > (resume?.slot ?? 0));
    expect(later.length).toBeGreaterThan(10);
    expect(later.every(({ blockIndex }) => blockIndex !== null)).toBe(true);
    expect(new Set(later.map(({ signature }) => signature)).size).toBe(later.length);
  });

  it('begins at the newest block after an outage that is longer than a replay may be, and RPC brings the rest', async (context) => {
    const stage = new Stage(context);
    const net = await stage.open({ grpcReplaySlots: 5_000 });
    await net.step(20);
    await stage.start(net);
    const resume = stage.source.of('progress').at(-1)?.resume ?? null;
    await stage.source.stop();
    await net.step(60);
    const asked: (string | undefined)[] = [];
    const noting: OpenStream = async (url, token, handlers) => {
      const stream = await openWith()(url, token, handlers);
      const request = stream.request.bind(stream);
      stream.request = (one) => {
        asked.push(one.fromSlot);
        request(one);
      };
      return stream;
    };
    await stage.start(net, { open: noting, replaySlotsMax: 50 }, resume);
    expect(asked).toEqual([undefined]);
    const later = net.exchange.events(0, 1e6).filter(({ slot }) => slot > (resume?.slot ?? 0));
    expect(later.length).toBeGreaterThan(10);
    await stage.source.until('what was missed', () => {
      const has = new Set(stage.source.eventIds());
      return later.every(({ signature, index }) => has.has(`${signature} ${index}`));
    });
  });

  it('is asked again for a block that did not come', async (context) => {
    const stage = new Stage(context);
    const net = await stage.open();
    await stage.start(net);
    await net.step(10);
    await stage.complete(net);
    net.faults.add({ kind: 'loseNotification', methods: ['blockMetaUpdate'], count: 1 });
    await net.step(10);
    await stage.source.until('the end of the outage', () => stage.source.of('continued').length > 0);
    expect(stage.source.of('reconnect')[0]?.reason).toContain('a block without the one before it');
    await stage.complete(net);
    let newest = 0;
    for (const update of stage.source.updates) {
      if (update.kind === 'account') newest = Math.max(newest, update.slot);
      // No label of a slot that stands below changes of a later one.
      if (update.kind === 'slot') expect(update.slot).toBeGreaterThanOrEqual(newest);
    }
    expect(stage.source.of('snapshotEnd').length).toBe(1);
  });

  it('begins at the newest block when the replay after a restart lacks a block each time', async (context) => {
    const stage = new Stage(context);
    const net = await stage.open();
    await net.step(40);
    await stage.start(net);
    const resume = stage.source.of('progress').at(-1)?.resume ?? null;
    await stage.source.stop();
    await net.step(10);
    const lost = (resume?.slot ?? 0) + 5;
    const lacking: OpenStream = (url, token, handlers) =>
      openWith()(url, token, {
        ...handlers,
        update: (update) => {
          if (!update.block || Number(update.block.slot) !== lost) handlers.update(update);
        },
      });
    await stage.start(net, { open: lacking }, resume);
    expect(stage.source.of('reconnect')[0]?.reason).toContain('a block without the one before it');
    const has = () => new Set(stage.source.eventIds());
    const later = net.exchange.events(0, 1e6).filter(({ slot }) => slot > (resume?.slot ?? 0));
    await stage.source.until('what was missed', () =>
      later.every(({ signature, index }) => has().has(`${signature} ${index}`)),
    );
    await net.step(5);
    await stage.source.until('the last slot', () => stage.source.of('slot').at(-1)?.slot === net.ledger.tipSlot);
    expect(stage.source.of('reconnect').length).toBe(1);
  });

  it('says that the token is wrong, and never the token', async (context) => {
    const stage = new Stage(context);
    const net = await stage.open();
    stage.follow(grpcSource(net, { token: 'a wrong one' }));
    await stage.ended(1);
    const { reason } = stage.source.of('reconnect')[0] ?? { reason: '' };
    expect(reason).toContain('No valid auth token');
    expect(reason).not.toContain('a wrong one');
  });
});
