import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { ClickHouseError } from '@clickhouse/client';
import { describe, expect, it } from 'vitest';
import {
  type ClickHouseClient,
  type Commit,
  type EventLog,
  metricTotal,
  openEventLog,
  readConfig,
  silentLogger,
} from '../../platform/index.ts';
import {
  type ChainEvent,
  columnsOf,
  decodeMessage,
  EVENT_NAMES,
  encodeEvent,
  SIGNATURE_BYTES,
  TOPICS,
  tableOf,
  UNKNOWN_RECORD,
} from '../../schemas/index.ts';
import { until } from '../../test/support/platform/eventually.ts';
import { times } from '../../test/support/platform/times.ts';
import { isCaughtUp } from '../../test/support/processors/history/caught-up.ts';
import { fillEvent, sampleEvent } from '../../test/support/processors/history/events.ts';
import { sinkStage } from '../../test/support/processors/history/sink-stage.ts';
import { SINK_TOPICS } from './role.ts';

const KILLS = times(2, 20);
const stage = sinkStage('sink');

/** Rows as stored, without FINAL: shows the effect of deduplication by token alone. */
async function stored(table: string): Promise<number> {
  return Number((await stage.rows<{ n: string }>(`SELECT count() AS n FROM ${table}`))[0]?.n);
}

/** The sides of all distinct fills, with the amounts of their fill. */
async function expectLookupTables(): Promise<void> {
  const sides = ['taker', 'maker'].map(
    (side) => `SELECT signature, event_index, '${side}' AS side, assumeNotNull(${side}) AS user,
      assumeNotNull(quote_asset_amount_filled) AS quote FROM order_action WHERE ${side} IS NOT NULL`,
  );
  const digest = (from: string) =>
    stage.rows(
      `SELECT count() AS n, groupBitXor(cityHash64(signature, event_index, side, user, quote)) AS hash FROM (${from})`,
    );
  const lookups = await digest(
    'SELECT signature, event_index, side, user, quote_asset_amount_filled AS quote FROM account_action FINAL',
  );
  expect(lookups).toEqual(await digest(sides.join(' UNION ALL ')));
}

/** A promise that the caller settles. */
function signalling(): { readonly promise: Promise<void>; resolve(): void } {
  let settle = () => {};
  const promise = new Promise<void>((resolve) => {
    settle = resolve;
  });
  return { promise, resolve: () => settle() };
}

const fills = (count: number) => Array.from({ length: count }, (_, n) => fillEvent(n));

