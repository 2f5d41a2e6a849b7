import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ClickHouseClient } from '@clickhouse/client';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type ClickHouse, readConfig } from '../../platform/index.ts';
import { openTestDatabase } from '../../platform/testing.ts';
import type { ChainGap } from '../../schemas/index.ts';
import { gapsOfRange, readRangeFacts } from './coverage.ts';
import { writeFileFrom } from './file.ts';
import { connect, describeTable } from './store.ts';

// A busy machine with a cold page cache takes seconds to start the engine.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 60_000 });

const gap = (fromSlot: number, toSlot: number, filledAtMs: number | null = null): ChainGap => ({
  fromSlot,
  toSlot,
  reason: 'not connected',
  foundAtMs: 1_000,
  filledAtMs,
  isLasting: false,
});

describe('what an export can answer for', () => {
  let dataDir: string;
  let clickhouse: ClickHouse;
  let client: ClickHouseClient;

  beforeAll(async () => {
    dataDir = mkdtempSync(path.join(tmpdir(), 'slotbook-export-'));
    clickhouse = await openTestDatabase();
    client = connect(readConfig({}, { clickhouseUrl: clickhouse.url, clickhouseDatabase: clickhouse.database }));
    // Slot 100 + n at second 1000 + 10 n, the first event stored twice.
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
    expect(await readRangeFacts(client, clickhouse.database, range, true)).toEqual({
      rows: 5,
      first: { slot: 100, ts: 1_000 },
      last: { slot: 104, ts: 1_040 },
    });
    const empty = { table: 'order_action', fromTs: 1, toTs: 2 };
    expect(await readRangeFacts(client, clickhouse.database, empty, true)).toEqual({
      rows: 0,
      first: null,
      last: null,
    });
  });

  it('names gaps that touch the range, open or filled, with the times of what stands around them', async () => {
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

  it('counts a gap before all that is stored as one of a range that begins there', async () => {
    const range = { table: 'order_action', fromTs: 500, toTs: 1_010 };
    const named = await gapsOfRange(client, clickhouse.database, range, [gap(0, 99), gap(105, 106)]);
    expect(named).toMatchObject([{ fromSlot: 0, toSlot: 99, fromTs: null, toTs: 1_000 }]);
  });

  it('knows tables with a time, and lists them for a name that is none', async () => {
    const { sortingKey, columns } = await describeTable(client, clickhouse.database, 'order');
    expect(sortingKey).toEqual(['user', 'ts', 'slot', 'signature', 'event_index']);
    expect(columns.some(({ name }) => name === 'user_base58')).toBe(false);
    await expect(describeTable(client, clickhouse.database, 'unknown')).rejects.toThrow(
      /no table unknown .*order_action/,
    );
    await expect(describeTable(client, 'nowhere', 'order')).rejects.toThrow('holds no history yet');
  });

  it('leaves no file when the server gives up half way', async () => {
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
