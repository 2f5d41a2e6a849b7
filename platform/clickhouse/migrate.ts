// Numbered SQL migrations with checksums. The database records the applied ones; a file that changed after its application
// is refused.

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ClickHouseClient, ClickHouseSettings } from './client.ts';
import { withLock } from './lock.ts';

const DIRECTORY = fileURLToPath(new URL('../../schemas/history/migrations', import.meta.url));
const FILE_NAME = /^(\d{4})_([a-z0-9_]+)\.sql$/;
const PLACEHOLDER = /\{\{(\w+)\}\}/g;
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Number of block tokens that a table remembers. A retry repeats only the newest block. */
const DEDUPLICATION_WINDOW = 1_000;
/** Replicated tables also drop tokens by age, by default after an hour, but a sink may repeat its block after a night. */
const DEDUPLICATION_WINDOW_SECONDS = 30 * 86_400;
const CLUSTER_SETTINGS: ClickHouseSettings = {
  // Every replica runs a statement before the next begins: a replica that swapped its tables later would lose rows.
  distributed_ddl_output_mode: 'throw',
  // Below the request's own timeout, so that the server names the replica that did not answer.
  distributed_ddl_task_timeout: '50',
  replication_wait_for_inactive_replica_timeout: '40',
  alter_sync: '2',
};

class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

export interface Migration {
  readonly version: number;
  readonly name: string;
  /** SHA-256 of the file's text, hex. Placeholders are part of the text, so one checksum fits every deployment. */
  readonly checksum: string;
  readonly sql: string;
}

export interface MigrationTarget {
  readonly database: string;
  /** Cluster for replicated tables; empty for one server. */
  readonly cluster: string;
}

/** Migrations of a directory in order. Throws MigrationError for a bad file name, a gap or a repeated number. */
export function readMigrations(directory: string = DIRECTORY): readonly Migration[] {
  const files = readdirSync(directory)
    .filter((file) => file.endsWith('.sql'))
    .sort();
  return files.map((file, index) => {
    const match = FILE_NAME.exec(file);
    if (!match?.[1] || !match[2]) throw new MigrationError(`${file} is not named NNNN_name.sql`);
    const version = Number(match[1]);
    if (version !== index + 1) throw new MigrationError(`${file}: expected migration ${index + 1}`);
    const sql = readFileSync(path.join(directory, file), 'utf8');
    return { version, name: match[2], checksum: createHash('sha256').update(sql).digest('hex'), sql };
  });
}

/**
 * Creates the database and applies open migrations; returns their names. One process at a time does so, all others wait.
 * An interrupted run is completed by the next one. Rejects with MigrationError when files and database do not match, or when a
 * replica lacks a database that others have.
 */
export async function migrate(
  client: ClickHouseClient,
  target: MigrationTarget,
  migrations: readonly Migration[] = readMigrations(),
): Promise<readonly string[]> {
  const tables = new Tables(client, target);
  // Without open migrations this asks no other replica, so a replica that is down does not prevent a start.
  if ((await tables.exists('migrations')) && openMigrations(migrations, await tables.applied()).length === 0) return [];
  return withLock(client, target, async (assertHeld) => {
    await tables.bootstrap();
    const open = openMigrations(migrations, await tables.applied());
    for (const migration of open) {
      for (const statement of statementsOf(migration.sql, target)) {
        assertHeld();
        await tables.run(statement);
      }
      await tables.record(migration);
    }
    return open.map(({ version, name }) => `${String(version).padStart(4, '0')}_${name}`);
  });
}

/** The queries of `migrate`. */
class Tables {
  readonly #client: ClickHouseClient;
  readonly #target: MigrationTarget;
  readonly #settings: ClickHouseSettings;

