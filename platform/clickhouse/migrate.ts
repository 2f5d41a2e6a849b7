// Numbered SQL migrations with checksums: what was applied is recorded in the database, and a file that changed after
// it was applied is refused.

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ClickHouseClient, ClickHouseSettings } from './client.ts';
import { withLock } from './lock.ts';

const DIRECTORY = fileURLToPath(new URL('../../schemas/migrations', import.meta.url));
const FILE_NAME = /^(\d{4})_([a-z0-9_]+)\.sql$/;
const PLACEHOLDER = /\{\{(\w+)\}\}/g;
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Blocks whose tokens a table remembers. A retry repeats only the newest block, so this is plenty. */
const DEDUPLICATION_WINDOW = 1_000;
/** Replicated tables forget tokens by age too, after an hour by default: a sink that was down overnight repeats its block. */
const DEDUPLICATION_WINDOW_SECONDS = 30 * 86_400;
const CLUSTER_SETTINGS: ClickHouseSettings = {
  // Each statement is done on every replica before the next begins: one that swapped its tables later would lose rows.
  distributed_ddl_output_mode: 'throw',
  // Below the request's own timeout, so that the server says which replica did not answer.
  distributed_ddl_task_timeout: '50',
  replication_wait_for_inactive_replica_timeout: '40',
  alter_sync: '2',
};

export class MigrationError extends Error {
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

/** Migrations of a directory in order. Throws MigrationError for a file of another form, a gap or a repeated number. */
export function readMigrations(directory: string = DIRECTORY): readonly Migration[] {
  const files = readdirSync(directory)
    .filter((file) => file.endsWith('.sql'))
    .sort();
  return files.map((file, index) => {
    const match = FILE_NAME.exec(file);
    if (!match?.[1] || !match[2]) throw new MigrationError(`${file} is not named NNNN_name.sql`);
    const version = Number(match[1]);
    if (version !== index + 1) throw new MigrationError(`${file}: migration ${index + 1} was expected here`);
    const sql = readFileSync(path.join(directory, file), 'utf8');
    return { version, name: match[2], checksum: createHash('sha256').update(sql).digest('hex'), sql };
  });
}

/**
 * Creates the database and applies what is not applied yet; returns the names applied. One process at a time does so,
 * others wait and find it done. A run that was cut short is completed by the next one. Rejects with MigrationError when
 * files and database do not fit, or a replica lacks a database that others have.
 */
export async function migrate(
  client: ClickHouseClient,
  target: MigrationTarget,
  migrations: readonly Migration[] = readMigrations(),
): Promise<readonly string[]> {
  const tables = new Tables(client, target);
  // Without open migrations no replica but this one is asked for anything, so one that is down keeps nobody from starting.
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

/** What `migrate` asks of the server. */
class Tables {
  readonly #client: ClickHouseClient;
  readonly #target: MigrationTarget;
  readonly #settings: ClickHouseSettings;

  constructor(client: ClickHouseClient, target: MigrationTarget) {
    this.#client = client;
    this.#target = target;
    this.#settings = {
      // A companion table is filled from all months of its base table.
      max_partitions_per_insert_block: '0',
      // Copying a large table takes longer than a silent connection is waited for.
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
      // A copy takes what the executing replica has, and another one may have stored rows that it has not fetched yet.
      for (const [, table] of COPY.test(statement) ? statement.matchAll(COPIED) : []) await this.sync(String(table));
    }
    await this.#command(statement);
  }

  /** A table that was about to take the place of another when a run was cut short: its rows go over, and it goes. */
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

  /** A replica that joined later would get tables of its own, which never replicate with those of the others. */
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

  /** Lightweight: rows are waited for, not merges, which can take longer than any request. */
  sync(table: string): Promise<void> {
    return this.#command(`SYSTEM SYNC REPLICA ON CLUSTER ${this.#target.cluster} ${table} LIGHTWEIGHT`);
  }

  async #command(query: string): Promise<void> {
    await this.#client.command({ query, clickhouse_settings: this.#settings });
  }
}

/** Statements that copy rows from another table, and the tables they read. */
const COPY = /^INSERT INTO|\bATTACH PARTITION\b/;
const COPIED = /\bFROM (\w+\.`\w+`)/g;
/** Tables that are made to take the place of another one are named after it. */
const NEXT_TABLE = /^CREATE TABLE IF NOT EXISTS \w+\.`(\w+)_next`/;

/**
 * Resolves when every replica of the cluster has the rows that any of them had, in all tables or in the one named; at once when
 * there is no cluster. Rejects with the client's error when a replica does not answer.
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

/** Migrations that are not applied; throws MigrationError when those that are do not fit the files. */
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
    if (!IDENTIFIER.test(name)) throw new MigrationError(`${name} is not a name for a database or cluster`);
  }
  const replicated = cluster !== '';
  return {
    database,
    onCluster: replicated ? `ON CLUSTER ${cluster}` : '',
    // Without arguments the server's default path applies, which holds the table's UUID.
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

/** Statements between semicolons, leaving alone those inside quotes and comments. Comments are dropped. */
function splitStatements(sql: string): readonly string[] {
  const statements: string[] = [];
  let current = '';
  // A comment, a quoted text (doubled quotes and backslashes belong to it), a semicolon, or one other character.
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
