// How a gRPC source goes on after an outage: by the replay of a server that has the same blocks, and else by RPC.

import { afterEach, describe, expect, it } from 'vitest';
import { type LocalnetOptions, type RunningLocalnet, startLocalnet } from '../../localnet/index.ts';
import { grpcSource } from '../../test/support/ingest/grpc-source.ts';
import { SourceReading } from '../../test/support/ingest/source-reading.ts';
import { ask } from '../../test/support/localnet/test-client.ts';
import { PATIENCE_MS } from '../../test/support/platform/eventually.ts';
import type { ResumePoint } from '../source.ts';
import type { GrpcServers } from './index.ts';
import { type OpenStream, openWith } from './stream.ts';

const TOKEN = 'open sesame';
/** Far shorter than the product's interval: a resume point follows an audit. */
const AUDIT_MS = 250;

describe('a gRPC stream that was lost', () => {
  const nets: RunningLocalnet[] = [];
  let source: SourceReading;
  afterEach(async () => {
    await source.stop();
    for (const net of nets.splice(0)) await net.stop();
  });
  const open = async (options: LocalnetOptions = {}) => {
    const ports = { rpcPort: 0, wsPort: 0, grpcPort: 0, grpcToken: TOKEN };
    const small = { speed: 0, seed: 5, keepEvents: true, accounts: 16, ordersPerMarket: 8, genesisTime: 1_750_000_000 };
    const net = await startLocalnet({ ...ports, ...small, ...options });
    nets.push(net);
    return net;
  };
  const start = async (net: RunningLocalnet, servers: Partial<GrpcServers> = {}, resume: ResumePoint | null = null) => {
    source = new SourceReading(
      grpcSource(net, { token: TOKEN, replayPatienceMs: PATIENCE_MS, ...servers }, { auditMs: AUDIT_MS }),
      resume,
    );
    await source.until('accounts', () => source.of('snapshotEnd').length > 0);
    await source.until('progress', () => source.of('progress').length > 0);
  };
  const truth = (net: RunningLocalnet) =>
    net.exchange.events(0, 1e6).map(({ signature, index }) => `${signature} ${index}`);
  const complete = async (net: RunningLocalnet) => {
    await source.until('all events', () => source.eventIds().length >= truth(net).length);
    expect(source.eventIds().sort()).toEqual(truth(net).sort());
  };
  const ended = (times: number) => source.until('the end of a stream', () => source.of('reconnect').length >= times);

  it('continues where it ended, and reads nothing again', async () => {
    const net = await open();
    await net.step(10);
    await start(net);
    await net.step(20);
    await complete(net);
    await ask(net.rpcUrl, 'localnet_dropConnections');
    await net.step(20);
    await source.until('the end of the outage', () => source.of('continued').length === 1);
    await net.step(5);
    await complete(net);
    expect(source.of('snapshotEnd').length).toBe(1);
    await source.until('the last slot', () => source.of('slot').at(-1)?.slot === net.ledger.tipSlot);
    const slots = source.of('slot').map(({ slot }) => slot);
    expect(slots.slice(1)).toEqual(slots.slice(1).map((_, index) => (slots[1] ?? 0) + index));
    expect(source.orders().length).toBe(net.exchange.restingOrders().length);
  });

  it('gives transactions their place in the block, and accounts their writer', async () => {
    const net = await open();
    await start(net);
    await net.step(20);
    await source.until('the last slot', () => source.of('slot').at(-1)?.slot === net.ledger.tipSlot);
    const live = source.of('transaction').filter(({ blockIndex }) => blockIndex !== null);
    expect(live.length).toBeGreaterThan(10);
    for (const { signature, blockIndex } of live) {
      expect(net.ledger.transaction(signature)?.index).toBe(blockIndex);
    }
    const written = source.of('account').filter(({ signature }) => signature !== undefined);
    expect(written.length).toBeGreaterThan(10);
    expect(written.every(({ writeVersion }) => writeVersion !== null)).toBe(true);
  });

  it('is read anew by RPC when the server no longer replays from there', async () => {
    const net = await open({ grpcReplaySlots: 5 });
    await net.step(10);
    await start(net);
    await net.step(10);
    await complete(net);
    await source.until('labels', () => source.of('slot').length > 3);
    // No step waits for the source, so more slots pass than the server keeps.
    await ask(net.rpcUrl, 'localnet_dropConnections');
    await net.step(60);
    await ended(1);
    await source.until('another read', () => source.of('snapshotEnd').length === 2);
    await complete(net);
    expect(source.of('continued')).toEqual([]);
  });

  it('is not continued when it is lost before a cut read of all accounts was repeated', async () => {
    const net = await open();
    await net.step(10);
    await start(net);
    const known = () =>
      source.of('progress').find(({ resume: { accounts } }) => Object.keys(accounts ?? {}).length > 0);
    await source.until('the number of accounts', () => known() !== undefined);
    const resume = known()?.resume ?? null;
    await source.stop();
    net.faults.add({ kind: 'cutAccounts', share: 0.5 });
    source = new SourceReading(grpcSource(net, { token: TOKEN }), resume);
    await source.until('the accounts of the cut read', () => source.of('account').length > 0);
    await net.step(5);
    await source.until('the last slot', () => source.of('slot').at(-1)?.slot === net.ledger.tipSlot);
    await ask(net.rpcUrl, 'localnet_dropConnections');
    await ended(1);
    expect(source.of('snapshotEnd')).toEqual([]);
    net.faults.clear();
    await net.step(5);
    await source.until('a whole read', () => source.of('snapshotEnd').length > 0);
    expect(source.of('continued')).toEqual([]);
  });

  it('is not continued by a server with other blocks, which is then read as what it is', async () => {
    const net = await open();
    const other = await open({ genesisTime: 1_750_000_001 });
    for (const one of [net, other]) await one.step(10);
    await start(net, { urls: [net.grpcUrl, other.grpcUrl] });
    for (const one of [net, other]) await one.step(20);
    await complete(net);
    await ask(net.rpcUrl, 'localnet_dropConnections');
    for (const one of [net, other]) await one.step(5);
    await ended(2);
    expect(source.of('reconnect')[1]?.reason).toContain('another block than before');
    expect(source.of('continued')).toEqual([]);
    await source.until('another read', () => source.of('snapshotEnd').length === 2);
    await complete(net);
  });

  it('brings after a restart what the server replays, with its place in the block', async () => {
    const net = await open();
    await net.step(100);
    await start(net);
    const resume = source.of('progress').at(-1)?.resume ?? null;
    await source.stop();
    await net.step(20);
    await start(net, {}, resume);
    await source.until('what was missed', () =>
      source.of('transaction').some(({ slot }) => slot === net.ledger.tipSlot),
    );
    const later = source.of('transaction').filter(({ slot }) => slot > (resume?.slot ?? 0));
    expect(later.length).toBeGreaterThan(10);
    expect(later.every(({ blockIndex }) => blockIndex !== null)).toBe(true);
    expect(new Set(later.map(({ signature }) => signature)).size).toBe(later.length);
  });

  it('begins at the newest block after an outage that is longer than a replay may be, and RPC brings the rest', async () => {
    const net = await open({ grpcReplaySlots: 5_000 });
    await net.step(20);
    await start(net);
    const resume = source.of('progress').at(-1)?.resume ?? null;
    await source.stop();
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
    await start(net, { open: noting, replaySlotsMax: 50 }, resume);
    expect(asked).toEqual([undefined]);
    const later = net.exchange.events(0, 1e6).filter(({ slot }) => slot > (resume?.slot ?? 0));
    expect(later.length).toBeGreaterThan(10);
    await source.until('what was missed', () => {
      const has = new Set(source.eventIds());
      return later.every(({ signature, index }) => has.has(`${signature} ${index}`));
    });
  });

  it('is asked again for a block that did not come', async () => {
    const net = await open();
    await start(net);
    await net.step(10);
    await complete(net);
    net.faults.add({ kind: 'loseNotification', methods: ['blockMetaUpdate'], count: 1 });
    await net.step(10);
    await source.until('the end of the outage', () => source.of('continued').length > 0);
    expect(source.of('reconnect')[0]?.reason).toContain('a block without the one before it');
    await complete(net);
    let newest = 0;
    for (const update of source.updates) {
      if (update.kind === 'account') newest = Math.max(newest, update.slot);
      // No label of a slot that stands below changes of a later one.
      if (update.kind === 'slot') expect(update.slot).toBeGreaterThanOrEqual(newest);
    }
    expect(source.of('snapshotEnd').length).toBe(1);
  });

  it('begins at the newest block when the replay after a restart lacks a block each time', async () => {
    const net = await open();
    await net.step(40);
    await start(net);
    const resume = source.of('progress').at(-1)?.resume ?? null;
    await source.stop();
    await net.step(10);
    const lost = (resume?.slot ?? 0) + 5;
    const lacking: OpenStream = (url, token, handlers) =>
      openWith()(url, token, {
        ...handlers,
        update: (update) => {
          if (!update.block || Number(update.block.slot) !== lost) handlers.update(update);
        },
      });
    await start(net, { open: lacking }, resume);
    expect(source.of('reconnect')[0]?.reason).toContain('a block without the one before it');
    const has = () => new Set(source.eventIds());
    const later = net.exchange.events(0, 1e6).filter(({ slot }) => slot > (resume?.slot ?? 0));
    await source.until('what was missed', () =>
      later.every(({ signature, index }) => has().has(`${signature} ${index}`)),
    );
    await net.step(5);
    await source.until('the last slot', () => source.of('slot').at(-1)?.slot === net.ledger.tipSlot);
    expect(source.of('reconnect').length).toBe(1);
  });

  it('says that the token is wrong, and never the token', async () => {
    const net = await open();
    source = new SourceReading(grpcSource(net, { token: 'a wrong one' }));
    await ended(1);
    const { reason } = source.of('reconnect')[0] ?? { reason: '' };
    expect(reason).toContain('No valid auth token');
    expect(reason).not.toContain('a wrong one');
  });
});