  constructor(client: ClickHouseClient, target: MigrationTarget) {
    this.#client = client;
    this.#target = target;
    this.#settings = {
      // One insert fills a lookup table from all months of its base table.
      max_partitions_per_insert_block: '0',
      // Copying a large table takes longer than the timeout of a silent connection.
      send_progress_in_http_headers: 1,
      http_headers_progress_interval_ms: '25000',
      ...(target.cluster === '' ? {} : CLUSTER_SETTINGS),
    };
  }

  async bootstrap(): Promise<void> {
    const { database, cluster } = this.#target;
    if (cluster !== '' && !(await this.exists('migrations'))) await this.#assertNowhere();
    for (const statement of statementsOf(BOOTSTRAP, this.#target)) await this.#command(statement);
    if (cluster !== '') await this.sync(`${database}.migrations`);
  }

  async run(statement: string): Promise<void> {
    await this.#finish(statement);
    if (this.#target.cluster !== '') {
      // A copy sees only the executing replica's rows, and that replica may not have fetched all rows of the others.
      for (const [, table] of COPY.test(statement) ? statement.matchAll(COPIED) : []) await this.sync(String(table));
    }
    await this.#command(statement);
  }

  /** Completes an interrupted exchange: moves the rows of the `_next` table over and drops it. */
  async #finish(statement: string): Promise<void> {
    const [, name] = NEXT_TABLE.exec(statement) ?? [];
    if (name === undefined || !(await this.exists(`${name}_next`))) return;
    const leftover = `{{database}}.\`${name}_next\``;
    const statements = `ALTER TABLE {{database}}.\`${name}\` {{onCluster}} ATTACH PARTITION ALL FROM ${leftover};
      DROP TABLE IF EXISTS ${leftover} {{onCluster}} SYNC`;
    for (const finishing of statementsOf(statements, this.#target)) await this.run(finishing);
  }

  async exists(table: string): Promise<boolean> {
    const query = 'SELECT 1 FROM system.tables WHERE database = {database:String} AND name = {table:String}';
    const query_params = { database: this.#target.database, table };
    return (await (await this.#client.query({ query, query_params, format: 'JSONEachRow' })).json()).length > 0;
  }

  async applied(): Promise<ReadonlyMap<number, AppliedMigration>> {
    const result = await this.#client.query({
      query: `SELECT version, name, checksum FROM ${this.#target.database}.migrations FINAL ORDER BY version`,
      format: 'JSONEachRow',
    });
    const rows = await result.json<{ version: number; name: string; checksum: string }>();
    return new Map(rows.map(({ version, name, checksum }) => [version, { name, checksum }]));
  }

  async record({ version, name, checksum }: Migration): Promise<void> {
    await this.#client.insert({
      table: `${this.#target.database}.migrations`,
      values: [{ version, name, checksum }],
      columns: ['version', 'name', 'checksum'],
      format: 'JSONEachRow',
      clickhouse_settings: this.#settings,
    });
  }

  /** A replica that joined later would get its own tables, which never replicate with the others. */
  async #assertNowhere(): Promise<void> {
    const { database, cluster } = this.#target;
    const result = await this.#client.query({
      query: `SELECT DISTINCT hostName() AS host FROM clusterAllReplicas(${cluster}, system.tables)
        WHERE database = {database:String} AND name = 'migrations'`,
      query_params: { database },
      format: 'JSONEachRow',
      clickhouse_settings: { skip_unavailable_shards: 1 },
    });
    const [other] = await result.json<{ host: string }>();
    if (other === undefined) return;
    throw new MigrationError(
      `${database} is on replica ${other.host} of ${cluster}, but not on the one asked: a replica that joined later gets it by slotbook rebuild (deploy/README.md)`,
    );
  }

  /** Lightweight: waits for rows, not for merges, which can take longer than any request. */
  sync(table: string): Promise<void> {
    return this.#command(`SYSTEM SYNC REPLICA ON CLUSTER ${this.#target.cluster} ${table} LIGHTWEIGHT`);
  }

  async #command(query: string): Promise<void> {
    await this.#client.command({ query, clickhouse_settings: this.#settings });
  }
}

/** Statements that copy rows from another table, and the tables that they read. */
const COPY = /^INSERT INTO|\bATTACH PARTITION\b/;
const COPIED = /\bFROM (\w+\.`\w+`)/g;
/** A table that will replace another one has its name with the suffix `_next`. */
const NEXT_TABLE = /^CREATE TABLE IF NOT EXISTS \w+\.`(\w+)_next`/;

/**
 * Resolves when every replica of the cluster has the rows of all others, in all tables or in the named one. Returns at once
 * without a cluster. Rejects with the client's error when a replica does not answer.
 */
