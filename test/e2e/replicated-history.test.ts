// The history on replicated tables: two servers with Keeper in containers. Without a Docker daemon it says that it does not run.

import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual, promisify } from 'node:util';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ClickHouse,
  type Config,
  type EventLog,
  openClickHouse,
  openEventLog,
  type RunningRole,
  readConfig,
  readMigrations,
  silentLogger,
  variableName,
} from '../../platform/index.ts';
import { startHistorySink } from '../../processors/index.ts';
import { encodeEvent, encodeGaps, eventKey, GAPS_GROUP, GAPS_KEY, TOPICS } from '../../schemas/index.ts';
import { bundled } from '../support/platform/bundled.ts';
import { NODE_FLAGS } from '../support/platform/children.ts';
import { dockerAnswers, type HistoryCluster, startContainers } from '../support/platform.ts';
import { eventually } from '../support/processes/processes.ts';
import { isCaughtUp } from '../support/processors/history/caught-up.ts';
import { fillEvent } from '../support/processors/history/events.ts';
import { loseAnswer } from './harness/checks/lost-answer.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const DATABASE = 'slotbook';
const BLOCK_ROWS = 200;
const EVENTS = 2_000;
/** A fill of a later day: there are fifty a second, and a midnight belongs to the day before. */
const LATER = 2 * 50 * 86_400;
const WAITED_MS = 2_000;
const SLOW_MS = 120_000;
const ANALYST = { analystUser: 'analyst', analystPassword: 'only reads' };

const run = promisify(execFile);
const logger = silentLogger();

const hasDocker = await dockerAnswers();
if (!hasDocker) process.stdout.write('replicated history: NOT RUN here, no Docker daemon answers\n');

