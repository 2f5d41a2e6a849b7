// Where ClickHouse is: a server that the configuration names, or a managed child process. Same client, same migrations.

import path from 'node:path';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { analystOf, analystUrl } from './analyst.ts';
import { type ClickHouseClient, makeClient } from './client.ts';
import { openManaged } from './managed.ts';
import { migrate } from './migrate.ts';

export { ClickHouseStartError } from './managed.ts';

export interface ClickHouse {
  /** Bound to the configured database, whose tables are there. */
  readonly client: ClickHouseClient;
  readonly url: string;
  readonly database: string;
  /** Where analysts send SQL; null for a server, whose users are not ours to know. */
  readonly analystUrl: string | null;
  /** Closes the client, and ends the managed child when this process holds it. Safe to call twice. */
  stop(): Promise<void>;
}

/**
 * Opens ClickHouse and applies open migrations. Rejects with ClickHouseStartError when the managed child cannot run,
 * with MigrationError when the migration files do not fit the database, or with the client's error.
 */
export async function openClickHouse(config: Config, logger: Logger): Promise<ClickHouse> {
  const provider = await openProvider(config, logger);
  const credentials = { url: provider.url, user: provider.user, password: provider.password, logger };
  const database = config.clickhouseDatabase;
  const client = makeClient({ ...credentials, database });
  const stop = once(async () => {
    await client.close();
    await provider.stop();
  });
  // The database may not be there yet, so this client names none.
  const administrator = makeClient(credentials);
  try {
    const applied = await migrate(administrator, { database, cluster: config.clickhouseCluster });
    if (applied.length > 0) logger.info({ applied, database }, 'ClickHouse migrations applied');
  } catch (error) {
    await stop();
    throw error;
  } finally {
    await administrator.close();
  }
  return { client, url: provider.url, database, analystUrl: provider.analystUrl, stop };
}

interface Provider {
  readonly url: string;
  readonly user: string;
  readonly password: string;
  readonly analystUrl: string | null;
  stop(): Promise<void>;
}

async function openProvider(config: Config, logger: Logger): Promise<Provider> {
  if (config.clickhouseUrl !== '') {
    return {
      url: config.clickhouseUrl,
      user: config.clickhouseUser,
      password: config.clickhousePassword,
      analystUrl: null,
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
    analystUrl: analyst && analystUrl(analyst, managed.url),
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
