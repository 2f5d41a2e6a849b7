// `slotbook sql-user`: prints or runs the statements that create the read-only SQL user on a ClickHouse server.

import {
  analystOf,
  analystStatements,
  type Config,
  ConfigError,
  errorText,
  makeClient,
  silentLogger,
} from '../platform/index.ts';

const EXIT_FAILURE = 1;

/** Resolves to the exit code. `apply` runs the statements on `clickhouseUrl` as `clickhouseUser`. */
export async function sqlUser(config: Config, apply: boolean): Promise<number> {
  const analyst = analystOf(config);
  if (analyst === null) throw new ConfigError('analystUser is empty, so there is no user to create');
  const statements = analystStatements(analyst, config.clickhouseCluster);
  if (!apply) {
    process.stdout.write(statements.map((statement) => `${statement};\n`).join(''));
    return 0;
  }
  const { clickhouseUrl: url, clickhouseUser: user, clickhousePassword: password } = config;
  if (url === '')
    throw new ConfigError('the managed ClickHouse already has its users; set clickhouseUrl to use a server');
  const client = makeClient({ url, user, password, logger: silentLogger() });
  try {
    for (const query of statements) await client.command({ query });
  } catch (error) {
    process.stderr.write(`slotbook: ${errorText(error)}\n`);
    return EXIT_FAILURE;
  } finally {
    await client.close();
  }
  process.stdout.write(`${analyst.user} may read databases whose names begin with ${analyst.database}\n`);
  return 0;
}
