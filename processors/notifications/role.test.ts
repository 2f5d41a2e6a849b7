// The role over a real log, with more accounts than one commit can store.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type EventLog, offsetKey, openEventLog, readConfig, silentLogger } from '../../platform/index.ts';
import { decodeMessage, encodeMessage, TOPICS } from '../../schemas/index.ts';
import { until } from '../../test/support/platform/eventually.ts';
import {
  account,
  marketRecord,
  perpMarket,
  position,
  quoteMarket,
  timeRecord,
} from '../../test/support/processors/notifications/records.ts';
import { NOTIFICATIONS_GROUP, startNotifications } from './role.ts';

const ACCOUNTS = 60_000;
const PAGE = 10_000;
/** A check loads the state of every account. */
const CHECK_MS = 500;

const config = () => readConfig({}, { dataDir: folder, logLevel: 'silent' });
let folder: string;
let log: EventLog;
beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'notifications-'));
  log = await openEventLog(config(), silentLogger());
  await log.ensureTopics([TOPICS.margin]);
});
afterEach(async () => {
  await log.close();
  rmSync(folder, { recursive: true, force: true });
});

/** 10 SOL long with a quote deposit of 200. */
function longAccount(n: number): Uint8Array {
  const long = position({ baseAssetAmount: 10n ** 10n, quoteAssetAmount: -1_500_000_000n });
  const user = Buffer.alloc(32, 1);
  user.writeUInt32LE(n);
  return encodeMessage('AccountMargin', { ...account(0, 200n, [long]), user, authority: user });
}

const feed = (...values: Uint8Array[]) =>
  log.append(
    TOPICS.margin,
    values.map((value) => ({ key: 'any', value, partition: 0 })),
  );

function start() {
  return startNotifications({ config: config(), logger: silentLogger(), metrics: new Registry(), log });
}

const applied = async (count: number) => {
  const { offsets } = await log.load(NOTIFICATIONS_GROUP);
  return offsets.get(offsetKey(TOPICS.margin.name, 0)) === BigInt(count);
};

async function notified(): Promise<Set<string>> {
  const ids = new Set<string>();
  for (let partition = 0; partition < TOPICS.notifications.partitions; partition++) {
    const { next } = await log.bounds(TOPICS.notifications, partition);
    for (let from = 0n; from < next; ) {
      const page = await log.read(TOPICS.notifications, partition, from, PAGE);
      from = (page.at(-1)?.offset ?? next) + 1n;
      for (const { value } of page) {
        const message = decodeMessage(value);
        if (message.name === 'Notification') ids.add(message.value.id);
      }
    }
  }
  return ids;
}

describe('the notifications role', () => {
  it('evaluates very many accounts at one block time, and tells all of them of a crash', async () => {
    await feed(marketRecord(quoteMarket()), marketRecord(perpMarket()));
    for (let n = 0; n < ACCOUNTS; n += PAGE) await feed(...Array.from({ length: PAGE }, (_, i) => longAccount(n + i)));
    await feed(timeRecord(1));
    const first = await start();
    await Promise.race([first.done, until(() => applied(ACCOUNTS + 3), CHECK_MS)]);
    expect(await notified()).toEqual(new Set());
    await first.stop();
    await feed(marketRecord(perpMarket({ oraclePrice: 136_000_000n })), timeRecord(2));
    const second = await start();
    await Promise.race([second.done, until(() => applied(ACCOUNTS + 5), CHECK_MS)]);
    await second.stop();
    expect((await notified()).size).toBe(ACCOUNTS);
  });
});
