// `slotbook rebuild`: fills a second database from the log while the first one stays in service, then moves writers and
// readers to it. A killed run continues at the next start.

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
import { endsOfLog, SINK_TOPICS, startRebuild, unstored } from '../processors/index.ts';
import { cleanDaysSql } from '../schemas/index.ts';
import { untilSignal } from './signals.ts';

export interface RebuildOptions {
  /** Name of the second database. Without a name: the database of an unfinished run, or a new one. */
  readonly database?: string;
  readonly dropOld?: boolean;
}

const EXIT_FAILURE = 1;
const EXIT_INTERRUPTED = 130;
const POLL_MS = 100;
const REPORT_MS = 2_000;
/** The rebuild is close to the end when a full pass over the log takes less than this. */
const NEAR_MS = 1_500;
/** A running sink looks for its database every half second and then stores new records there. */
const TAKEOVER_MS = 15_000;
/** Longest wait for days that are reduced in the old database. The sinks continue with them later. */
const REDUCED_MS = 120_000;
/** Readers look for their database every half second. Running queries end on the old one. */
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

/** Resolves to the exit code. Throws ConfigError for an unusable name. */
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
      say('interrupted; the next start continues from here');
      return EXIT_INTERRUPTED;
    }
    logger.fatal({ err: error }, 'rebuild failed; the next start continues from here');
    return EXIT_FAILURE;
  } finally {
    await log.close();
  }
}

async function run(rebuilding: Rebuild, before: CurrentDatabases, { dropOld }: RebuildOptions): Promise<void> {
  const { log, database, clickhouse, config } = rebuilding;
  // A run killed after the sinks had moved: they fill the database themselves.
  if (before.write !== database) {
    await prepare(rebuilding);
    await fill(rebuilding, before.read);
    await setCurrent(log, { write: database });
    say('moving the sinks');
  }
  await takeover(rebuilding);
  await clickhouse.settle(database);
  await setCurrent(log, { read: database, rebuilding: null });
  say(`${database} is the history now`);
  if (dropOld) {
    await sleep(READERS_MOVED_MS);
    await clickhouse.drop(before.read);
    await log.forget(historySinkGroup(before.read, config.clickhouseDatabase));
    say(`${before.read} has been dropped`);
  } else {
    say(`the old database stays: DROP DATABASE ${before.read} removes it,`);
    say(`slotbook rebuild --database ${before.read} goes back to it`);
  }
}

async function chooseName(
  { clickhouseDatabase: configured }: Config,
  { database }: RebuildOptions,
  { read, rebuilding }: CurrentDatabases,
  clickhouse: ClickHouse,
): Promise<string> {
  if (database === read) throw new ConfigError(`${database} is the current database; name another one`);
  // Analysts may read databases whose names start like the configured one.
  if (database !== undefined && !database.startsWith(configured)) {
    throw new ConfigError(`the name of the database must begin with ${configured}`);
  }
  const chosen = database ?? rebuilding;
  if (chosen !== null && chosen !== undefined) return chosen;
  for (let number = 2; ; number++) {
    const name = `${configured}_${number}`;
    if (!(await clickhouse.exists(name))) return name;
  }
}

/** A dropped database may have left offsets in the log. A new database begins at the start of the log. */
async function prepare({ log, clickhouse, database, group }: Rebuild): Promise<void> {
  if (!(await clickhouse.exists(database))) await log.forget(group);
  await setCurrent(log, { rebuilding: database });
  await clickhouse.prepare(database);
}

async function fill(rebuilding: Rebuild, old: string): Promise<void> {
  const { config, log, logger, clickhouse, database, group, signal } = rebuilding;
  const rebuilder = startRebuild({ config, log, logger }, clickhouse, database);
  try {
    say(`writing ${database} from the log; ${old} stays in service`);
    const progress = new Progress();
    for (let nearly = false; !nearly; ) {
      const startedMs = performance.now();
      const ends = await endsOfLog(log);
      for (let left = await unstored(log, group, ends); left > 0n; left = await unstored(log, group, ends)) {
        progress.report(left);
        await Promise.race([sleep(POLL_MS, undefined, { signal }), rebuilder.done]);
      }
      nearly = performance.now() - startedMs < NEAR_MS;
    }
    await complete(rebuilding, old);
  } finally {
    await rebuilder.stop();
  }
}

/** Waits until every built part of the old database is also built in the new one. */
async function complete({ clickhouse, database, signal }: Rebuild, old: string): Promise<void> {
  const missing = `SELECT name FROM ${old}.projection WHERE name NOT IN (SELECT name FROM ${database}.projection)`;
  const reported = new Set<string>();
  const wait = async (query: string, deadlineMs = Number.POSITIVE_INFINITY): Promise<void> => {
    while (performance.now() < deadlineMs) {
      const rows = await (await clickhouse.client.query({ query, format: 'JSONEachRow' })).json<{ name: string }>();
      if (rows.length === 0) return;
      const names = rows.map(({ name }) => name).join(', ');
      if (!reported.has(query)) say(`waiting for ${names}`);
      reported.add(query);
      await sleep(POLL_MS, undefined, { signal });
    }
  };
  await wait(missing);
  // Reduced days only make answers faster.
  const unreduced = `SELECT toString(count()) || ' days of account sums' AS name FROM (${cleanDaysSql(`${old}.`)})
    WHERE day NOT IN (${cleanDaysSql(`${database}.`)}) HAVING count() > 0`;
  await wait(unreduced, performance.now() + REDUCED_MS);
}

/** Waits until a running sink has stored all new records. Without a sink the history ends with the rebuild. */
async function takeover({ log, group, signal }: Rebuild): Promise<void> {
  const ends = await endsOfLog(log);
  const deadlineMs = performance.now() + TAKEOVER_MS;
  while ((await unstored(log, group, ends)) > 0n) {
    if (performance.now() > deadlineMs) {
      say('no sink is running: it continues with this database when it starts');
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
    say(`${left} records left${rate}`);
    this.#atMs = nowMs;
    this.#left = left;
  }
}
