import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import bs58 from 'bs58';
import { describe, expect, it } from 'vitest';
import { startLocalnet } from '../../localnet/index.ts';
import { createMetrics, metricTotal, openEventLog, readConfig, silentLogger } from '../../platform/index.ts';
import {
  decodeEvent,
  decodeGaps,
  decodeMessage,
  GAPS_GROUP,
  GAPS_KEY,
  loadDefinition,
  TOPICS,
} from '../../schemas/index.ts';
import { SHARED_NETWORK } from '../../test/support/ingest/shared-thread.ts';
import { until } from '../../test/support/platform/eventually.ts';
import { startIngest } from '../role.ts';
import { RpcSource } from '../rpc.ts';
import type { TransactionPlace } from '../source.ts';
import { FinalityCheck } from './check.ts';

const definition = loadDefinition('velocity');

/** A chain that lacks some signatures, and what the check recorded. */
function checkOf(lacking: readonly string[]) {
  const asked: string[][] = [];
  const retracted: (readonly [number, readonly string[]])[] = [];
  const unchecked: number[] = [];
  const check = new FinalityCheck({
    reader: {
      lacking: async (places: readonly TransactionPlace[]) => {
        asked.push(places.map(({ signature }) => signature));
        return places.filter(({ signature }) => lacking.includes(signature));
      },
      landed: async () => [],
    },
    write: async () => [],
    retract: async (slot, signatures) => void retracted.push([slot, signatures]),
    unchecked: (transactions) => void unchecked.push(transactions),
    logger: silentLogger(),
  });
  return { check, asked, retracted, unchecked };
}

describe('the comparison with the finalized chain', () => {
  it('asks for each stored transaction once, when the chain has finalized its slot', async () => {
    const { check, asked, retracted } = checkOf([]);
    for (const signature of ['a', 'b', 'a']) check.stored({ slot: 100, signature });
    check.stored({ slot: 120, signature: 'c' });
    await check.round();
    expect(asked).toEqual([]);
    check.final(116);
    await check.round();
    await check.round();
    expect(asked).toEqual([['a', 'b']]);
    check.final(200);
    await check.round();
    expect([asked.at(-1), retracted]).toEqual([['c'], []]);
  });

  it('records what the finalized chain lacks, slot by slot', async () => {
    const { check, retracted } = checkOf(['b', 'c', 'd']);
    for (const [slot, signature] of [
      [100, 'a'],
      [100, 'b'],
      [101, 'c'],
      [101, 'd'],
    ] as const) {
      check.stored({ slot, signature });
    }
    check.final(150);
    await check.round();
    expect(retracted).toEqual([
      [100, ['b']],
      [101, ['c', 'd']],
    ]);
  });

  it('leaves out transactions that were final when they came', async () => {
    const { check, asked } = checkOf([]);
    check.stored({ slot: 1_000, signature: 'new' });
    check.stored({ slot: 100, signature: 'old' });
    check.final(2_000);
    await check.round();
    expect(asked).toEqual([['new']]);
  });

  it('compares what an earlier process had not compared, however old it is', async () => {
    const { check, asked } = checkOf([]);
    check.resumeAt(100);
    check.stored({ slot: 1_000, signature: 'new' });
    check.stored({ slot: 99, signature: 'final' });
    check.stored({ slot: 100, signature: 'old' });
    expect(check.oldestSlot).toBe(100);
    check.final(2_000);
    await check.round();
    expect(asked).toEqual([['old', 'new']]);
    expect(check.oldestSlot).toBe(Number.POSITIVE_INFINITY);
  });

  it('repeats a round that no node answered', async () => {
    const retracted: number[] = [];
    let isAway = true;
    const check = new FinalityCheck({
      reader: {
        lacking: async (places) => (isAway ? Promise.reject(new Error('away')) : places),
        landed: async () => [],
      },
      write: async () => [],
      retract: async (slot) => void retracted.push(slot),
      unchecked: () => {},
      logger: silentLogger(),
    });
    check.stored({ slot: 5, signature: 'a' });
    check.final(50);
    await expect(check.round()).rejects.toThrow('away');
    isAway = false;
    await check.round();
    expect(retracted).toEqual([5]);
  });

  it('finds the confirmed slots that a chain drops, and no other transaction', async () => {
    const options = { rpcPort: 0, wsPort: 0, speed: 0, seed: 5, keepLedger: true, accounts: 12, ordersPerMarket: 6 };
    const net = await startLocalnet(options);
    const dataDir = await mkdtemp(path.join(tmpdir(), 'slotbook-finality-'));
    const log = await openEventLog(readConfig({}, { dataDir }), silentLogger());
    const metrics = createMetrics(['ingest']);
    const config = readConfig({}, { shadowCheckMs: 0, sampleSlots: 5 });
    const read = async (topic: (typeof TOPICS)['events'] | (typeof TOPICS)['retractions']) => {
      const values: Uint8Array[] = [];
      for (let partition = 0; partition < topic.partitions; partition++) {
        for (const { value } of await log.read(topic, partition, 0n, 50_000)) values.push(Uint8Array.from(value));
      }
      return values;
    };
    const nodes = { rpcUrls: [net.rpcUrl], wsUrls: [net.wsUrl] };
    const source = new RpcSource({
      ...nodes,
      definition,
      logger: silentLogger(),
      transport: SHARED_NETWORK,
      silenceMs: 60_000,
      auditMs: 30,
      sampleSlots: 5,
    });
    const role = await startIngest({ config, log, logger: silentLogger(), metrics }, { definition, source });
    try {
      await net.step(20);
      await until(async () => (await read(TOPICS.events)).length > 0);
      net.dropConfirmed(2);
      await net.step(2);
      const dropped = net.ledger.branchBlocks;
      const has = async (slot: number) => (await read(TOPICS.events)).some((value) => decodeEvent(value).slot === slot);
      for (const { slot } of dropped) await until(() => has(slot));
      for (let at = 0; at < 30; at++) {
        await net.step(5);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      await until(async () => (await read(TOPICS.retractions)).length === dropped.length);
      const stored = (await read(TOPICS.events)).map(decodeEvent);
      for (const value of await read(TOPICS.retractions)) {
        const message = decodeMessage(value);
        if (message.name !== 'SlotRetraction') throw new Error(message.name);
        const { slot, signatures } = message.value;
        const inSlot = stored.filter((event) => event.slot === slot).map(({ signature }) => bs58.encode(signature));
        expect(signatures.map((one) => bs58.encode(one)).sort()).toEqual([...new Set(inSlot)].sort());
        expect(net.ledger.history.block(slot)).toBeNull();
      }
      const named = async () => {
        const gaps = decodeGaps((await log.load(GAPS_GROUP)).state.get(GAPS_KEY) ?? new Uint8Array());
        return gaps.filter(({ reason }) => reason.startsWith('the chain dropped'));
      };
      // A gap is saved after its retraction.
      await until(async () => (await named()).length === dropped.length);
      expect((await named()).map(({ fromSlot, isLasting }) => [fromSlot, isLasting])).toEqual(
        dropped.map(({ slot }) => [slot, true]),
      );
      expect(await metricTotal(metrics, 'slotbook_ingest_retracted_transactions_total')).toBeGreaterThan(0);
    } finally {
      await role.stop();
      await net.stop();
      await log.close();
      await rm(dataDir, { recursive: true, force: true });
    }
  });
});
