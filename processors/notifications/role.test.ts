// The role over a real log, with more accounts than one commit can store.

import { Registry } from 'prom-client';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  APPEND_BYTES_MAX,
  type Config,
  commitBytes,
  type EventLog,
  offsetKey,
  silentLogger,
} from '../../platform/index.ts';
import { decodeMessage, encodeMessage, TOPICS } from '../../schemas/index.ts';
import { temporaryLog } from '../../test/support/log/temporary-log.ts';
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

const ACCOUNTS = 20_000;
const PAGE = 5_000;
const SETTLED_MARKET = 1;
/** A position that weighs nothing and takes many bytes: fewer accounts reach the limit. */
const SETTLED = position({
  marketIndex: SETTLED_MARKET,
  lastCumulativeFundingRate: 2n ** 62n,
  openBids: 2n ** 62n,
  openAsks: -(2n ** 62n),
  isolatedScaledBalance: 2n ** 62n,
});
const SETTLED_POSITIONS = 7;

let log: EventLog;
let config: Config;
beforeEach(async () => {
  ({ log, config } = await temporaryLog(TOPICS.margin));
});

/** 10 SOL long with a quote deposit of 200, and settled positions. */
function longAccount(n: number): Uint8Array {
  const long = position({ baseAssetAmount: 10n ** 10n, quoteAssetAmount: -1_500_000_000n });
  const settled = Array.from({ length: SETTLED_POSITIONS }, () => SETTLED);
  const user = Buffer.alloc(32, 1);
  user.writeUInt32LE(n);
  return encodeMessage('AccountMargin', { ...account(0, 200n, [long, ...settled]), user, authority: user });
}

const feed = (...values: Uint8Array[]) =>
  log.append(
    TOPICS.margin,
    values.map((value) => ({ key: 'any', value, partition: 0 })),
  );

/** Runs the role until it has committed so many records of `margin`. Returns the state of the accounts. */
async function runTo(count: number): Promise<{ key: string; value: Uint8Array }[]> {
  const metrics = new Registry();
  const role = await startNotifications({ config, logger: silentLogger(), metrics, log });
  const lag = async () => {
    const { values } = (await metrics.getSingleMetric('slotbook_notifications_lag_records')?.get()) ?? { values: [] };
    return values.find(({ labels }) => labels.topic === TOPICS.margin.name)?.value;
  };
  await Promise.race([role.done, until(async () => (await lag()) === 0)]);
  // Ends the batch first.
  await role.stop();
  await role.done;
  const { offsets, state } = await log.load(NOTIFICATIONS_GROUP);
  expect(offsets.get(offsetKey(TOPICS.margin.name, 0))).toBe(BigInt(count));
  return Array.from(state, ([key, value]) => ({ key, value })).filter(({ key }) => key.startsWith('account:'));
}

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
  it('evaluates very many accounts at one block time, and informs all of them of a crash', async () => {
    const settled = perpMarket({ marketIndex: SETTLED_MARKET, status: 'settlement' });
    await feed(...[quoteMarket(), perpMarket(), settled].map(marketRecord));
    for (let n = 0; n < ACCOUNTS; n += PAGE) await feed(...Array.from({ length: PAGE }, (_, i) => longAccount(n + i)));
    await feed(timeRecord(1));
    await runTo(ACCOUNTS + 4);
    expect(await notified()).toEqual(new Set());
    await feed(marketRecord(perpMarket({ oraclePrice: 136_000_000n })), timeRecord(2));
    const state = await runTo(ACCOUNTS + 6);
    // The crash changed all of them in one step.
    expect(commitBytes({ state })).toBeGreaterThan(APPEND_BYTES_MAX);
    expect((await notified()).size).toBe(ACCOUNTS);
  });
});
