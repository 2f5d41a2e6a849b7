// From the log to visible rows: a backlog of events goes through the whole sink into a managed ClickHouse. Then small appends
// show how long an event takes to become visible. A ClickHouse server on its own machine is faster.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Registry } from 'prom-client';
import {
  type ClickHouse,
  type EventLog,
  historySinkGroup,
  openClickHouse,
  openEventLog,
  type RunningRole,
  readConfig,
  silentLogger,
} from '../../platform/index.ts';
import { readBlock } from '../../processors/history/blocks.ts';
import { SchemaCatalogue } from '../../processors/history/catalogue.ts';
import { newIntent } from '../../processors/history/intent.ts';
import { planInserts } from '../../processors/history/rows.ts';
import {
  endsOfLog,
  type Offsets,
  SINK_TOPICS,
  startHistorySink,
  startRebuild,
  unstored,
} from '../../processors/index.ts';
import { type ChainEvent, encodeEvent, eventKey, TOPICS, tableOf } from '../../schemas/index.ts';
import { fillEvent, sampleEvent } from '../support/processors/history/events.ts';
import { report } from './harness/report.ts';

const BACKLOG = 400_000;
const APPEND_RECORDS = 2_000;
const ENCODED_RECORDS = 10_000n;
const ENCODING_ROUNDS = 50;
const SMALL_BATCH = 25;
const SMALL_BATCHES = 40;
const POLL_MS = 20;
/** Rows a second into a history in use, and into a new one. */
const BAR_BACKLOG = 150_000;
const BAR_REBUILD = 200_000;
const BAR_VISIBLE_MS = 1_000;
/** Linux counts processor time in hundredths of a second. */
const TICK_MS = 10;

/** One event in this many is not a fill, but of one of these kinds in turn. */
const OTHERS_EVERY = 10;
const OTHERS = ['FundingPaymentRecord', 'SettlePnlRecord', 'DepositRecord', 'OrderRecord', 'LiquidationRecord'];

function event(n: number): ChainEvent {
  const other = OTHERS[Math.floor(n / OTHERS_EVERY) % OTHERS.length];
  return n % OTHERS_EVERY === 0 && other ? sampleEvent(other, n) : fillEvent(n);
}

async function append(log: EventLog, first: number, count: number): Promise<void> {
  for (let start = first; start < first + count; start += APPEND_RECORDS) {
    const size = Math.min(APPEND_RECORDS, first + count - start);
    const events = Array.from({ length: size }, (_, index) => event(start + index));
    await log.append(
      TOPICS.events,
      events.map((item) => ({ key: eventKey(item), value: encodeEvent(item) })),
    );
  }
}

const tables = ['OrderActionRecord', ...OTHERS].map((name) => `SELECT count() AS n FROM \`${tableOf(name)}\``);

async function visible(clickhouse: ClickHouse): Promise<number> {
  const query = `SELECT sum(n) AS n FROM (${tables.join(' UNION ALL ')})`;
  const [row] = await (await clickhouse.client.query({ query, format: 'JSONEachRow' })).json<{ n: string }>();
  return Number(row?.n);
}

async function untilStored(log: EventLog, group: string, ends: Offsets): Promise<void> {
  while ((await unstored(log, group, ends)) > 0n) await sleep(POLL_MS);
}

async function untilVisible(clickhouse: ClickHouse, count: number): Promise<void> {
  while ((await visible(clickhouse)) < count) await sleep(POLL_MS);
}

/** Records to bodies alone, without ClickHouse: processor time. */
async function measureEncoding(log: EventLog): Promise<void> {
  const catalogue = new SchemaCatalogue(() => Promise.resolve(null));
  const block = await readBlock(log, TOPICS.events, [{ partition: 0, from: 0n, to: ENCODED_RECORDS - 1n }]);
  const intent = newIntent(block.bounds, block.length);
  const before = process.cpuUsage();
  for (let round = 0; round < ENCODING_ROUNDS; round++) await planInserts(catalogue, block, intent);
  const { user, system } = process.cpuUsage(before);
  const perRecord = (user + system) / (ENCODING_ROUNDS * block.length);
  report({ name: 'sink.check-and-encode', value: perRecord, unit: 'us/record', config: { records: block.length } });
}

