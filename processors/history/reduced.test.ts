import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import bs58 from 'bs58';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ClickHouse,
  type EventLog,
  openEventLog,
  type RunningRole,
  readConfig,
  setCurrent,
  silentLogger,
} from '../../platform/index.ts';
import {
  type CandleView,
  encodeEvent,
  encodeMessage,
  type MarketSample,
  marketKey,
  TOPICS,
  type Topic,
  type VaultDepositorState,
  type VaultState,
  type WithdrawnCandle,
} from '../../schemas/index.ts';
import { rowsOf } from '../../test/support/clickhouse/rows.ts';
import { eventually } from '../../test/support/platform/eventually.ts';
import { openTestDatabase } from '../../test/support/platform.ts';
import { fillEvent } from '../../test/support/processors/history/events.ts';
import { MESSAGE_EXAMPLES } from '../../test/support/schemas/message-examples.ts';
import { startHistorySink } from './role.ts';

// A busy machine with a cold page cache takes seconds to start the engine.
const logger = silentLogger();
let dataDir: string;
let clickhouse: ClickHouse;
let log: EventLog;
let role: RunningRole | undefined;

beforeAll(async () => {
  dataDir = mkdtempSync(path.join(tmpdir(), 'slotbook-reduced-'));
  const config = readConfig({}, { dataDir });
  clickhouse = await openTestDatabase();
  log = await openEventLog(config, logger);
  await log.ensureTopics([
    TOPICS.events,
    TOPICS.book,
    TOPICS.samples,
    TOPICS.candleViews,
    TOPICS.vaults,
    TOPICS.deadLetters,
  ]);
});
afterAll(async () => {
  await role?.stop();
  await log.close();
  await clickhouse.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

const sample = (slot: number): MarketSample => ({
  marketType: 'perp',
  marketIndex: 3,
  slot,
  ts: 1_700_000_000 + slot,
  oraclePrice: 5n,
  oracleHigh: 2n ** 62n,
  oracleLow: -1n,
  bidPrice: null,
  askPrice: 6n,
  longSpread: 4_000_000_000,
  shortSpread: 1,
  baseAssetAmountWithAmm: -(2n ** 90n),
  openInterestLong: 2n ** 90n,
  openInterestShort: -7n,
});
const candle = (version: bigint, quoteVolume: bigint): CandleView => ({
  marketType: 'spot',
  marketIndex: 1,
  resolution: '60',
  ts: 1_700_000_000,
  slot: 77,
  fillOpen: 1n,
  fillHigh: 4n,
  fillLow: 1n,
  fillClose: 2n,
  oracleOpen: 1n,
  oracleHigh: 4n,
  oracleLow: 1n,
  oracleClose: 2n,
  quoteVolume,
  baseVolume: 2n ** 63n,
  trades: 3,
  lastTradeTs: 1_700_000_001n,
  lastFillRecordId: null,
  version,
});

const rows = <T = Record<string, unknown>>(query: string) => rowsOf<T>(clickhouse, query);
const put = (topic: Topic, values: readonly Buffer[]) =>
  log.append(
    topic,
    values.map((value) => ({ key: marketKey({ marketType: 'perp', marketIndex: 3 }), value })),
  );
const start = async () => {
  role = await startHistorySink(
    { config: readConfig({}, { dataDir, sinkMaxDelayMs: 20 }), log, logger, metrics: new Registry() },
    clickhouse,
  );
};
const projections = async () =>
  (await rows<{ name: string }>('SELECT name FROM projection FINAL ORDER BY name')).map(({ name }) => name);

describe('samples and candles', () => {
  it('are stored with every value exact; the newest version of a candle counts', async () => {
    await put(TOPICS.samples, [encodeMessage('MarketSample', sample(50))]);
    await put(
      TOPICS.candleViews,
      [2n, 3n, 1n].map((version) => encodeMessage('CandleView', candle(version, version))),
    );
    await start();
    await eventually(async () => expect(await rows('SELECT 1 FROM candle')).not.toEqual([]));
    await eventually(async () => expect(await rows('SELECT 1 FROM market_sample')).not.toEqual([]));
    expect(await rows('SELECT * FROM market_sample')).toEqual([
      {
        market_type: 'perp',
        market_index: 3,
        slot: '50',
        ts: '1700000050',
        oracle_price: '5',
        oracle_high: String(2n ** 62n),
        oracle_low: '-1',
        bid_price: null,
        ask_price: '6',
        long_spread: 4_000_000_000,
        short_spread: 1,
        base_asset_amount_with_amm: String(-(2n ** 90n)),
        open_interest_long: String(2n ** 90n),
        open_interest_short: '-7',
      },
    ]);
    expect(await rows('SELECT * FROM candle FINAL')).toEqual([
      {
        market_type: 'spot',
        market_index: 1,
        resolution: '60',
        ts: '1700000000',
        slot: '77',
        fill_open: '1',
        fill_high: '4',
        fill_low: '1',
        fill_close: '2',
        oracle_open: '1',
        oracle_high: '4',
        oracle_low: '1',
        oracle_close: '2',
        quote_volume: '3',
        base_volume: String(2n ** 63n),
        trades: '3',
        last_trade_ts: '1700000001',
        last_fill_record_id: null,
        version: '3',
      },
    ]);
  });

  it('have no prices where a candle is withdrawn', async () => {
    const prices = ['fill', 'oracle'].flatMap((name) => ['Open', 'High', 'Low', 'Close'].map((part) => name + part));
    const gone = Object.fromEntries(prices.map((name) => [name, null])) as unknown as WithdrawnCandle;
    await put(TOPICS.candleViews, [encodeMessage('CandleView', { ...candle(4n, 0n), ...gone })]);
    const stored = () => rows('SELECT fill_close, oracle_open, trades FROM candle WHERE version = 4');
    await eventually(async () =>
      expect(await stored()).toEqual([{ fill_close: null, oracle_open: null, trades: '3' }]),
    );
  });

  it('count as built only after their reducer has read its inputs', async () => {
    // No reducer has read `samples`, the input of candles; `book`, the input of samples, is empty.
    const withoutCandles = ['events', 'notificationMarks', 'notifications', 'samples', 'vaults'];
    await eventually(async () => expect(await projections()).toEqual(withoutCandles));
    const next = [0, 1, 2, 3].map(async (partition) => ({
      topic: TOPICS.samples.name,
      partition,
      next: (await log.bounds(TOPICS.samples, partition)).next,
    }));
    await log.commit('candles', { offsets: await Promise.all(next) });
    await eventually(async () => expect(await projections()).toEqual(['candles', ...withoutCandles]));
  });

  it('continue at their offset after a restart, and park foreign records', async () => {
    await role?.stop();
    await put(TOPICS.samples, [
      encodeMessage('BookTime', { slot: 1, ts: 1 }),
      encodeMessage('MarketSample', sample(100)),
    ]);
    await start();
    await eventually(async () => expect(await rows('SELECT slot FROM market_sample')).toHaveLength(2));
    // The dead letter is committed with the offset, after the rows.
    const letters = () => log.read(TOPICS.deadLetters, 0, 0n, 10);
    await eventually(async () => expect(await letters()).toHaveLength(1));
  });
});

describe('states of vaults', () => {
  const vault: VaultState = MESSAGE_EXAMPLES.VaultState;
  const depositor: VaultDepositorState = MESSAGE_EXAMPLES.VaultDepositorState;

  it('are stored in the table of their kind; the newest slot counts, and within a slot the last in the log', async () => {
    const states = [
      encodeMessage('VaultState', { ...vault, slot: 11, totalShares: 1n }),
      encodeMessage('VaultState', { ...vault, slot: 11, totalShares: 2n ** 127n }),
      encodeMessage('VaultState', { ...vault, slot: 10, totalShares: 3n }),
      encodeMessage('VaultDepositorState', depositor),
    ];
    await log.append(
      TOPICS.vaults,
      states.map((value) => ({ key: 'vault', value })),
    );
    await eventually(async () => expect(await rows('SELECT 1 FROM vault_depositor_state')).not.toEqual([]));
    await eventually(async () => expect(await rows('SELECT 1 FROM vault_state')).not.toEqual([]));
    expect(await rows('SELECT slot, total_shares, vault, name, permissioned FROM vault_state FINAL')).toEqual([
      {
        slot: '11',
        total_shares: String(2n ** 127n),
        vault: bs58.encode(vault.vault),
        name: vault.name,
        permissioned: true,
      },
    ]);
    expect(await rows('SELECT depositor, authority, vault_shares FROM vault_depositor_state FINAL')).toEqual([
      {
        depositor: bs58.encode(depositor.depositor),
        authority: bs58.encode(depositor.authority),
        vault_shares: String(depositor.vaultShares),
      },
    ]);
  });
});

describe('the sink', () => {
  it('switches to another database while it runs, and continues there at the offset of that database', async () => {
    await log.append(TOPICS.events, [{ key: 'perp-3', value: encodeEvent(fillEvent(1)) }]);
    await eventually(async () => expect(await rows('SELECT count() AS n FROM order_action')).toEqual([{ n: '1' }]));
    await setCurrent(log, { write: 'other' });
    const counts =
      'SELECT (SELECT count() FROM other.order_action) AS events, (SELECT count() FROM other.market_sample) AS samples';
    await eventually(async () => expect(await rows(counts)).toEqual([{ events: '1', samples: '2' }]));
    await log.append(TOPICS.events, [{ key: 'perp-3', value: encodeEvent(fillEvent(2)) }]);
    await eventually(async () => expect(await rows(counts)).toEqual([{ events: '2', samples: '2' }]));
    expect(await rows('SELECT count() AS n FROM order_action')).toEqual([{ n: '1' }]);
    await setCurrent(log, { write: clickhouse.database });
    await eventually(async () => expect(await rows('SELECT count() AS n FROM order_action')).toEqual([{ n: '2' }]));
  });
});

describe('notifications', () => {
  it('are one row each, also when the topic repeats them; an outcome counts over PENDING', async () => {
    const { Notification: one, NotificationRead: read, NotificationDelivery: delivery } = MESSAGE_EXAMPLES;
    const sent = { ...delivery, status: 'SENT', version: 1 };
    await put(TOPICS.notifications, [encodeMessage('Notification', one), encodeMessage('Notification', one)]);
    await put(TOPICS.notificationMarks, [
      encodeMessage('NotificationDelivery', sent),
      encodeMessage('NotificationDelivery', delivery),
      encodeMessage('NotificationRead', read),
    ]);
    // The sink inserts into each table by itself, in no common order.
    await eventually(async () => {
      expect(await rows('SELECT count() AS n FROM notification_read FINAL')).toEqual([{ n: '1' }]);
      expect(await rows('SELECT id, authority, user, ts FROM notification FINAL')).toEqual([
        { id: one.id, authority: bs58.encode(one.authority), user: null, ts: String(one.ts) },
      ]);
      expect(await rows('SELECT authority, status FROM notification_delivery FINAL')).toEqual([
        { authority: '', status: 'SENT' },
      ]);
    });
  });
});
