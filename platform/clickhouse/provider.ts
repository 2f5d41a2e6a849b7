// Where ClickHouse is: a server that the configuration names, or a managed child process. Same client, same migrations.

import path from 'node:path';
import type { Logger } from 'pino';
import { type Config, ConfigError } from '../config.ts';
import { analystOf, analystUrl } from './analyst.ts';
import { type ClickHouseClient, makeClient, quorumSettings } from './client.ts';
import { openManaged } from './managed.ts';
import { migrate, statementsOf, syncReplicas } from './migrate.ts';

export { ClickHouseStartError } from './managed.ts';

export interface ClickHouse {
  /** Bound to `database`, whose tables are there. */
  readonly client: ClickHouseClient;
  readonly url: string;
  readonly database: string;
  /** Creates another database if it is not there and applies open migrations to it. Rejects as `openClickHouse` does. */
  prepare(database: string): Promise<void>;
  exists(database: string): Promise<boolean>;
  /** Resolves when every replica of the cluster has what was stored until now, in all tables or one; at once without a cluster. */
  settle(database: string, table?: string): Promise<void>;
  /** Removes a database with all its tables. Queries under way end as they began. */
  drop(database: string): Promise<void>;
  /** A client bound to another database; whoever asks for it closes it. */
  connect(database: string): ClickHouseClient;
  /** Where analysts send SQL; null for a server, whose users are not ours to know. */
  readonly analystUrl: string | null;
  /** Closes the client, and ends the managed child when this process holds it. Safe to call twice. */
  stop(): Promise<void>;
}

/**
 * Opens ClickHouse and applies open migrations to `database`, the configured one unless another is current. Rejects
 * with ConfigError for a cluster that the server does not know, with ClickHouseStartError when the managed child cannot
 * run, with MigrationError when the migration files do not fit the database, or with the client's error.
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
  const settings = cluster === '' ? {} : quorumSettings(await quorumOf(config, makeClient(credentials)));
  const connect = (name: string) => makeClient({ ...credentials, settings, database: name });
  // The database may not be there, so this client names none.
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
    await prepare(database);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    client,
    url: provider.url,
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

/** Replicas that must have a block, as configured or the majority. Closes the client; rejects when there is no such cluster. */
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
  analystUrl(database: string): string | null;
  stop(): Promise<void>;
}

async function openProvider(config: Config, logger: Logger): Promise<Provider> {
  if (config.clickhouseUrl !== '') {
    return {
      url: config.clickhouseUrl,
      user: config.clickhouseUser,
      password: config.clickhousePassword,
      analystUrl: () => null,
      stop: () => Promise.resolve(),
    };
  }
  const analyst = analystOf(config);
  const managed = await openManaged(path.resolve(config.dataDir, 'clickhouse'), logger, analyst);
  // The pipeline's own user has no password: the child listens on the loopback address only.
  return {
    url: managed.url,
    user: 'default',
    password: '',
    analystUrl: (database) => analyst && analystUrl(analyst, managed.url, database),
    stop: () => managed.stop(),
  };
}

function once(action: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => {
    done ??= action();
    return done;
  };
}
