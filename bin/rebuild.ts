// `slotbook rebuild`: fills a second database from the log while the first one is served, then points writers and
// readers at it. A run that was killed goes on where it was.

import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ClickHouse,
  type Config,
  ConfigError,
  type CurrentDatabases,
  createLogger,
  type EventLog,
  historySinkGroup,
  type Logger,
  openClickHouse,
  openEventLog,
  readCurrent,
  setCurrent,
} from '../platform/index.ts';
import { endsOfLog, SINK_TOPICS, startFilling, unstored } from '../processors/index.ts';
import { cleanDaysSql } from '../schemas/index.ts';
import { untilSignal } from './signals.ts';

export interface RebuildOptions {
  /** Name of the second database; the one of an unfinished run, or a new one, when absent. */
  readonly database?: string;
  readonly dropOld?: boolean;
}

const EXIT_FAILURE = 1;
const EXIT_INTERRUPTED = 130;
const POLL_MS = 100;
const REPORT_MS = 2_000;
/** All that the log had is stored within this long: the rest is what comes in meanwhile. */
const NEAR_MS = 1_500;
/** A running sink looks for its database every half second; then it stores what came in. */
const TAKEOVER_MS = 15_000;
/** Longest wait for days that the old database has reduced; the sinks go on with them after it. */
const REDUCED_MS = 120_000;
/** Readers look every half second; queries they began before end on the old database. */
const READERS_MOVED_MS = 3_000;
const say = (line: string) => process.stdout.write(`${line}\n`);

interface Rebuild {
  readonly config: Config;
  readonly log: EventLog;
  readonly logger: Logger;
  readonly clickhouse: ClickHouse;
  readonly database: string;
  readonly group: string;
  readonly signal: AbortSignal;
}

/** Resolves to the exit code. Throws ConfigError for a name that cannot be used. */
export async function rebuild(config: Config, options: RebuildOptions): Promise<number> {
  const logger = createLogger({ level: config.logLevel, roles: ['rebuild'] });
  const stopped = new AbortController();
  void untilSignal().then(() => stopped.abort());
  const log = await openEventLog(config, logger);
  try {
    await log.ensureTopics(SINK_TOPICS);
    const before = await readCurrent(log, config.clickhouseDatabase);
    const clickhouse = await openClickHouse(config, logger, before.read);
    try {
      const database = await chooseName(config, options, before, clickhouse);
      const group = historySinkGroup(database, config.clickhouseDatabase);
      await run({ config, log, logger, clickhouse, database, group, signal: stopped.signal }, before, options);
      return 0;
    } finally {
      await clickhouse.stop();
    }
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    if (stopped.signal.aborted) {
      say('interrupted; the next start goes on from here');
      return EXIT_INTERRUPTED;
    }
    logger.fatal({ err: error }, 'rebuild failed; the next start goes on from here');
    return EXIT_FAILURE;
  } finally {
    await log.close();
  }
}

async function run(rebuilding: Rebuild, before: CurrentDatabases, { dropOld }: RebuildOptions): Promise<void> {
  const { log, database, clickhouse, config } = rebuilding;
  // Killed after the sinks had gone over: they fill it themselves.
  if (before.write !== database) {
    await prepare(rebuilding);
    await fill(rebuilding, before.read);
    await setCurrent(log, { write: database });
    say('sinks go over');
  }
  await takeover(rebuilding);
  await clickhouse.settle(database);
  await setCurrent(log, { read: database, rebuilding: null });
  say(`${database} is the history now`);
  if (dropOld) {
    await sleep(READERS_MOVED_MS);
    await clickhouse.drop(before.read);
    await log.forget(historySinkGroup(before.read, config.clickhouseDatabase));
    say(`${before.read} is dropped`);
  } else {
    say(`the old one is kept: DROP DATABASE ${before.read} when it is no longer wanted,`);
    say(`or slotbook rebuild --database ${before.read} to go back to it`);
  }
}

