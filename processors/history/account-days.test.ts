import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Registry } from 'prom-client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type ClickHouse,
  type Config,
  type EventLog,
  openClickHouse,
  openEventLog,
  type RunningRole,
  readConfig,
  silentLogger,
} from '../../platform/index.ts';
import {
  type ChainEvent,
  cleanDaysSql,
  DAY_S,
  dayOf,
  encodeEvent,
  FILL_SUMS,
  fillSidesByTime,
  fillSumsSql,
  MONEY_SUMS,
  moneyRows,
  moneySumsSql,
  TOPICS,
} from '../../schemas/index.ts';
import { SINK_TOPICS, startHistorySink } from './role.ts';
import { fillEvent, sampleEvent } from './testing/events.ts';

// A busy machine with a cold page cache takes seconds to start the engine.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 60_000 });

const logger = silentLogger();
const FIRST_DAY = 20_000;
const DAYS = 6;
const SCRIPT = fileURLToPath(new URL('./testing/sink-process.ts', import.meta.url));
let hostDir: string;
let host: ClickHouse;
let dataDir: string;
let config: Config;
let clickhouse: ClickHouse;
let log: EventLog;
let databases = 0;
const running: RunningRole[] = [];

beforeAll(async () => {
  hostDir = mkdtempSync(path.join(tmpdir(), 'slotbook-days-host-'));
  host = await openClickHouse(readConfig({}, { dataDir: hostDir }), logger);
});
afterAll(async () => {
  await host.stop();
  rmSync(hostDir, { recursive: true, force: true });
});
beforeEach(async () => {
  dataDir = mkdtempSync(path.join(tmpdir(), 'slotbook-days-'));
  const clickhouseDatabase = `days_${++databases}`;
  config = readConfig({}, { dataDir, clickhouseUrl: host.url, clickhouseDatabase, sinkMaxDelayMs: 20 });
  clickhouse = await openClickHouse(config, logger);
  log = await openEventLog(config, logger);
  await log.ensureTopics(SINK_TOPICS);
});
afterEach(async () => {
  for (const role of running.splice(0)) await role.stop();
  await log.close();
  await clickhouse.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

async function startSink(): Promise<RunningRole> {
  const role = await startHistorySink({ config, log, logger, metrics: new Registry() }, clickhouse);
  running.push(role);
  return role;
}

async function startSinkProcess(rowsMax: number): Promise<ChildProcess> {
  const args = [SCRIPT, dataDir, host.url, config.clickhouseDatabase, String(rowsMax)];
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise((resolve) => child.stdout?.once('data', resolve));
  return child;
}

/** The event number `n` on a day of its number, at midnight now and then; its order in the log is another. */
function eventOf(n: number): ChainEvent {
  const kinds = ['FundingPaymentRecord', 'SettlePnlRecord', 'LiquidationRecord'];
  const event = n % 5 === 0 ? sampleEvent(kinds[(n / 5) % 3] ?? '', n) : fillEvent(n);
  const ts = BigInt((FIRST_DAY + (n % DAYS)) * DAY_S + ((n * 977) % (DAY_S + 1)));
  return { ...event, data: { ...event.data, ts } };
}

const numbered = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => eventOf(from + index));

async function append(events: readonly ChainEvent[]): Promise<void> {
  await log.append(
    TOPICS.events,
    events.map((event, index) => ({ key: `perp-${index % 7}`, value: encodeEvent(event) })),
  );
}

async function rows<T = Record<string, unknown>>(query: string): Promise<readonly T[]> {
  return (await clickhouse.client.query({ query, format: 'JSONEachRow' })).json<T>();
}

const cleanDays = async () => (await rows<{ day: string }>(cleanDaysSql(''))).map(({ day }) => Number(day));
const stored = async () =>
  Number(
    (
      await rows<{ n: string }>(
        ['order_action', 'funding_payment', 'settle_pnl', 'liquidation']
          .map((table) => `(SELECT uniqExact(signature) FROM ${table})`)
          .reduce((sum, next) => `${sum} + ${next}`, 'SELECT 0')
          .concat(' AS n'),
      )
    )[0]?.n,
  );

/** Sums of the clean days as they are stored, and as the events have them now. */
async function sums(): Promise<{ readonly kept: unknown; readonly computed: unknown }> {
  const days = (await cleanDays()).join(', ');
  const day = `toInt64(ceil(ts / ${DAY_S})) - 1`;
  const [fills, money] = [
    ['user', 'market_type', 'market_index', 'period', ...FILL_SUMS].map((name) => `toString(${name})`).join(', '),
    ['user', 'market_index', 'period', ...MONEY_SUMS].map((name) => `toString(${name})`).join(', '),
  ];
  const digest = (columns: string, from: string) =>
    rows(`SELECT count() AS n, groupBitXor(cityHash64(${columns})) AS hash FROM (${from})`);
  return {
    kept: await Promise.all([
      digest(fills, `SELECT *, day AS period FROM account_day_fills FINAL WHERE day IN (${days})`),
      digest(money, `SELECT *, day AS period FROM account_day_money FINAL WHERE day IN (${days})`),
    ]),
    computed: await Promise.all([
      digest(fills, fillSumsSql(fillSidesByTime('', `${day} IN (${days})`), day)),
      digest(
        money,
        moneySumsSql(
          moneyRows('', () => `${day} IN (${days})`),
          day,
        ),
      ),
    ]),
  };
}

/** A midnight belongs to the day that it ends. */
const allDays = [...new Set(numbered(0, 500).map(({ data }) => dayOf(Number(data.ts))))].sort((a, b) => a - b);
const [newest = 0] = allDays.slice(-1);
const finished = allDays.slice(0, -1);

const allClean = () =>
  vi.waitFor(async () => expect(await cleanDays()).toEqual(finished), { timeout: 60_000, interval: 100 });

describe('days of accounts', () => {
  it('are reduced when they are over, and equal the events, each counted once', async () => {
    await append([...numbered(0, 500), ...numbered(100, 300)]);
    await startSink();
    await allClean();
    const { kept, computed } = await sums();
    expect(kept).toEqual(computed);
    expect(kept).not.toMatchObject([[{ n: '0' }], [{ n: '0' }]]);
  });

  it('open before a late row is stored, and are reduced again with it', async () => {
    await append(numbered(0, 500));
    await startSink();
    await allClean();
    const before = await sums();
    const [late] = numbered(600, 601);
    if (!late) throw new Error('no event');
    await append([late]);
    const day = dayOf(Number(late.data.ts));
    // Whenever the row is there, the day is open or has been reduced with it.
    for (let isThere = false; !isThere; ) {
      isThere = (await stored()) === 501;
      if (isThere && (await cleanDays()).includes(day)) expect((await sums()).kept).not.toEqual(before.kept);
    }
    await allClean();
    const after = await sums();
    expect(after.kept).toEqual(after.computed);
    expect(after.kept).not.toEqual(before.kept);
  });

  it('stay clean over a restart, and are the same after kills at any moment', async () => {
    const total = 3_000;
    const part = total / 6;
    for (let kill = 0; kill < 6; kill++) {
      const sink = await startSinkProcess(40 + kill * 60);
      await append(numbered(kill * part, (kill + 1) * part));
      // Some while rows are stored, some while days are reduced.
      await sleep(kill % 2 === 0 ? 60 + kill * 90 : 2_000 + kill * 170);
      sink.kill('SIGKILL');
      await new Promise((resolve) => sink.once('exit', resolve));
      const { kept, computed } = (await cleanDays()).length > 0 ? await sums() : { kept: 0, computed: 0 };
      expect(kept).toEqual(computed);
    }
    const sink = await startSink();
    await vi.waitFor(async () => expect(await stored()).toBe(total), { timeout: 30_000, interval: 100 });
    await allClean();
    const { kept, computed } = await sums();
    expect(kept).toEqual(computed);
    const marks = await rows('SELECT * FROM account_day_mark FINAL ORDER BY day, mark');
    await sink.stop();
    await startSink();
    await append([eventOf(total + newest - FIRST_DAY)]);
    await vi.waitFor(async () => expect(await stored()).toBe(total + 1), { timeout: 30_000, interval: 100 });
    await sleep(3_000);
    const isOlder = ({ day }: Record<string, unknown>) => Number(day) < newest;
    const now = await rows('SELECT * FROM account_day_mark FINAL ORDER BY day, mark');
    expect(now.filter(isOlder)).toEqual(marks.filter(isOlder));
  });
});