describe('history sink', () => {
  it('stores every kind of event with every value exact', async () => {
    const names = [...EVENT_NAMES, UNKNOWN_RECORD];
    const events = names.flatMap((name) => Array.from({ length: 12 }, (_, n) => sampleEvent(name, n)));
    for (const { name, data } of events) if (name === UNKNOWN_RECORD) data.record_name = null;
    await stage.append(events);
    const { metrics } = await stage.startSink();
    await until(() => isCaughtUp(stage.log));
    for (const name of names) {
      const columns = columnsOf(name).map(({ name: column, type }) => `${readable(column, type)} AS ${column}`);
      const actual = await stage.rows(`SELECT ${columns} FROM \`${tableOf(name)}\` FINAL ORDER BY slot`);
      const own = events.filter((event) => event.name === name);
      expect(actual, name).toEqual(own.map((event) => expected(event)));
    }
    expect(await metricTotal(metrics, 'slotbook_sink_rows_total')).toBe(events.length);
    expect(await metricTotal(metrics, 'slotbook_sink_lag_records')).toBe(0);
    expect(await metricTotal(metrics, 'slotbook_sink_parked_total')).toBe(0);
  });

  it('follows later records, and continues at its offset after a stop', async () => {
    await stage.append(fills(10));
    const { role } = await stage.startSink();
    await until(() => isCaughtUp(stage.log));
    await stage.append(fills(20).slice(10));
    await until(() => isCaughtUp(stage.log));
    await role.stop();
    await stage.append(fills(30).slice(20));
    await stage.startSink();
    await until(() => isCaughtUp(stage.log));
    expect(await stored('order_action')).toBe(30);
  });

  it('stores one row for an event that is twice in the log', async () => {
    await stage.append(fills(10));
    await stage.append(fills(10));
    await stage.startSink();
    await until(() => isCaughtUp(stage.log));
    expect(await stage.rows('SELECT toUInt32(count()) AS n FROM order_action FINAL')).toEqual([{ n: 10 }]);
  });

  it('stores other records that come at the offsets of an earlier block', async () => {
    await stage.append(fills(10));
    const { role } = await stage.startSink();
    await until(() => isCaughtUp(stage.log));
    await role.stop();
    // As after a partition lost its tail: the same offsets, other records.
    const dataDir = mkdtempSync(path.join(tmpdir(), 'slotbook-sink-again-'));
    const again = await openEventLog(readConfig({}, { dataDir }), silentLogger());
    try {
      await again.ensureTopics(SINK_TOPICS);
      await stage.append(fills(20).slice(10), again);
      const { role: next } = await stage.startSink({ log: again });
      await until(() => isCaughtUp(again));
      await next.stop();
    } finally {
      await again.close();
      rmSync(dataDir, { recursive: true, force: true });
    }
    expect(await stored('order_action')).toBe(20);
  });

  it('waits for ClickHouse and keeps its offset', async () => {
    await stage.append(fills(100));
    let failures = 3;
    const { metrics } = await stage.startSink({
      client: withExec(async (send) => {
        if (failures-- > 0) throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
        return send();
      }),
    });
    await until(() => isCaughtUp(stage.log));
    expect(await stored('order_action')).toBe(100);
    expect(await metricTotal(metrics, 'slotbook_sink_retries_total')).toBe(3);
  });

  it('can be stopped while ClickHouse is away', async () => {
    await stage.append(fills(10));
    const { role, metrics } = await stage.startSink({
      client: withExec(() => Promise.reject(new Error('away'))),
    });
    await until(async () => (await metricTotal(metrics, 'slotbook_sink_retries_total')) > 0);
    expect(await metricTotal(metrics, 'slotbook_sink_lag_records')).toBe(10);
    await role.stop();
    expect((await stage.log.load('history-sink')).offsets.size).toBe(0);
    await stage.startSink();
    await until(() => isCaughtUp(stage.log));
    expect(await stored('order_action')).toBe(10);
  });
});

describe('a crashed sink', () => {
  it('repeats the block after a crash between intent and insert, with the same bounds', async () => {
    await stage.append(fills(1_000));
    const reached = signalling();
    const { role } = await stage.startSink({
      client: withExec(() => {
        reached.resolve();
        return Promise.reject(new Error('the process dies here'));
      }),
    });
    await reached.promise;
    await role.stop();
    expect((await stage.log.load('history-sink')).state.has('intent')).toBe(true);
    await stage.startSink({ config: { sinkMaxRows: 7 } });
    await until(() => isCaughtUp(stage.log));
    expect(await stored('order_action')).toBe(1_000);
  });

  it('stores nothing twice after a crash between insert and commit, also under another configuration', async () => {
    await stage.append(fills(1_000));
    const reached = signalling();
    const { role } = await stage.startSink({
      log: withCommit((step) => {
        if (!step.offsets) return stage.log.commit('history-sink', step);
        reached.resolve();
        return Promise.reject(new Error('the process dies here'));
      }),
    });
    await reached.promise;
    await expect(role.done).rejects.toThrow('the process dies here');
    expect(await stored('order_action')).toBe(1_000);
    const total = 1_000 + times(100, 500);
    await stage.append(fills(total).slice(1_000));
    await stage.startSink({ config: { sinkMaxRows: 7 } });
    await until(() => isCaughtUp(stage.log));
    expect(await stored('order_action')).toBe(total);
    await expectLookupTables();
  });

  it(`ends with every event once after ${KILLS} kills at random moments`, async () => {
    const total = KILLS * 2_000;
    let appended = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      const sink = await stage.startSinkProcess(50 + kill * 40);
      const batch = fills(appended + total / KILLS).slice(appended);
      appended += batch.length;
      for (let start = 0; start < batch.length; start += 200) await stage.append(batch.slice(start, start + 200));
      await sleep((kill * 53) % 200);
      sink.kill('SIGKILL');
      await new Promise((resolve) => sink.once('exit', resolve));
    }
    await stage.startSink();
    await until(() => isCaughtUp(stage.log));
    expect(await stored('order_action')).toBe(total);
    const ids = 'SELECT toUInt32(count()) AS n, toUInt32(uniqExact(fill_record_id)) AS ids FROM order_action';
    expect(await stage.rows(ids)).toEqual([{ n: total, ids: total }]);
    await expectLookupTables();
  });
});