async function chooseName(
  { clickhouseDatabase: configured }: Config,
  { database }: RebuildOptions,
  { read, rebuilding }: CurrentDatabases,
  clickhouse: ClickHouse,
): Promise<string> {
  if (database === read) throw new ConfigError(`${database} is the current database; name another one`);
  // Analysts may read databases whose names begin like the configured one.
  if (database !== undefined && !database.startsWith(configured)) {
    throw new ConfigError(`the name of the database must begin with ${configured}`);
  }
  const wanted = database ?? rebuilding;
  if (wanted !== null && wanted !== undefined) return wanted;
  for (let number = 2; ; number++) {
    const name = `${configured}_${number}`;
    if (!(await clickhouse.exists(name))) return name;
  }
}

/** A group may remember positions of a database that was dropped since: a new one begins at the start of the log. */
async function prepare({ log, clickhouse, database, group }: Rebuild): Promise<void> {
  if (!(await clickhouse.exists(database))) await log.forget(group);
  await setCurrent(log, { rebuilding: database });
  await clickhouse.prepare(database);
}

async function fill(rebuilding: Rebuild, old: string): Promise<void> {
  const { config, log, logger, clickhouse, database, group, signal } = rebuilding;
  const filling = startFilling({ config, log, logger }, clickhouse, database);
  try {
    say(`filling ${database} from the log; ${old} is served meanwhile`);
    const progress = new Progress();
    for (let nearly = false; !nearly; ) {
      const startedMs = performance.now();
      const ends = await endsOfLog(log);
      for (let left = await unstored(log, group, ends); left > 0n; left = await unstored(log, group, ends)) {
        progress.report(left);
        await Promise.race([sleep(POLL_MS, undefined, { signal }), filling.done]);
      }
      nearly = performance.now() - startedMs < NEAR_MS;
    }
    await complete(rebuilding, old);
  } finally {
    await filling.stop();
  }
}

/** What readers find complete in the old database must be so in the new one. */
async function complete({ clickhouse, database, signal }: Rebuild, old: string): Promise<void> {
  const missing = `SELECT name FROM ${old}.projection WHERE name NOT IN (SELECT name FROM ${database}.projection)`;
  const told = new Set<string>();
  const wait = async (query: string, deadlineMs = Number.POSITIVE_INFINITY): Promise<void> => {
    while (performance.now() < deadlineMs) {
      const rows = await (await clickhouse.client.query({ query, format: 'JSONEachRow' })).json<{ name: string }>();
      if (rows.length === 0) return;
      const names = rows.map(({ name }) => name).join(', ');
      if (!told.has(query)) say(`waiting for ${names}`);
      told.add(query);
      await sleep(POLL_MS, undefined, { signal });
    }
  };
  await wait(missing);
  // Without them answers are the same, and slower.
  const unreduced = `SELECT toString(count()) || ' days of account sums' AS name FROM (${cleanDaysSql(`${old}.`)})
    WHERE day NOT IN (${cleanDaysSql(`${database}.`)}) HAVING count() > 0`;
  await wait(unreduced, performance.now() + REDUCED_MS);
}

/** Waits until a running sink has stored what came in since; without one the history stays where the filling ended. */
async function takeover({ log, group, signal }: Rebuild): Promise<void> {
  const ends = await endsOfLog(log);
  const deadlineMs = performance.now() + TAKEOVER_MS;
  while ((await unstored(log, group, ends)) > 0n) {
    if (performance.now() > deadlineMs) {
      say('no sink is running: it will go on with this database when it starts');
      return;
    }
    await sleep(POLL_MS, undefined, { signal });
  }
}

class Progress {
  #atMs = performance.now();
  #left: bigint | null = null;

  report(left: bigint): void {
    const nowMs = performance.now();
    if (this.#left !== null && nowMs - this.#atMs < REPORT_MS) return;
    const rate =
      this.#left === null ? '' : `, ${Math.round((Number(this.#left - left) * 1_000) / (nowMs - this.#atMs))}/s`;
    say(`${left} records to go${rate}`);
    this.#atMs = nowMs;
    this.#left = left;
  }
}