/** Processor time of this process and of the ClickHouse child, merges included, milliseconds; the child's on Linux only. */
function processorMs(): { readonly own: number; readonly clickhouse: number } {
  const { user, system } = process.cpuUsage();
  const own = (user + system) / 1_000;
  if (process.platform !== 'linux') return { own, clickhouse: Number.NaN };
  const childMs = readdirSync('/proc').map((pid) => {
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
      return fields[1] === String(process.pid) ? (Number(fields[11]) + Number(fields[12])) * TICK_MS : 0;
    } catch {
      return 0;
    }
  });
  return { own, clickhouse: childMs.reduce((sum, ms) => sum + ms, 0) };
}

/** Rows a second, and the processor time of a row, which a busy machine changes less. */
async function measure(name: string, atLeast: number, work: () => Promise<void>): Promise<void> {
  const [startedMs, before] = [performance.now(), processorMs()];
  await work();
  const seconds = (performance.now() - startedMs) / 1_000;
  const after = processorMs();
  const usPerRow = (ms: number) => Number(((ms * 1_000) / BACKLOG).toFixed(2));
  const config = {
    events: BACKLOG,
    fills: 1 - 1 / OTHERS_EVERY,
    log: 'embedded',
    nodeUsPerRow: usPerRow(after.own - before.own),
    clickhouseUsPerRow: usPerRow(after.clickhouse - before.clickhouse),
  };
  report({ name, value: BACKLOG / seconds, unit: 'rows/s', bar: { atLeast }, config });
}

/** Watches the sink's offset, which costs ClickHouse nothing, and then counts the rows. */
async function measureBacklog(
  start: () => Promise<RunningRole>,
  log: EventLog,
  clickhouse: ClickHouse,
): Promise<RunningRole> {
  let role: RunningRole | undefined;
  await measure('sink.backlog', BAR_BACKLOG, async () => {
    const ends = await endsOfLog(log);
    role = await start();
    await untilStored(log, historySinkGroup(clickhouse.database, config.clickhouseDatabase), ends);
    await untilVisible(clickhouse, BACKLOG);
  });
  if (!role) throw new Error('the sink did not start');
  return role;
}

/** All tables of a second database from the log, as `slotbook rebuild` fills it. */
async function measureRebuild(log: EventLog, clickhouse: ClickHouse): Promise<void> {
  const database = `${clickhouse.database}_2`;
  await clickhouse.prepare(database);
  await measure('sink.rebuild', BAR_REBUILD, async () => {
    const rebuild = startRebuild({ config, log, logger }, clickhouse, database);
    const ends = await endsOfLog(log);
    await untilStored(log, rebuild.group, ends);
    await rebuild.stop();
  });
}

/** Small appends one after the other; each waits for its rows. */
async function measureDelay(log: EventLog, clickhouse: ClickHouse): Promise<void> {
  const delaysMs: number[] = [];
  for (let batch = 0; batch < SMALL_BATCHES; batch++) {
    const first = BACKLOG + batch * SMALL_BATCH;
    const appendedMs = performance.now();
    await append(log, first, SMALL_BATCH);
    await untilVisible(clickhouse, first + SMALL_BATCH);
    delaysMs.push(performance.now() - appendedMs);
  }
  delaysMs.sort((a, b) => a - b);
  const quantile = (part: number) => delaysMs[Math.floor((delaysMs.length - 1) * part)] ?? Number.NaN;
  report({
    name: 'sink.append-to-visible.p50',
    value: quantile(0.5),
    unit: 'ms',
    config: {
      batches: delaysMs.length,
      delayMs: config.sinkMaxDelayMs,
    },
  });
  report({
    name: 'sink.append-to-visible.p99',
    value: quantile(0.99),
    unit: 'ms',
    bar: { atMost: BAR_VISIBLE_MS },
    config: {
      batches: delaysMs.length,
      delayMs: config.sinkMaxDelayMs,
    },
  });
}

const dataDir = mkdtempSync(path.join(tmpdir(), 'slotbook-bench-sink-'));
const config = readConfig({}, { dataDir });
const logger = silentLogger();
const log = await openEventLog(config, logger);
const clickhouse = await openClickHouse(config, logger);
try {
  await log.ensureTopics(SINK_TOPICS);
  await append(log, 0, BACKLOG);
  await measureEncoding(log);
  const start = () => startHistorySink({ config, log, logger, metrics: new Registry() }, clickhouse);
  const role = await measureBacklog(start, log, clickhouse);
  await measureDelay(log, clickhouse);
  await role.stop();
  await measureRebuild(log, clickhouse);
} finally {
  await clickhouse.stop();
  await log.close();
  rmSync(dataDir, { recursive: true, force: true });
}
