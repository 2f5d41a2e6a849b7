// Backfills from blocks: each event once, over restarts, with the same candles as if it had been there from the start.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import bs58 from 'bs58';
import { afterEach, describe, expect, it } from 'vitest';
import { type RunningLocalnet, startLocalnet } from '../../localnet/index.ts';
import {
  BackfillTail,
  CoverageTail,
  createMetrics,
  type EventLog,
  openEventLog,
  type RunningRole,
  readConfig,
  silentLogger,
} from '../../platform/index.ts';
import { startCoverage } from '../../processors/index.ts';
import {
  type Backfill,
  decodeEvent,
  decodeGaps,
  encodeMessage,
  GAPS_GROUP,
  GAPS_KEY,
  loadDefinition,
  TOPICS,
} from '../../schemas/index.ts';
import { encodedEventsOf } from '../../test/support/ingest/encoded-events.ts';
import { FaultyNode } from '../../test/support/ingest/faulty-node.ts';
import { SHARED_NETWORK } from '../../test/support/ingest/shared-thread.ts';
import { stepInTurns } from '../../test/support/localnet/step-in-turns.ts';
import { until } from '../../test/support/platform/eventually.ts';
import { candlesOf } from '../../test/support/processors/candles/candles-of.ts';
import { eventId } from '../decode/transaction.ts';
import { startIngest } from '../role.ts';
import { RpcSource } from '../rpc.ts';

const definition = loadDefinition('velocity');

describe('backfill', () => {
  let net: RunningLocalnet;
  let node: FaultyNode;
  let log: EventLog;
  let dataDir: string;
  const running: RunningRole[] = [];
  afterEach(async () => {
    for (const role of running.splice(0)) await role.stop();
    await node.close();
    await net.stop();
    await log.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  const prepare = async (slots: number) => {
    net = await startLocalnet({
      rpcPort: 0,
      wsPort: 0,
      speed: 0,
      seed: 11,
      keepLedger: true,
      accounts: 12,
      ordersPerMarket: 6,
      activity: 0.5,
    });
    await net.step(slots);
    node = await FaultyNode.open(net.rpcUrl);
    dataDir = await mkdtemp(path.join(tmpdir(), 'slotbook-backfill-'));
    log = await openEventLog(readConfig({}, { dataDir }), silentLogger());
  };
  const context = (role: string, blocksPerSecond = 400) => {
    const config = readConfig({}, { rpcBackfillBlocksPerSecond: blocksPerSecond, shadowCheckMs: 0 });
    return { config, log, logger: silentLogger(), metrics: createMetrics([role]) };
  };
  /** At 40 blocks a second a backfill lasts longer than it takes to stop it. */
  const ingest = async (firstSignaturesMax: number, blocksPerSecond?: number) => {
    const urls = { rpcUrls: [node.url], wsUrls: [net.wsUrl] };
    const options = { definition, logger: silentLogger(), silenceMs: 60_000, auditMs: 30, firstSignaturesMax };
    const role = await startIngest(context('ingest', blocksPerSecond), {
      definition,
      source: new RpcSource({ ...urls, ...options, transport: SHARED_NETWORK }),
    });
    running.push(role);
    return role;
  };
  const logged = async () => {
    const values: Uint8Array[] = [];
    for (let partition = 0; partition < TOPICS.events.partitions; partition++) {
      let next = 0n;
      for (;;) {
        const records = await log.read(TOPICS.events, partition, next, 5_000);
        if (records.length === 0) break;
        for (const { value, offset } of records) {
          values.push(Uint8Array.from(value));
          next = offset + 1n;
        }
      }
    }
    return values;
  };
  const idsOf = (values: readonly Uint8Array[]) =>
    values.map((value) => {
      const { signature, eventIndex } = decodeEvent(value);
      return eventId(signature, eventIndex);
    });
  const newest = async (id: string) => (await new BackfillTail(log).read()).get(id);
  const steps = (slots: number) => stepInTurns(net, slots);

  it('of a range reads each missing event once, over a restart, and candles come out the same', async () => {
    await prepare(130);
    const first = await ingest(40, 40);
    await until(async () => (await logged()).length > 0);
    await steps(80);
    // Beyond the 40 signatures that the first start read back, so that the range meets what is stored.
    const [fromSlot, toSlot] = [net.ledger.genesisSlot, net.ledger.genesisSlot + 130];
    const counts = { nextSlot: fromSlot, found: 0, lost: 0, atMs: 0 };
    const request: Backfill = { id: 'test', fromSlot, toSlot, ...counts, state: 'asked', reason: 'test' };
    await log.append(TOPICS.backfills, [{ key: 'test', value: encodeMessage('Backfill', request) }]);
    await until(async () => ((await newest('test'))?.nextSlot ?? 0) > fromSlot);
    await first.stop();
    expect((await newest('test'))?.state).not.toBe('done');
    running.splice(0);
    await ingest(40);
    await until(async () => (await newest('test'))?.state === 'done');
    await steps(20);
    const truth = await encodedEventsOf(net);
    const wanted = idsOf(truth.map(({ value }) => value));
    await until(async () => (await logged()).length >= wanted.length);
    const stored = await logged();
    expect(idsOf(stored).sort()).toEqual([...wanted].sort());
    expect((await newest('test'))?.found).toBeGreaterThan(50);
    const inOrder = truth.map(({ value }) => value);
    expect(candlesOf(stored).size).toBeGreaterThan(0);
    expect(candlesOf(stored)).toEqual(candlesOf(inOrder));
  });

  it('of a hole in numbered records starts by itself, and closes hole and gap', async () => {
    await prepare(60);
    const victim = (await encodedEventsOf(net))
      .map(({ value }) => decodeEvent(value))
      .find(({ data, slot }) => {
        return (
          slot > net.ledger.genesisSlot + 20 && typeof data.fill_record_id === 'bigint' && data.fill_record_id > 2n
        );
      });
    const signature = victim?.signature ?? new Uint8Array();
    node.on('getTransaction', ([asked], next) => (asked === bs58.encode(signature) ? { result: null } : next()));
    running.push(await startCoverage(context('coverage')));
    await ingest(20_000);
    const gaps = async () => {
      const bytes = (await log.load(GAPS_GROUP)).state.get(GAPS_KEY);
      return (bytes ? decodeGaps(bytes) : []).filter(({ reason }) => reason.includes(bs58.encode(signature)));
    };
    await until(async () => (await gaps()).length > 0);
    expect((await gaps())[0]).toMatchObject({ isLasting: true, filledAtMs: null });
    await steps(320);
    await until(async () => [...(await new BackfillTail(log).read()).values()].some(({ state }) => state === 'done'));
    await until(async () => (await gaps())[0]?.filledAtMs !== null);
    await steps(20);
    await until(async () => {
      const streams = await new CoverageTail(log).read();
      return streams.length > 0 && streams.every(({ missing }) => missing === 0);
    });
    const wanted = idsOf((await encodedEventsOf(net)).map(({ value }) => value));
    await until(async () => (await logged()).length >= wanted.length);
    expect(idsOf(await logged()).sort()).toEqual([...wanted].sort());
  });
});
