// Two gRPC servers, and gRPC beside PubSub, of one simulated cluster.

import bs58 from 'bs58';
import { afterEach, describe, expect, it } from 'vitest';
import { type RunningLocalnet, startLocalnet } from '../../localnet/index.ts';
import { silentLogger } from '../../platform/index.ts';
import { loadDefinition } from '../../schemas/index.ts';
import { SHARED_NETWORK } from '../../test/support/ingest/shared-thread.ts';
import { SourceReading } from '../../test/support/ingest/source-reading.ts';
import { times } from '../../test/support/platform/times.ts';
import { grpcSessions } from '../grpc/index.ts';
import { RpcSource } from '../rpc.ts';
import { MergedSource } from './index.ts';

const definition = loadDefinition('velocity');
/** Slots of a batch: small enough that no socket falls behind by more than the merge keeps. */
const BATCH = 5;

describe('several live sources', () => {
  let net: RunningLocalnet;
  let reading: SourceReading;
  let merged: MergedSource;
  afterEach(async () => {
    await reading.stop();
    await net.stop();
  });

  const start = async (kinds: readonly ('grpc' | 'pubsub')[], profile: 'calm' | 'mainnet' = 'calm') => {
    const ports = { rpcPort: 0, wsPort: 0, grpcPort: 0, grpcServers: 2 };
    const small = { speed: 0, seed: 5, keepEvents: true, accounts: 16, ordersPerMarket: 8, genesisTime: 1_750_000_000 };
    net = await startLocalnet({ ...ports, ...small, profile });
    await net.step(10);
    const sources = kinds.map((kind, number) => {
      const block = (slot: number, hash: string) => merged.block(number, slot, hash);
      return new RpcSource({
        rpcUrls: [net.rpcUrl],
        wsUrls: [net.wsUrl],
        definition,
        logger: silentLogger(),
        transport: SHARED_NETWORK,
        silenceMs: 60_000,
        ...(kind === 'grpc'
          ? { sessions: grpcSessions({ urls: [net.grpcUrls[number] ?? ''], token: '', block }) }
          : {}),
      });
    });
    const members = sources.map((source, number) => {
      return { name: `server ${number}`, kind: kinds[number] ?? 'grpc', source };
    });
    const programs = definition.programs.map(({ programId }) => bs58.decode(programId));
    const [arbiter] = sources;
    if (!arbiter) throw new Error('no source');
    merged = new MergedSource({ members, arbiter, programs, logger: silentLogger() });
    reading = new SourceReading(merged);
    await reading.until('a leader', () => reading.of('snapshotEnd').length > 0);
    await reading.until('both sources', () => merged.reports().every(({ role }) => role !== 'down'));
    await follow(BATCH);
  };
  const tip = () => net.ledger.slotAt('confirmed');
  const follow = async (slots: number) => {
    for (let done = 0; done < slots; done += BATCH) {
      await net.step(Math.min(BATCH, slots - done));
      await reading.until('the last slot', () => (reading.of('slot').at(-1)?.slot ?? 0) >= tip() - 1);
      const up = merged.reports().filter(({ role }) => role !== 'down');
      await reading.until('all sources', () => up.every(({ name }) => (reportOf(name)?.slot ?? 0) >= tip() - 1));
    }
  };
  const reportOf = (name: string) => merged.reports().find((one) => one.name === name);
  const role = (name: string) => reportOf(name)?.role;
  const leader = () => merged.reports().findIndex((one) => one.role === 'leader');
  const complete = async () => {
    const truth = net.exchange.events(0, 1e6).map(({ signature, index }) => `${signature} ${index}`);
    await reading.until('all events', () => reading.eventIds().length >= truth.length);
    expect(reading.eventIds().sort()).toEqual(truth.sort());
    await reading.until('all orders', () => reading.orders().length === net.exchange.restingOrders().length);
    const slots = reading.of('slot').map(({ slot }) => slot);
    expect(slots).toEqual([...new Set(slots)].sort((a, b) => a - b));
  };

  it('delivers each event once over the death of the leader, without a notice', async () => {
    await start(['grpc', 'grpc']);
    await follow(20);
    const first = leader();
    net.grpcFaults[first]?.add({ kind: 'silentSocket', count: 1 });
    net.grpcFaults[first]?.add({ kind: 'endStream', count: 1 });
    await net.step(10);
    await reading.until('another leader', () => leader() === 1 - first);
    await net.step(10);
    await complete();
    expect([reading.of('reconnect'), reading.of('snapshotEnd').length]).toEqual([[], 1]);
    expect(merged.reports().map(({ isLying }) => isLying)).toEqual([false, false]);
  });

  it.each(['calm', 'mainnet'] as const)('finds no fault in honest sources of different kinds (%s)', async (profile) => {
    await start(['grpc', 'pubsub'], profile);
    await follow(times(60, 100));
    // Logs are cut on mainnet, so that some events cannot be had.
    if (profile === 'calm') await complete();
    for (const report of merged.reports()) {
      expect(report).toMatchObject({
        contradictions: 0,
        missingAccounts: 0,
        missingTransactions: 0,
        faults: 0,
        reason: '',
      });
    }
  });

  it.each([
    ['leaves out account updates', 'loseNotification', 'left out account updates'],
    ['alters account data', 'alterNotification', 'other account data than the chain'],
  ] as const)('names the server that %s, and lets it lead no more', async (_, kind, reason) => {
    await start(['grpc', 'grpc']);
    const lying = leader();
    await follow(10);
    net.grpcFaults[lying]?.add({ kind, methods: ['accountUpdate'], probability: 0.5 });
    await follow(times(40, 60));
    await reading.until('the verdict', () => merged.reports()[lying]?.isLying === true);
    net.grpcFaults[lying]?.clear();
    await follow(10);
    const [wrong, right] = [merged.reports()[lying], merged.reports()[1 - lying]];
    expect(wrong).toMatchObject({ role: 'follower', isLying: true, reason });
    expect(right).toMatchObject({ role: 'leader', isLying: false, faults: 0 });
    if (kind === 'loseNotification') expect(wrong?.missingAccounts).toBeGreaterThan(2);
    else expect(Math.min(wrong?.contradictions ?? 0, right?.contradictions ?? 0)).toBeGreaterThan(2);
  });

  it('is led by PubSub while the gRPC server is far behind', async () => {
    await start(['grpc', 'pubsub']);
    net.grpcFaults[0]?.add({ kind: 'lateNotification', ms: 60_000 });
    await net.step(20);
    await reading.until('another leader', () => role('server 1') === 'leader');
    await reading.until('the lag', () => (reportOf('server 0')?.lagSlots ?? 0) > 8);
    await net.step(5);
    await reading.until('the last slot', () => (reading.of('slot').at(-1)?.slot ?? 0) >= tip() - 1);
    await complete();
    expect(reading.of('reconnect')).toEqual([]);
  });
});