describe.runIf(hasDocker)('replicated history on two servers with Keeper', () => {
  let dataDir: string;
  let cluster: HistoryCluster;
  let config: Config;
  let clickhouse: ClickHouse;
  let log: EventLog;
  let sink: RunningRole | null = null;

  const configOf = (overrides: Partial<Config> = {}) =>
    readConfig(
      {},
      {
        dataDir,
        clickhouseUrl: cluster.urls[0],
        clickhouseUser: cluster.user,
        clickhousePassword: cluster.password,
        clickhouseCluster: cluster.name,
        clickhouseDatabase: DATABASE,
        sinkMaxDelayMs: 20,
        sinkMaxRows: BLOCK_ROWS,
        ...ANALYST,
        ...overrides,
      },
    );

  beforeAll(async () => {
    dataDir = mkdtempSync(path.join(tmpdir(), 'slotbook-replicated-'));
    cluster = await startContainers();
    process.stdout.write(`cluster for tests: ${cluster.how}\n`);
    config = configOf();
    log = await openEventLog(config, logger);
    await log.ensureTopics([TOPICS.events]);
  }, SLOW_MS);
  afterAll(async () => {
    await sink?.stop();
    await clickhouse?.stop();
    await log?.close();
    await cluster?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }, SLOW_MS);

  /** Answers of every replica, each as rows of JSON. */
  async function ask<T>(
    query: string,
    as = { user: cluster.user, password: cluster.password },
  ): Promise<readonly T[][]> {
    const headers = { 'x-clickhouse-user': as.user, 'x-clickhouse-key': as.password };
    return Promise.all(
      cluster.urls.map(async (url) => {
        const response = await fetch(`${url}/?default_format=JSONEachRow`, { method: 'POST', headers, body: query });
        const text = await response.text();
        if (!response.ok) throw new Error(text);
        return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as T]));
      }),
    );
  }

  /** Rows as they are stored on each replica, before any merge counts an event once. */
  async function stored(table: string, database = DATABASE): Promise<readonly number[]> {
    const answers = await ask<{ n: number }>(`SELECT toUInt32(count()) AS n FROM ${database}.${table}`);
    return answers.map(([row]) => row?.n ?? 0);
  }

  /** A merge would leave one of two copies; until the next start of a server. */
  const stopMerges = () => ask('SYSTEM STOP MERGES');

  const onEach = <T>(value: T): readonly T[] => cluster.urls.map(() => value);

  /** Sides of fills that account_action has a row for. */
  const sidesOf = (fills: readonly number[]) => fills.reduce((sum, n) => sum + (fillEvent(n).data.maker ? 2 : 1), 0);

  async function append(from: number, to: number): Promise<void> {
    const events = Array.from({ length: to - from }, (_, index) => fillEvent(from + index));
    await log.append(
      TOPICS.events,
      events.map((event) => ({ key: eventKey(event), value: encodeEvent(event) })),
    );
  }

  async function startSink(overrides: Partial<Config> = {}): Promise<void> {
    await sink?.stop();
    await clickhouse.stop();
    const own = configOf(overrides);
    clickhouse = await openClickHouse(own, logger);
    sink = await startHistorySink({ config: own, log, logger, metrics: new Registry() }, clickhouse);
  }

  async function slotbook(...args: readonly string[]): Promise<string> {
    const settings = Object.entries(config).filter(([key]) => /^(clickhouse|analyst|dataDir)/.test(key));
    const environment = settings.map(([key, value]) => [variableName(key as keyof Config), String(value)]);
    const { stdout } = await run(process.execPath, [...NODE_FLAGS, bundled('bin/cli.ts'), ...args], {
      cwd: ROOT,
      env: { ...process.env, ...Object.fromEntries(environment) },
    });
    return stdout;
  }

  it(
    'gets its tables once, also when several processes start at once, and the same on every replica',
    async () => {
      const urls = [...cluster.urls, ...cluster.urls];
      const opened = await Promise.all(
        urls.map((clickhouseUrl) => openClickHouse(configOf({ clickhouseUrl }), logger)),
      );
      for (const each of opened) await each.stop();
      clickhouse = await openClickHouse(config, logger);
      expect(await stored('migrations')).toEqual(onEach(readMigrations().length));
      const tables = await ask<{ name: string; uuid: string; engine: string; full: string }>(
        `SELECT name, uuid, engine, engine_full AS full FROM system.tables WHERE database = '${DATABASE}' ORDER BY name`,
      );
      const [first = []] = tables;
      for (const each of tables) expect(each).toEqual(first);
      expect(new Set(first.map(({ engine }) => engine))).toEqual(
        new Set(['ReplicatedReplacingMergeTree', 'MaterializedView']),
      );
      expect(first.filter(({ name }) => name.endsWith('_next'))).toEqual([]);
      expect(first.find(({ name }) => name === 'order_action')?.full).toContain('index_granularity = 2048');
      expect(await ask('SELECT table FROM system.replicas WHERE is_readonly')).toEqual(onEach([]));
    },
    SLOW_MS,
  );

  it(
    'keeps a block that is sent again once, in lookup tables too, also by another replica and after kill -9',
    async () => {
      await clickhouse.prepare('slotbook_tokens');
      const block = (
        token: string,
      ) => `INSERT INTO slotbook_tokens.order_action (signature, event_index, taker, maker, ts)
        SETTINGS insert_deduplication_token = '${token}', deduplicate_blocks_in_dependent_materialized_views = 1,
          insert_quorum = ${cluster.urls.length > 1 ? cluster.urls.length : 0}
        SELECT toString(number), 0, toFixedString('t', 32), toFixedString('m', 32), 1767225600 + number FROM numbers(5)`;
      // To every replica, one after another: each sends the same block.
      const send = async (token: string) => {
        for (const url of cluster.urls) {
          const headers = { 'x-clickhouse-user': cluster.user, 'x-clickhouse-key': cluster.password };
          const response = await fetch(url, { method: 'POST', headers, body: block(token) });
          expect(await response.text()).toBe('');
        }
      };
      await stopMerges();
      await send('first');
      await send('first');
      await cluster.kill(0);
      await cluster.start(0);
      await stopMerges();
      await send('first');
      expect(await stored('order_action', 'slotbook_tokens')).toEqual(onEach(5));
      expect(await stored('account_action', 'slotbook_tokens')).toEqual(onEach(10));
      await send('second');
      await clickhouse.settle('slotbook_tokens');
      expect(await stored('order_action', 'slotbook_tokens')).toEqual(onEach(10));
      expect(await stored('account_action', 'slotbook_tokens')).toEqual(onEach(20));
      await clickhouse.drop('slotbook_tokens');
      expect(await clickhouse.exists('slotbook_tokens')).toBe(false);
    },
    SLOW_MS,
  );

  it(
    'gets each event once from a sink whose server stores a block and is killed before it says so',
    async () => {
      await append(0, EVENTS);
      const way = await loseAnswer(cluster.urls[0], 'order_action', () => cluster.kill(0));
      try {
        await startSink({ clickhouseUrl: way.url });
        await way.lost;
        await append(EVENTS, EVENTS + BLOCK_ROWS);
        await cluster.start(0);
        await stopMerges();
        await eventually('all stored', () => isCaughtUp(log, 'history-sink'), SLOW_MS);
      } finally {
        await startSink();
        await way.stop();
      }
      await clickhouse.settle(DATABASE);
      const fills = Array.from({ length: EVENTS + BLOCK_ROWS }, (_, n) => n);
      expect(await stored('order_action')).toEqual(onEach(fills.length));
      expect(await stored('account_action')).toEqual(onEach(sidesOf(fills)));
      // Fills of one day; a later one makes it a finished day, whose sums every replica gets before it is marked reduced.
      const days = `SELECT toUInt32(sum(fills)) AS fills FROM ${DATABASE}.account_day_fills FINAL
        WHERE day IN (SELECT day FROM ${DATABASE}.account_day_mark GROUP BY day HAVING argMax(mark, (number, mark)) = 'reduced')`;
      await append(LATER, LATER + 1);
      const all = onEach([{ fills: sidesOf(fills) }]);
      await eventually('the day reduced', async () => isDeepStrictEqual(await ask(days), all), SLOW_MS);
    },
    SLOW_MS,
  );

  it(
    'waits for the majority of replicas, or goes on with one, and the other catches up',
    async () => {
      const last = cluster.urls.length - 1;
      const before = (await stored('order_action'))[0] ?? 0;
      await cluster.kill(last);
      await append(10_000, 10_010);
      await sleep(WAITED_MS);
      expect(await isCaughtUp(log, 'history-sink')).toBe(false);
      await startSink({ clickhouseQuorum: 1 });
      await eventually('stored on one', () => isCaughtUp(log, 'history-sink'), SLOW_MS);
      await cluster.start(last);
      await clickhouse.settle(DATABASE);
      expect(await stored('order_action')).toEqual(onEach(before + 10));
      await startSink();
    },
    // Each process that opens a day writes to the replica that is down, and waits for it a while.
    3 * SLOW_MS,
  );

  it(
    'is rebuilt from the log into a second database that takes its place on every replica',
    async () => {
      const digest = (database: string) =>
        ask(`SELECT count() AS n, groupBitXor(cityHash64(*)) AS hash FROM ${database}.order_action FINAL`);
      const before = await digest(DATABASE);
      const said = await slotbook('rebuild', '--drop-old');
      expect(said).toContain('slotbook_2 is the history now');
      expect(await digest('slotbook_2')).toEqual(before);
      expect(await ask(`SELECT name FROM system.databases WHERE name = '${DATABASE}'`)).toEqual(onEach([]));
      // The running sink has gone over.
      const rows = (await stored('order_action', 'slotbook_2'))[0] ?? 0;
      await append(20_000, 20_010);
      await eventually('live rows', async () =>
        (await stored('order_action', 'slotbook_2')).every((count) => count === rows + 10),
      );
    },
    SLOW_MS,
  );

  it(
    'is exported with what it lacks',
    async () => {
      // As ingest leaves it when it met no gap.
      await log.commit(GAPS_GROUP, { state: [{ key: GAPS_KEY, value: encodeGaps([]) }] });
      const file = path.join(dataDir, 'fills.csv');
      const range = ['--from', '2026-01-01T00:00:00Z', '--to', '2026-02-01T00:00:00Z'];
      await slotbook('export', '--table', 'order_action', ...range, '--format', 'csv', '--out', file);
      const coverage = JSON.parse(readFileSync(`${file}.coverage.json`, 'utf8')) as object;
      const rows = (await stored('order_action', 'slotbook_2'))[0];
      expect(coverage).toMatchObject({ database: 'slotbook_2', rows, eventsNotStored: 0, gaps: [] });
    },
    SLOW_MS,
  );

  it(
    'is read by the analyst on every replica, who cannot write',
    async () => {
      expect(await slotbook('sql-user', '--apply')).toContain('analyst may read');
      const analyst = { user: ANALYST.analystUser, password: ANALYST.analystPassword };
      const counted = 'SELECT toUInt32(count()) > 0 AS some FROM slotbook_2.order_action';
      expect(await ask(counted, analyst)).toEqual(onEach([{ some: 1 }]));
      await expect(ask('INSERT INTO slotbook_2.projection (name) VALUES (1)', analyst)).rejects.toThrow(
        /readonly|grant/,
      );
      await expect(ask(counted, { ...analyst, password: 'another' })).rejects.toThrow(/AUTHENTICATION_FAILED/);
    },
    SLOW_MS,
  );
});
