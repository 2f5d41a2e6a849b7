// Environment of sink tests: a log and an empty database per test.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Registry } from 'prom-client';
import { afterEach, beforeEach } from 'vitest';
import {
  type ClickHouse,
  type ClickHouseClient,
  type Config,
  type EventLog,
  openEventLog,
  type RunningRole,
  readConfig,
  silentLogger,
} from '../../../../platform/index.ts';
import { SINK_TOPICS, startHistorySink } from '../../../../processors/history/role.ts';
import { type ChainEvent, encodeEvent, TOPICS } from '../../../../schemas/index.ts';
import { rowsOf } from '../../clickhouse/rows.ts';
import { openTestDatabase } from '../../clickhouse/shared.ts';
import { bundledAt, bundleEnvironment } from '../../platform/bundled.ts';
import { NODE_FLAGS } from '../../platform/children.ts';

const SCRIPT = bundledAt(new URL('./sink-process.ts', import.meta.url));
const KEYS = 7;

export interface SinkOverrides {
  readonly client?: ClickHouseClient;
  readonly log?: EventLog;
  readonly config?: Partial<Config>;
}

class SinkStage {
  readonly #running: RunningRole[] = [];
  #config: Config | undefined;
  #clickhouse: ClickHouse | undefined;
  #log: EventLog | undefined;

  /** Of the current test, like the next two. */
  get config(): Config {
    return there(this.#config);
  }

  get clickhouse(): ClickHouse {
    return there(this.#clickhouse);
  }

  get log(): EventLog {
    return there(this.#log);
  }

  async open(dataDir: string): Promise<void> {
    this.#clickhouse = await openTestDatabase();
    const { url: clickhouseUrl, user: clickhouseUser, password: clickhousePassword, database } = this.#clickhouse;
    const login = { clickhouseUrl, clickhouseUser, clickhousePassword, clickhouseDatabase: database };
    const config = readConfig({}, { dataDir, ...login, sinkMaxDelayMs: 20 });
    this.#config = config;
    this.#log = await openEventLog(config, silentLogger());
    await this.#log.ensureTopics(SINK_TOPICS);
  }

  async close(): Promise<void> {
    for (const role of this.#running.splice(0)) await role.stop();
    await this.#log?.close();
    await this.#clickhouse?.stop();
  }

  /** Stopped at the end of the test. */
  async startSink({ client, log, config }: SinkOverrides = {}): Promise<{ role: RunningRole; metrics: Registry }> {
    const metrics = new Registry();
    const context = { config: { ...this.config, ...config }, log: log ?? this.log, logger: silentLogger(), metrics };
    const role = await startHistorySink(context, { ...this.clickhouse, client: client ?? this.clickhouse.client });
    this.#running.push(role);
    return { role, metrics };
  }

  /** A sink process to kill, with at most this many rows in a block; resolves when it runs. */
  async startSinkProcess(rowsMax: number): Promise<ChildProcess> {
    const { dataDir, clickhouseUrl, clickhouseUser, clickhousePassword, clickhouseDatabase } = this.config;
    const settings = { dataDir, clickhouseUrl, clickhouseUser, clickhousePassword, clickhouseDatabase };
    const args = [SCRIPT, JSON.stringify({ ...settings, sinkMaxRows: rowsMax, sinkMaxDelayMs: 20 })];
    const child = spawn(process.execPath, [...NODE_FLAGS, ...args], {
      env: { ...process.env, ...bundleEnvironment() },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    await new Promise((resolve) => child.stdout?.once('data', resolve));
    return child;
  }

  async append(events: readonly ChainEvent[], log: EventLog = this.log): Promise<void> {
    await log.append(
      TOPICS.events,
      events.map((event, index) => ({ key: `perp-${index % KEYS}`, value: encodeEvent(event) })),
    );
  }

  rows<T = Record<string, unknown>>(query: string): Promise<readonly T[]> {
    return rowsOf<T>(this.clickhouse, query);
  }
}

/** Opens and closes the environment around each test of the file; `name` prefixes its folders. */
export function sinkStage(name: string): SinkStage {
  const stage = new SinkStage();
  let dataDir: string;
  beforeEach(async () => {
    dataDir = mkdtempSync(path.join(tmpdir(), `slotbook-${name}-`));
    await stage.open(dataDir);
  });
  afterEach(async () => {
    await stage.close();
    rmSync(dataDir, { recursive: true, force: true });
  });
  return stage;
}

function there<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('no test is running');
  return value;
}