describe('a record that cannot be stored', () => {
  it('is parked with its reason and bytes, and the rest of the block is stored', async () => {
    const good = encodeEvent(fillEvent(1));
    const foreign = Buffer.from(good);
    foreign.writeBigUInt64LE(1n, 2);
    const bad = {
      'not-a-record': Buffer.from('garbage'),
      'unknown-fingerprint': foreign,
      'invalid-datum': good.subarray(0, good.length - 3),
      'unknown-schema-id': Buffer.concat([Buffer.of(0, 0, 0, 0, 9), good.subarray(10)]),
    };
    await stage.append([fillEvent(0)]);
    const values = [...Object.values(bad), encodeEvent(fillEvent(2))];
    await stage.log.append(
      TOPICS.events,
      values.map((value) => ({ key: 'perp-0', value })),
    );
    const { metrics } = await stage.startSink();
    await until(() => isCaughtUp(stage.log));
    expect(await stored('order_action')).toBe(2);
    expect(await letters()).toEqual(bad);
    expect(await metricTotal(metrics, 'slotbook_sink_parked_total')).toBe(4);
  });

  it('is parked with all others of a block that is larger than a commit', async () => {
    const garbage = Buffer.alloc(1024 * 1024, 7);
    for (let n = 0; n < 10; n++) await stage.log.append(TOPICS.events, [{ key: 'perp-0', value: garbage }]);
    await stage.append([fillEvent(1)]);
    const { role } = await stage.startSink();
    await Promise.race([role.done, until(() => isCaughtUp(stage.log))]);
    expect(await stored('order_action')).toBe(1);
    expect((await stage.log.bounds(TOPICS.deadLetters, 0)).next).toBe(10n);
  });

  it('is isolated among good rows when only ClickHouse refuses it', async () => {
    const poison = encodeEvent(fillEvent(13));
    await stage.append(fills(40));
    await stage.startSink({ client: withRefusal(poison.subarray(10, 10 + SIGNATURE_BYTES)) });
    await until(() => isCaughtUp(stage.log));
    expect(await stored('order_action')).toBe(39);
    expect(await letters()).toEqual({ 'refused-by-clickhouse': poison });
  });

  it('is parked when its schema does not fit the table', async () => {
    // A registry schema with our name whose time is text: well-formed, but no Int64.
    const registry = await startRegistry({ 5: timeAsText() });
    const text = Buffer.concat([Buffer.of(0, 0, 0, 0, 5), Buffer.alloc(64), Buffer.of(0, 0, 0, 6), Buffer.from('now')]);
    await stage.append(fills(20));
    await stage.log.append(TOPICS.events, [{ key: 'perp-0', value: text }]);
    await stage.startSink({ config: { schemaRegistryUrl: registry.url } });
    await until(() => isCaughtUp(stage.log));
    registry.stop();
    expect(await stored('order_action')).toBe(20);
    expect(await letters()).toEqual({ 'refused-by-clickhouse': text });
  });
});

describe('records with a schema registry id', () => {
  it('are stored like others, once the registry answers', async () => {
    const events = fills(10);
    const text = await schemaText('OrderActionRecord');
    const registry = await startRegistry({ 77: text }, 2);
    await stage.log.append(
      TOPICS.events,
      events.map((event) => ({
        key: 'perp-1',
        value: Buffer.concat([Buffer.of(0, 0, 0, 0, 77), encodeEvent(event).subarray(10)]),
      })),
    );
    await stage.startSink({ config: { schemaRegistryUrl: registry.url } });
    await until(() => isCaughtUp(stage.log));
    registry.stop();
    expect(await stage.rows('SELECT toUInt32(sum(fill_record_id)) AS sum FROM order_action')).toEqual([{ sum: 45 }]);
  });
});

