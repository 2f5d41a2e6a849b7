// Numbered SQL migrations with checksums: what was applied is recorded in the database, and a file that changed after
// it was applied is refused.

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ClickHouseClient, ClickHouseSettings } from './client.ts';

const DIRECTORY = fileURLToPath(new URL('../../schemas/migrations', import.meta.url));
const FILE_NAME = /^(\d{4})_([a-z0-9_]+)\.sql$/;
const PLACEHOLDER = /\{\{(\w+)\}\}/g;
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Blocks whose tokens a table remembers. A retry repeats only the newest block, so this is plenty. */
const DEDUPLICATION_WINDOW = 1_000;
/** Seconds to wait for every replica to run a statement. */
const DDL_TIMEOUT_SECONDS = 120;

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
 * Creates the database and applies what is not applied yet; returns the names applied. Every statement is repeatable
 * (IF NOT EXISTS), so a run that was cut short, or two at once, end in the same tables.
 */
export async function migrate(
  client: ClickHouseClient,
  target: MigrationTarget,
  migrations: readonly Migration[] = readMigrations(),
): Promise<readonly string[]> {
  const settings: ClickHouseSettings = {
    // A companion table is filled from all months of its base table.
    max_partitions_per_insert_block: '0',
    ...(target.cluster === '' ? {} : { distributed_ddl_task_timeout: String(DDL_TIMEOUT_SECONDS) }),
  };
  const run = (query: string) => client.command({ query, clickhouse_settings: settings });
  for (const statement of statementsOf(BOOTSTRAP, target)) await run(statement);
  const applied = await readApplied(client, target.database);
  check(migrations, applied);
  const open = migrations.filter(({ version }) => !applied.has(version));
  for (const migration of open) {
    for (const statement of statementsOf(migration.sql, target)) await run(statement);
    await client.insert({
      table: `${target.database}.migrations`,
      values: [{ version: migration.version, name: migration.name, checksum: migration.checksum }],
      columns: ['version', 'name', 'checksum'],
      format: 'JSONEachRow',
    });
  }
  return open.map(({ version, name }) => `${String(version).padStart(4, '0')}_${name}`);
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

async function readApplied(client: ClickHouseClient, database: string): Promise<ReadonlyMap<number, AppliedMigration>> {
  const result = await client.query({
    query: `SELECT version, name, checksum FROM ${database}.migrations FINAL ORDER BY version`,
    format: 'JSONEachRow',
  });
  const rows = await result.json<{ version: number; name: string; checksum: string }>();
  return new Map(rows.map(({ version, name, checksum }) => [version, { name, checksum }]));
}

function check(migrations: readonly Migration[], applied: ReadonlyMap<number, AppliedMigration>): void {
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
      ? `replicated_deduplication_window = ${DEDUPLICATION_WINDOW}`
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
