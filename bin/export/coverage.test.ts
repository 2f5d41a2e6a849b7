import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import type { ClickHouseClient } from '@clickhouse/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ClickHouse, readConfig } from '../../platform/index.ts';
import type { ChainGap } from '../../schemas/index.ts';
import { openTestDatabase } from '../../test/support/platform.ts';
import { gapsOfRange, isRangeComplete, readRangeCoverage } from './coverage.ts';
import { writeFileFrom } from './file.ts';
import { exportQuery } from './select.ts';
import { connect, describeTable } from './store.ts';

// A busy machine with a cold page cache takes seconds to start the engine.
const gap = (fromSlot: number, toSlot: number, filledAtMs: number | null = null): ChainGap => ({
  fromSlot,
  toSlot,
  reason: 'not connected',
  foundAtMs: 1_000,
  filledAtMs,
  isLasting: false,
});

describe('the coverage of an export', () => {
  let dataDir: string;
  let clickhouse: ClickHouse;
  let client: ClickHouseClient;

  beforeAll(async () => {
    dataDir = mkdtempSync(path.join(tmpdir(), 'slotbook-export-'));
    clickhouse = await openTestDatabase();
    const { url: clickhouseUrl, user: clickhouseUser, password: clickhousePassword, database } = clickhouse;
    const login = { clickhouseUrl, clickhouseUser, clickhousePassword };
    client = connect(readConfig({}, { ...login, clickhouseDatabase: database }));
    // Slot 100 + n has time 1000 + 10 n. The first event is stored twice.
    const event = (n: number) => ({
      signature: String(n).padStart(64, '0'),
      event_index: n,
      slot: 100 + n,
      ts: 1_000 + 10 * n,
      action: 'cancel',
      market_type: 'perp',
    });
    const values = [0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map(event);
    for (const one of values) {
      await clickhouse.client.insert({ table: 'order_action', values: [one], format: 'JSONEachRow' });
    }
  });
  afterAll(async () => {
    await client?.close();
    await clickhouse?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('counts each row once and finds the ends', async () => {
    const range = { table: 'order_action', fromTs: 1_000, toTs: 1_050 };
    expect(await readRangeCoverage(client, clickhouse.database, range, true)).toEqual({
      rows: 5,
      first: { slot: 100, ts: 1_000 },
      last: { slot: 104, ts: 1_040 },
    });
    const empty = { table: 'order_action', fromTs: 1, toTs: 2 };
    expect(await readRangeCoverage(client, clickhouse.database, empty, true)).toEqual({
      rows: 0,
      first: null,
      last: null,
    });
  });

  it('lists gaps that touch the range, open or filled, with the times of the events around them', async () => {
    const range = { table: 'order_action', fromTs: 1_030, toTs: 1_060 };
    const gaps = [gap(90, 101), gap(101, 103), gap(104, 104, 2_000), gap(105, 300), gap(107, 108)];
    const named = await gapsOfRange(client, clickhouse.database, range, gaps);
    expect(named.map(({ fromSlot, toSlot, fromTs, toTs, filled }) => [fromSlot, toSlot, fromTs, toTs, filled])).toEqual(
      [
        [101, 103, 1_010, 1_030, false],
        [104, 104, 1_040, 1_040, true],
        [105, 300, 1_050, null, false],
      ],
    );
    expect(named[1]?.filledAt).toBe('1970-01-01T00:00:02.000Z');
  });

  it('counts a gap before the first stored event for a range that begins there', async () => {
    const range = { table: 'order_action', fromTs: 500, toTs: 1_010 };
    const named = await gapsOfRange(client, clickhouse.database, range, [gap(0, 99), gap(105, 106)]);
    expect(named).toMatchObject([{ fromSlot: 0, toSlot: 99, fromTs: null, toTs: 1_000 }]);
  });

  it('describes tables with a time, and lists them for an unknown name', async () => {
    const { sortingKey, columns } = await describeTable(client, clickhouse.database, 'order');
    expect(sortingKey).toEqual(['user', 'ts', 'slot', 'signature', 'event_index']);
    expect(columns.some(({ name }) => name === 'user_base58')).toBe(false);
    await expect(describeTable(client, clickhouse.database, 'unknown')).rejects.toThrow(
      /no table unknown .*order_action/,
    );
    await expect(describeTable(client, 'nowhere', 'order')).rejects.toThrow('has no history yet');
  });

  it('orders the fills of a slot like the lists, whatever their signatures and markets', async () => {
    const event = { action: 'fill', market_type: 'perp', slot: 300, ts: 5_000, event_index: 0 };
    const fills = [1, 2, 3].map((id) => ({
      ...event,
      signature: String(9 - id).padStart(64, '0'),
      market_index: 3 - id,
      fill_record_id: id,
    }));
    await clickhouse.client.insert({ table: 'order_action', values: fills, format: 'JSONEachRow' });
    const { stream } = await client.exec({
      query: exportQuery(await describeTable(client, clickhouse.database, 'order_action'), 'csv'),
      query_params: { db: clickhouse.database, table: 'order_action', fromTs: 5_000, toTs: 5_001 },
    });
    const [head = '', ...lines] = (await text(stream)).trimEnd().split('\n');
    const column = head.split(',').indexOf('"fill_record_id"');
    expect(lines.map((line) => line.split(',')[column])).toEqual(['1', '2', '3']);
  });

  it('orders the rows of a slot by their place in the block where it is known', async () => {
    const order = { market_type: 'perp', slot: 400, ts: 6_000, user: 'u'.repeat(32) };
    const orders = [
      { tx_index: 2, event_index: 0 },
      { tx_index: 1, event_index: 1 },
      { tx_index: 1, event_index: 0 },
    ].map((one, n) => ({ ...order, ...one, signature: String(n).padStart(64, '0') }));
    await clickhouse.client.insert({ table: 'order', values: orders, format: 'JSONEachRow' });
    const { stream } = await client.exec({
      query: exportQuery(await describeTable(client, clickhouse.database, 'order'), 'csv'),
      query_params: { db: clickhouse.database, table: 'order', fromTs: 6_000, toTs: 6_001 },
    });
    const [head = '', ...lines] = (await text(stream)).trimEnd().split('\n');
    const [index = 0, event = 0] = ['"tx_index"', '"event_index"'].map((name) => head.split(',').indexOf(name));
    const places = lines.map((line) => line.split(',')).map((cells) => [cells[index], cells[event]]);
    expect(places).toEqual([
      ['1', '0'],
      ['1', '1'],
      ['2', '0'],
    ]);
  });

  it('leaves no file when the server fails halfway', async () => {
    const { stream, response_headers } = await client.exec({
      query: "SELECT number, throwIf(number = 3000000, 'half way') FROM numbers(4000000) FORMAT CSVWithNames",
    });
    const tag = response_headers['x-clickhouse-exception-tag'];
    const folder = mkdtempSync(path.join(dataDir, 'out-'));
    const written = writeFileFrom(stream, path.join(folder, 'rows.csv'), typeof tag === 'string' ? tag : null);
    await expect(written).rejects.toThrow();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('needs a server or a running pipeline', () => {
    expect(() => connect(readConfig({}, { dataDir: path.join(dataDir, 'none') }))).toThrow('no ClickHouse');
  });
});

describe('an exported range is complete', () => {
  const stream = { subject: 'u', slot: 99, firstId: 1, lastId: 9, chainId: 9, missing: 1, holes: [] };
  const streams = [
    { ...stream, stream: 'orders' },
    { ...stream, stream: 'liquidations' },
  ];
  const lacking = (key: string) => {
    const record = { fromId: 4, toId: 4, fromSlot: 40, toSlot: 50, lost: true };
    return [{ ...record, stream: key, reconstructed: [], reconstructedOrders: [] }];
  };
  const known = {
    toTs: 1_000,
    isFinal: true,
    storedUpTo: { slot: 60, ts: 1_000 },
    eventsNotStored: 0,
    gaps: [],
    streams,
  };

  it('where a liquidation has a number without a record, and not where another record is missing', () => {
    expect(isRangeComplete({ ...known, missing: lacking('u/liquidations') })).toBe(true);
    expect(isRangeComplete({ ...known, missing: lacking('u/orders') })).toBe(false);
  });

  it('never where no coverage of records is known', () => {
    expect(isRangeComplete({ ...known, missing: [] })).toBe(true);
    expect(isRangeComplete({ ...known, streams: [], missing: [] })).toBe(false);
  });

  it('never while the chain can take back some of it', () => {
    expect(isRangeComplete({ ...known, isFinal: false, missing: [] })).toBe(false);
  });
});
