// The role reads account states beside events, and publishes what they show of lost records.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import bs58 from 'bs58';
import { expect, it } from 'vitest';
import {
  APPEND_BYTES_MAX,
  CoverageTail,
  commitBytes,
  createMetrics,
  openEventLog,
  readConfig,
  silentLogger,
} from '../../platform/index.ts';
import { type Backfill, encodeMessage, type StreamCounter, TOPICS, type UserOrders } from '../../schemas/index.ts';
import { until } from '../../test/support/platform/eventually.ts';
import { orderState, userOf } from '../../test/support/processors/order-lives.ts';
import { COVERAGE_GROUP, coverageOfAccount } from './account.ts';
import { SETTLE_SLOTS } from './reducer.ts';
import { startCoverage } from './role.ts';

it('names a lost order with what the account showed, in the topic and for the audit of the account', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'slotbook-coverage-'));
  const config = readConfig({}, { dataDir });
  const log = await openEventLog(config, silentLogger());
  const [user, subject] = [userOf(0), bs58.encode(userOf(0))];
  const orders = [{ ...orderState(8, 0n), placedSlot: 105 }];
  const state: UserOrders = { marketType: 'perp', marketIndex: 0, slot: 105, user, orders };
  const count = { subject, stream: 'orders', slot: 105, lastId: 8, fromId: 7, fromSlot: 100 };
  const read = { id: 'x', fromSlot: 90, toSlot: 120, nextSlot: 121, found: 0, lost: 0, reason: '', atMs: 0 };
  const backfill: Backfill = { ...read, state: 'done' };
  const role = await startCoverage({ config, log, logger: silentLogger(), metrics: createMetrics(['coverage']) });
  try {
    const append = (topic: Parameters<typeof log.append>[0], value: Uint8Array) =>
      log.append(topic, [{ key: 'perp-0', value }]);
    await append(TOPICS.counters, encodeMessage('StreamCounter', { ...count, slot: 100, lastId: 7, fromId: null }));
    await append(TOPICS.userOrders, encodeMessage('BookSlot', { slot: 104 }));
    await append(TOPICS.userOrders, encodeMessage('UserOrders', state));
    await append(TOPICS.counters, encodeMessage('StreamCounter', count));
    await append(TOPICS.backfills, encodeMessage('Backfill', backfill));
    const order = { orderId: 8, market: 'perp-0', direction: 'long', orderType: 'limit' };
    const reconstructedOrders = [{ ...order, price: '7', baseAssetAmount: '1000', placedSlot: 105 }];
    const hole = { fromId: 8, toId: 8, isLost: true, reconstructedOrders };
    const tail = new CoverageTail(log);
    const published = async () => (await tail.read()).find((one) => one.subject === subject);
    let slot = 106 + SETTLE_SLOTS;
    await until(async () => {
      // Coverage is published every few slots.
      slot += 10;
      const passed = { subject: 'spot-0', stream: 'deposits', slot, lastId: 0, fromId: null, fromSlot: null };
      await append(TOPICS.counters, encodeMessage('StreamCounter', passed));
      return (await published())?.holes[0]?.reconstructedOrders.length === 1;
    });
    expect((await published())?.holes).toMatchObject([hole]);
    expect((await coverageOfAccount(log, subject))[0]?.holes).toMatchObject([hole]);
  } finally {
    await role.stop();
    await log.close();
    await rm(dataDir, { recursive: true, force: true });
  }
});

it('calls the holes of very many accounts lost at once', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'slotbook-coverage-'));
  const config = readConfig({}, { dataDir });
  const log = await openEventLog(config, silentLogger());
  const accounts = 28_000;
  const committed = new Map<string, bigint>();
  const commit = log.commit.bind(log);
  log.commit = async (group, step) => {
    await commit(group, step);
    for (const { topic, next } of step.offsets ?? []) committed.set(topic, next);
  };
  const subjectOf = (n: number) => {
    const key = Buffer.alloc(32, 1);
    key.writeUInt32LE(n);
    return bs58.encode(key);
  };
  const count = { stream: 'orders', slot: 105, lastId: 8, fromId: 7, fromSlot: 100 };
  const read = { id: 'x', fromSlot: 90, toSlot: 120, nextSlot: 121, found: 0, lost: 0, reason: '', atMs: 0 };
  const passed = { subject: 'spot-0', stream: 'deposits', lastId: 0, fromId: null, fromSlot: null };
  await log.ensureTopics([TOPICS.counters, TOPICS.backfills]);
  const counters = (values: readonly StreamCounter[]) =>
    log.append(
      TOPICS.counters,
      values.map((value) => ({ key: 'any', value: encodeMessage('StreamCounter', value), partition: 0 })),
    );
  await counters(Array.from({ length: accounts }, (_, n) => ({ ...count, subject: subjectOf(n) })));
  await counters([{ ...passed, slot: 106 + SETTLE_SLOTS }]);
  const role = await startCoverage({ config, log, logger: silentLogger(), metrics: createMetrics(['coverage']) });
  try {
    const isLost = async () => (await coverageOfAccount(log, subjectOf(0)))[0]?.holes[0]?.isLost;
    const taken = (topic: string, next: bigint) =>
      Promise.race([role.done, until(() => committed.get(topic) === next)]);
    await taken(TOPICS.counters.name, BigInt(accounts + 1));
    expect(await isLost()).toBe(false);
    await log.append(TOPICS.backfills, [{ key: 'x', value: encodeMessage('Backfill', { ...read, state: 'done' }) }]);
    await taken(TOPICS.backfills.name, 1n);
    await counters([{ ...passed, slot: 116 + SETTLE_SLOTS }]);
    await taken(TOPICS.counters.name, BigInt(accounts + 2));
    expect(await isLost()).toBe(true);
    // One step changed all of them.
    const state = Array.from((await log.load(COVERAGE_GROUP)).state, ([key, value]) => ({ key, value }));
    expect(commitBytes({ state })).toBeGreaterThan(APPEND_BYTES_MAX);
  } finally {
    await role.stop();
    await log.close();
    await rm(dataDir, { recursive: true, force: true });
  }
});
