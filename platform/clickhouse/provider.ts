// Opens ClickHouse: the configured server, or a managed child process. Both have the same client and migrations.

import path from 'node:path';
import type { Logger } from 'pino';
import { type Config, ConfigError } from '../config.ts';
import { type Analyst, analystOf, analystUrl } from './analyst.ts';
import { whenReachable } from './away.ts';
import { type ClickHouseClient, makeClient, quorumSettings } from './client.ts';
import { readHolder } from './holder.ts';
import { landlockVersion } from './landlock.ts';
import { openManaged } from './managed.ts';
import { migrate, statementsOf, syncReplicas } from './migrate.ts';
import { PIPELINE_USER, readPassword } from './password.ts';

export interface ClickHouse {
  /** Bound to `database`, with its tables migrated. */
  readonly client: ClickHouseClient;
  readonly url: string;
  /** The pipeline's user at `url`. */
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** Rejects when the managed child cannot come back at `url`. */
  readonly failed: Promise<never>;
  /** Creates another database when it is missing, and migrates it. Rejects like `openClickHouse`. */
  prepare(database: string): Promise<void>;
  exists(database: string): Promise<boolean>;
  /** Resolves when every replica has all rows stored so far, in all tables or in one. Returns at once without a cluster. */
  settle(database: string, table?: string): Promise<void>;
  /** Removes a database with all its tables. Running queries finish normally. */
  drop(database: string): Promise<void>;
  /** A client bound to another database. The caller closes it. */
  connect(database: string): ClickHouseClient;
  /** URL for analysts' SQL; null for a server, because we do not know its users. */
  readonly analystUrl: string | null;
  /** Closes the client, and ends the managed child when this process owns it. Safe to call twice. */
  stop(): Promise<void>;
}

/**
 * Opens ClickHouse and migrates `database`, by default the current one. Waits for an unreachable server without a limit.
 * Rejects with ConfigError for an unknown cluster, with ClickHouseStartError when the managed child cannot run, and with
 * MigrationError when migration files and database do not match. Other errors are the client's.
 */
export async function openClickHouse(
  config: Config,
  logger: Logger,
  database: string = config.clickhouseDatabase,
): Promise<ClickHouse> {
  const cluster = config.clickhouseCluster;
  if (cluster !== '' && config.clickhouseUrl === '') {
    throw new ConfigError('clickhouseCluster needs clickhouseUrl: the managed ClickHouse is one server');
  }
  const provider = await openProvider(config, logger);
  const credentials = { url: provider.url, user: provider.user, password: provider.password, logger };
  const quorum = () => quorumOf(config, makeClient(credentials));
  const settings = cluster === '' ? {} : quorumSettings(await whenReachable(quorum, logger, provider.failed));
  const connect = (name: string) => makeClient({ ...credentials, settings, database: name });
  // The database may be missing, so this client names none.
  const administrate = async <T>(work: (client: ClickHouseClient) => Promise<T>): Promise<T> => {
    const administrator = makeClient({ ...credentials, settings });
    return work(administrator).finally(() => administrator.close());
  };
  const prepare = (name: string) =>
    administrate(async (administrator) => {
      const applied = await migrate(administrator, { database: name, cluster });
      if (applied.length > 0) logger.info({ applied, database: name }, 'ClickHouse migrations applied');
    });
  const exists = (name: string) => administrate((administrator) => databaseExists(administrator, name));
  const drop = (name: string) =>
    administrate(async (administrator) => {
      for (const query of statementsOf(DROP, { database: name, cluster })) await administrator.command({ query });
    });
  const settle = async (name: string, table?: string) => {
    if (cluster === '') return;
    await administrate((administrator) => syncReplicas(administrator, { database: name, cluster }, table));
  };
  const client = connect(database);
  const stop = once(async () => {
    await client.close();
    await provider.stop();
  });
  try {
    await whenReachable(() => prepare(database), logger, provider.failed);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    client,
    url: provider.url,
    user: provider.user,
    password: provider.password,
    failed: provider.failed,
    database,
    analystUrl: provider.analystUrl(database),
    prepare,
    exists,
    settle,
    drop,
    connect,
    stop,
  };
}

/** Replicas that must store a block: the configured number, or the majority. Rejects for an unknown cluster. Closes the client. */
async function quorumOf({ clickhouseCluster, clickhouseQuorum }: Config, client: ClickHouseClient): Promise<number> {
  try {
    const query = 'SELECT toUInt32(max(replica_num)) AS replicas FROM system.clusters WHERE cluster = {cluster:String}';
    const query_params = { cluster: clickhouseCluster };
    const result = await client.query({ query, query_params, format: 'JSONEachRow' });
    const [{ replicas } = { replicas: 0 }] = await result.json<{ replicas: number }>();
    if (replicas === 0) throw new ConfigError(`clickhouseCluster: the server knows no cluster ${clickhouseCluster}`);
    return clickhouseQuorum === 0 ? Math.floor(replicas / 2) + 1 : clickhouseQuorum;
  } finally {
    await client.close();
  }
}

const DROP = 'DROP DATABASE IF EXISTS {{database}} {{onCluster}}';

async function databaseExists(client: ClickHouseClient, name: string): Promise<boolean> {
  const query = 'SELECT name FROM system.databases WHERE name = {name:String}';
  const result = await client.query({ query, query_params: { name }, format: 'JSONEachRow' });
  return (await result.json()).length > 0;
}

interface Provider {
  readonly url: string;
  readonly user: string;
  readonly password: string;
  readonly failed: Promise<never>;
  analystUrl(database: string): string | null;
  stop(): Promise<void>;
}

async function openProvider(config: Config, logger: Logger): Promise<Provider> {
  if (config.clickhouseUrl !== '') {
    return {
      url: config.clickhouseUrl,
      user: config.clickhouseUser,
      password: config.clickhousePassword,
      failed: new Promise(() => {}),
      analystUrl: () => null,
      stop: () => Promise.resolve(),
    };
  }
  const analyst = safeAnalyst(analystOf(config), logger);
  const managed = await openManaged(managedDirectory(config), logger, analyst);
  return {
    url: managed.url,
    user: managed.user,
    password: managed.password,
    failed: managed.failed,
    analystUrl: (database) => analyst && analystUrl(analyst, managed.url, database),
    stop: () => managed.stop(),
  };
}

/** Without Landlock any SQL user of the child can read files with `file(path)`: no analyst without a password then. */
function safeAnalyst(analyst: Analyst | null, logger: Logger): Analyst | null {
  if (analyst === null || analyst.password !== '' || landlockVersion() > 0) return analyst;
  logger.warn('this kernel has no Landlock: set SLOTBOOK_ANALYST_PASSWORD to enable the SQL user');
  return null;
}

function managedDirectory({ dataDir }: Config): string {
  return path.resolve(dataDir, 'clickhouse');
}

export interface ServerLogin {
  readonly url: string;
  readonly user: string;
  readonly password: string;
}

/** Login of the configured server, or of the data directory's last managed child; null without either. */
export function serverLogin(config: Config): ServerLogin | null {
  const { clickhouseUrl: url, clickhouseUser: user, clickhousePassword: password } = config;
  if (url !== '') return { url, user, password };
  const holder = readHolder(managedDirectory(config));
  const own = readPassword(managedDirectory(config));
  return holder && own !== null ? { url: holder.url, user: PIPELINE_USER, password: own } : null;
}

function once(action: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => {
    done ??= action();
    return done;
  };
}