/** FixedString and bytes as hex, other values as the client returns them. */
function readable(column: string, type: string): string {
  if (/^Array\(FixedString/.test(type)) return `arrayMap(x -> lower(hex(x)), ${column})`;
  if (/FixedString/.test(type) || column === 'raw') return `lower(hex(${column}))`;
  return column;
}

function expected({ name, signature, eventIndex, slot, txIndex, data }: ChainEvent): Record<string, unknown> {
  const fields: Record<string, unknown> = { ...data, signature, event_index: eventIndex, slot, tx_index: txIndex };
  return Object.fromEntries(columnsOf(name).map(({ name: column, type }) => [column, returned(fields[column], type)]));
}

function returned(value: unknown, type: string): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (Array.isArray(value)) return value.map((item) => returned(item, type));
  return typeof value === 'bigint' || (typeof value === 'number' && /Int64/.test(type)) ? String(value) : value;
}

async function letters(): Promise<Record<string, Buffer>> {
  const records = await stage.log.read(TOPICS.deadLetters, 0, 0n, 100);
  return Object.fromEntries(
    records.map(({ value }) => {
      const message = decodeMessage(value);
      if (message.name !== 'DeadLetter') throw new Error(message.name);
      return [message.value.reason, Buffer.from(message.value.bytes)];
    }),
  );
}

type Exec = ClickHouseClient['exec'];
type ExecParams = Parameters<Exec>[0] & { values?: Readable };

/** The real client with an `exec` of the test. */
function withExec(exec: (send: () => ReturnType<Exec>, params: ExecParams) => ReturnType<Exec>): ClickHouseClient {
  const { client } = stage.clickhouse;
  return new Proxy(client, {
    get: (target, name) =>
      name === 'exec' ? (params: ExecParams) => exec(() => client.exec(params), params) : Reflect.get(target, name),
  });
}

/** A server that refuses every insert with these bytes. */
function withRefusal(bytes: Buffer): ClickHouseClient {
  return withExec(async (_, params) => {
    const body = Buffer.concat(await (params.values ?? Readable.from([])).toArray());
    if (body.includes(bytes))
      throw new ClickHouseError({ message: 'no such row', code: '117', type: 'INCORRECT_DATA' });
    return stage.clickhouse.client.exec({ ...params, values: Readable.from([body], { objectMode: false }) });
  });
}

function withCommit(commit: (step: Commit) => Promise<void>): EventLog {
  return new Proxy(stage.log, {
    get: (target, name) => {
      if (name === 'commit') return (_group: string, step: Commit) => commit(step);
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

async function schemaText(name: string): Promise<string> {
  const { readFile } = await import('node:fs/promises');
  return readFile(new URL(`../../schemas/log/avro/events/${name}.avsc`, import.meta.url), 'utf8');
}

function timeAsText(): string {
  const head = [
    { name: 'signature', type: { type: 'fixed', name: 'Signature', size: 64 } },
    { name: 'event_index', type: 'long' },
    { name: 'slot', type: 'long' },
    { name: 'tx_index', type: ['null', 'long'] },
    { name: 'ts', type: 'string' },
  ];
  return JSON.stringify({ type: 'record', name: 'OrderActionRecord', namespace: 'slotbook.events', fields: head });
}

/** Answers `GET /schemas/ids/{id}`; the first `failures` requests get a 503. */
async function startRegistry(schemas: Readonly<Record<number, string>>, failures = 0) {
  let failing = failures;
  const server = createServer((request, response) => {
    const schema = schemas[Number(request.url?.split('/').at(-1))];
    if (failing-- > 0) response.writeHead(503).end();
    else if (schema === undefined) response.writeHead(404).end();
    else response.end(JSON.stringify({ schema }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, stop: () => server.close() };
}