export async function syncReplicas(client: ClickHouseClient, target: MigrationTarget, table?: string): Promise<void> {
  const { database, cluster } = target;
  if (cluster === '') return;
  const tables = new Tables(client, target);
  const query = `SELECT name FROM system.tables WHERE database = {database:String} AND engine LIKE 'Replicated%'`;
  const result = await client.query({ query, query_params: { database }, format: 'JSONEachRow' });
  for (const { name } of await result.json<{ name: string }>()) {
    if (table === undefined || table === name) await tables.sync(`${database}.\`${name}\``);
  }
}

const BOOTSTRAP = `
CREATE DATABASE IF NOT EXISTS {{database}} {{onCluster}};
CREATE TABLE IF NOT EXISTS {{database}}.migrations {{onCluster}} (
  version UInt32,
  name String,
  checksum String,
  applied_at DateTime('UTC') DEFAULT now()
) ENGINE = {{replacingMergeTree}} ORDER BY version`;

interface AppliedMigration {
  readonly name: string;
  readonly checksum: string;
}

/** Migrations not yet applied. Throws MigrationError when the applied ones do not match the files. */
function openMigrations(
  migrations: readonly Migration[],
  applied: ReadonlyMap<number, AppliedMigration>,
): readonly Migration[] {
  const known = new Map(migrations.map((migration) => [migration.version, migration]));
  let highest = 0;
  for (const [version, { name, checksum }] of applied) {
    const migration = known.get(version);
    if (!migration) throw new MigrationError(`the database has migration ${version} (${name}), which has no file here`);
    if (migration.checksum !== checksum) {
      throw new MigrationError(`migration ${version} (${migration.name}) was changed after it was applied`);
    }
    highest = Math.max(highest, version);
  }
  if (highest !== applied.size) throw new MigrationError(`migrations before ${highest} are missing in the database`);
  return migrations.filter(({ version }) => !applied.has(version));
}

function placeholders({ database, cluster }: MigrationTarget): Readonly<Record<string, string>> {
  for (const name of cluster === '' ? [database] : [database, cluster]) {
    if (!IDENTIFIER.test(name)) throw new MigrationError(`${name} is not a valid name of a database or cluster`);
  }
  const replicated = cluster !== '';
  return {
    database,
    onCluster: replicated ? `ON CLUSTER ${cluster}` : '',
    // Without arguments the server's default path applies, which contains the table's UUID.
    replacingMergeTree: replicated ? 'ReplicatedReplacingMergeTree' : 'ReplacingMergeTree',
    deduplicationWindow: replicated
      ? `replicated_deduplication_window = ${DEDUPLICATION_WINDOW}, replicated_deduplication_window_seconds = ${DEDUPLICATION_WINDOW_SECONDS}`
      : `non_replicated_deduplication_window = ${DEDUPLICATION_WINDOW}`,
  };
}

function fill(sql: string, values: Readonly<Record<string, string>>): string {
  return sql.replace(PLACEHOLDER, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new MigrationError(`unknown placeholder ${name}`);
    return value;
  });
}

/** The statements of a migration for one deployment. Throws MigrationError for an unknown placeholder or a bad name. */
export function statementsOf(sql: string, target: MigrationTarget): readonly string[] {
  return splitStatements(fill(sql, placeholders(target)));
}

/** Statements between semicolons, ignoring semicolons in quotes and comments. Removes comments. */
function splitStatements(sql: string): readonly string[] {
  const statements: string[] = [];
  let current = '';
  // A comment, a quoted text (with doubled quotes and backslashes), a semicolon, or one other character.
  const token = /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:\\.|''|[^'\\])*'|"(?:\\.|""|[^"\\])*"|`(?:\\.|``|[^`\\])*`|;|[\s\S]/g;
  for (const [text] of sql.matchAll(token)) {
    if (text === ';') {
      statements.push(current.trim());
      current = '';
    } else if (!text.startsWith('--') && !text.startsWith('/*')) {
      current += text;
    } else {
      current += ' ';
    }
  }
  statements.push(current.trim());
  return statements.filter((statement) => statement !== '');
}
