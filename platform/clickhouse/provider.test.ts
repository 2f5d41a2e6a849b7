import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loginOf } from '../../test/support/clickhouse/login.ts';
import { managedChildPid } from '../../test/support/clickhouse/managed-child.ts';
import { NODE_FLAGS } from '../../test/support/platform/children.ts';
import { until } from '../../test/support/platform/eventually.ts';
import { ConfigError, readConfig } from '../config.ts';
import { silentLogger } from '../runtime/logger.ts';
import { makeClient, READ_SETTINGS } from './client.ts';
import { assertEngineInstalled } from './managed.ts';
import { migrate, readMigrations, statementsOf } from './migrate.ts';
import { type ClickHouse, openClickHouse } from './provider.ts';

// A busy machine with a cold page cache takes seconds to start the engine.
const logger = silentLogger();
const opened: ClickHouse[] = [];
let dataDir: string;

beforeEach(() => {
  dataDir = mkdtempSync(path.join(tmpdir(), 'slotbook-clickhouse-'));
});
afterEach(async () => {
  for (const clickhouse of opened.splice(0)) await clickhouse.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

async function open(): Promise<ClickHouse> {
  const clickhouse = await openClickHouse(readConfig({}, { dataDir }), logger);
  opened.push(clickhouse);
  return clickhouse;
}

let kept: Promise<ClickHouse> | undefined;
let keptDir: string | undefined;
afterAll(async () => {
  await (await kept)?.stop();
  if (keptDir) rmSync(keptDir, { recursive: true, force: true });
});

/** One shared child, for what leaves no trace that another test sees. */
function shared(): Promise<ClickHouse> {
  keptDir ??= mkdtempSync(path.join(tmpdir(), 'slotbook-clickhouse-'));
  kept ??= openClickHouse(readConfig({}, { dataDir: keptDir }), logger);
  return kept;
}

async function rows(clickhouse: ClickHouse, query: string): Promise<readonly unknown[]> {
  const result = await clickhouse.client.query({ query, format: 'JSONEachRow', clickhouse_settings: READ_SETTINGS });
  return result.json();
}

describe('managed ClickHouse', () => {
  it('answers SQL, keeps rows over a restart, and ends with its owner', async () => {
    const first = await open();
    await first.client.command({ query: 'CREATE TABLE kept (n UInt64) ENGINE = MergeTree ORDER BY n' });
    await first.client.command({ query: 'INSERT INTO kept VALUES (18446744073709551615)' });
    expect(await rows(first, 'SELECT n FROM kept')).toEqual([{ n: '18446744073709551615' }]);
    await first.stop();
    await expect(fetch(first.url)).rejects.toThrow();
    const second = await open();
    expect(await rows(second, 'SELECT n FROM kept')).toEqual([{ n: '18446744073709551615' }]);
    expect(second.url).toBe(first.url);
  });

  it('refuses logins without the password, which is in a file for its owner only', async () => {
    const opened = await Promise.all([open(), open(), open()]);
    const url = opened.map((one) => one.url)[0] ?? '';
    const file = path.join(dataDir, 'clickhouse', 'password');
    const password = readFileSync(file, 'utf8').trim();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(opened.map((one) => one.password)).toEqual([password, password, password]);
    const status = async (headers: Record<string, string>, query = 'SELECT currentUser()') => {
      const response = await fetch(`${url}/?query=${encodeURIComponent(query)}`, { method: 'POST', headers });
      return [response.status, (await response.text()).split('(')[0]?.trim()];
    };
    const login = { 'x-clickhouse-user': 'slotbook', 'x-clickhouse-key': password };
    expect(await status(login)).toEqual([200, 'slotbook']);
    expect((await status({}))[0]).not.toBe(200);
    expect((await status({}, 'DROP DATABASE slotbook'))[0]).not.toBe(200);
    expect((await status({ 'x-clickhouse-user': 'default', 'x-clickhouse-key': '' }))[0]).not.toBe(200);
    expect((await status({ ...login, 'x-clickhouse-key': 'guess' }))[0]).not.toBe(200);
    const raised = await fetch(`${url}/?query=SELECT+1&max_sessions_for_user=9`, { method: 'POST' });
    expect(raised.status).not.toBe(200);
    expect(readdirSync(path.dirname(file)).filter((name) => name.startsWith('password'))).toEqual(['password']);
    expect(await rows(opened[0] as ClickHouse, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('refuses requests of web pages and for other hosts, even with the password', async () => {
    const { url, user, password } = await shared();
    const ask = (headers: Record<string, string>) =>
      new Promise<number>((resolve, reject) => {
        const login = { 'x-clickhouse-user': user, 'x-clickhouse-key': password };
        const sent = request(
          `${url}/?query=SELECT+1`,
          { method: 'POST', headers: { ...login, ...headers } },
          (answer) => {
            answer.resume();
            resolve(answer.statusCode ?? 0);
          },
        );
        sent.once('error', reject).end();
      });
    const { port } = new URL(url);
    expect(await ask({})).toBe(200);
    expect(await ask({ host: `localhost:${port}` })).toBe(200);
    expect(await ask({ 'sec-fetch-site': 'none' })).toBe(200);
    expect(await ask({ origin: 'https://example.com' })).toBe(403);
    expect(await ask({ origin: 'null' })).toBe(403);
    expect(await ask({ origin: url })).toBe(403);
    expect(await ask({ 'sec-fetch-site': 'cross-site' })).toBe(403);
    expect(await ask({ host: `example.com:${port}` })).toBe(421);
    expect(await ask({ host: `127.0.0.1.example.com:${port}` })).toBe(421);
    expect((await fetch(`${url}/play`, { headers: { origin: 'https://example.com' } })).status).toBe(403);
    const preflight = await fetch(url, { method: 'OPTIONS', headers: { origin: 'https://example.com' } });
    expect(preflight.headers.get('access-control-allow-origin')).toBeNull();
  });

  it.each([
    "SELECT * FROM file('/etc/hostname', 'LineAsString')",
    "SELECT * FROM url('http://127.0.0.1:1/', 'LineAsString')",
    "SELECT * FROM remote('127.0.0.1:1', system.one)",
    "SELECT * FROM s3('http://127.0.0.1:1/bucket/k', 'CSV', 'n UInt8')",
    "SELECT * FROM mysql('127.0.0.1:1', 'd', 't', 'u', 'p')",
    "SELECT * FROM postgresql('127.0.0.1:1', 'd', 't', 'u', 'p')",
    "SELECT * FROM executable('id', 'CSV', 'n String')",
    "INSERT INTO FUNCTION file('/tmp/slotbook-was-here', 'CSV', 'n UInt8') VALUES (1)",
    "SELECT 1 INTO OUTFILE '/tmp/slotbook-was-here'",
    "CREATE TABLE slotbook.mine (n String) ENGINE = File(CSV, '/etc/hostname')",
    "CREATE TABLE slotbook.mine (n UInt64) ENGINE = URL('http://127.0.0.1:1/', CSV)",
    "CREATE TABLE slotbook.mine (n UInt64) ENGINE = MergeTree ORDER BY n SETTINGS disk = disk(type = local, path = '/tmp/slotbook-was-here/')",
    "CREATE DICTIONARY slotbook.mine (n UInt64) PRIMARY KEY n SOURCE(EXECUTABLE(command 'id' format 'CSV')) LAYOUT(FLAT()) LIFETIME(0)",
    'CREATE USER mine',
    'SYSTEM STOP LISTEN HTTP',
  ])('refuses the pipeline statements that it never needs: %s', async (query) => {
    const { client } = await shared();
    await expect(client.command({ query })).rejects.toThrow(
      /privileges|INTO OUTFILE is not allowed|disk|does not exist inside user scripts/i,
    );
  });

  it('refuses writes under the settings of reads', async () => {
    const { client } = await shared();
    await client.command({ query: 'CREATE TABLE guarded (n UInt64) ENGINE = MergeTree ORDER BY n' });
    const write = client.command({ query: 'INSERT INTO guarded VALUES (1)', clickhouse_settings: READ_SETTINGS });
    await expect(write).rejects.toThrow(/readonly/i);
  });

  it('is shared by a second user of the directory, ends when its owner is killed, and starts for the next owner', async () => {
    const holder = await startHolder(dataDir);
    const guest = await open();
    expect(guest.url).toBe(holder.url);
    await guest.stop();
    expect((await fetch(`${holder.url}/ping`)).ok).toBe(true);
    await holder.kill('SIGKILL');
    const next = await open();
    expect(await rows(next, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it.runIf(process.platform === 'linux')('comes back on the same address when the child is killed', async () => {
    const clickhouse = await open();
    process.kill(managedChildPid(dataDir), 'SIGKILL');
    await until(async () => (await rows(clickhouse, 'SELECT 1 AS one')).length === 1);
    expect(await rows(clickhouse, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('is no cluster, and names the cluster that a server does not know', async () => {
    const clickhouseCluster = 'elsewhere';
    const alone = openClickHouse(readConfig({}, { dataDir, clickhouseCluster }), logger);
    await expect(alone).rejects.toThrow(
      new ConfigError('clickhouseCluster needs clickhouseUrl: the managed ClickHouse is one server'),
    );
    const { url: clickhouseUrl, user: clickhouseUser, password: clickhousePassword } = await shared();
    const login = { clickhouseUrl, clickhouseUser, clickhousePassword };
    const unknown = openClickHouse(readConfig({}, { ...login, clickhouseCluster }), logger);
    await expect(unknown).rejects.toThrow(new ConfigError('clickhouseCluster: the server knows no cluster elsewhere'));
  });

  it('names the missing package and the alternative when the engine is not installed', () => {
    const missing = () => {
      throw new Error('Cannot find module');
    };
    expect(() => assertEngineInstalled(missing)).toThrow(/optional package ffi-rs.*SLOTBOOK_CLICKHOUSE_URL/);
  });
});

describe('migrations', () => {
  const target = { database: 'migrated', cluster: '' };
  afterEach(async () => (await shared()).drop(target.database));

  function write(files: Readonly<Record<string, string>>): string {
    const directory = path.join(dataDir, 'migrations');
    rmSync(directory, { recursive: true, force: true });
    mkdirSync(directory);
    for (const [name, sql] of Object.entries(files)) writeFileSync(path.join(directory, name), sql);
    return directory;
  }
  const table =
    'CREATE TABLE IF NOT EXISTS {{database}}.t {{onCluster}} (a String) ENGINE = {{replacingMergeTree}} ORDER BY a';
  const text = `-- it's a comment; with a semicolon\n${table};\n`;

  it('are applied once, in order, and refused when an applied file has changed or is missing', async () => {
    const { client } = await shared();
    const second = "INSERT INTO {{database}}.t VALUES ('semi;colon'), ('quote''s;')";
    const files = { '0001_first.sql': text, '0002_second.sql': second };
    expect(await migrate(client, target, readMigrations(write(files)))).toEqual(['0001_first', '0002_second']);
    expect(await migrate(client, target, readMigrations(write(files)))).toEqual([]);
    const result = await client.query({ query: 'SELECT a FROM migrated.t ORDER BY a', format: 'JSONEachRow' });
    expect(await result.json()).toEqual([{ a: "quote's;" }, { a: 'semi;colon' }]);

    const changed = readMigrations(write({ ...files, '0001_first.sql': `${text}-- later thought` }));
    await expect(migrate(client, target, changed)).rejects.toThrow('migration 1 (first) was changed');
    const shorter = readMigrations(write({ '0001_first.sql': text }));
    await expect(migrate(client, target, shorter)).rejects.toThrow('migration 2 (second), which has no file');
  });

  it('are applied by one of several processes that start at once', async () => {
    const login = loginOf(await shared());
    const clients = Array.from({ length: 3 }, () => makeClient({ ...login, logger }));
    try {
      const applied = await Promise.all(clients.map((client) => migrate(client, target)));
      expect(applied.map(({ length }) => length).sort()).toEqual([0, 0, readMigrations().length]);
    } finally {
      for (const client of clients) await client.close();
    }
  });

  it('lose no row after an interruption between the exchange of tables and the copy', async () => {
    const { client } = await shared();
    const layout = 'ORDER BY a SETTINGS non_replicated_deduplication_window = 1, index_granularity =';
    const first = `CREATE TABLE {{database}}.\`t\` {{onCluster}} (a String) ENGINE = {{replacingMergeTree}} ${layout} 8192;
      INSERT INTO {{database}}.t VALUES ('old')`;
    const second = `CREATE TABLE IF NOT EXISTS {{database}}.\`t_next\` {{onCluster}} (a String)
        ENGINE = {{replacingMergeTree}} ${layout} 1024;
      EXCHANGE TABLES {{database}}.\`t\` AND {{database}}.\`t_next\` {{onCluster}};
      ALTER TABLE {{database}}.\`t\` {{onCluster}} ATTACH PARTITION ALL FROM {{database}}.\`t_next\`;
      DROP TABLE IF EXISTS {{database}}.\`t_next\` {{onCluster}} SYNC`;
    await migrate(client, target, readMigrations(write({ '0001_first.sql': first })));
    for (const statement of statementsOf(second, target).slice(0, 2)) await client.command({ query: statement });
    await client.command({ query: "INSERT INTO migrated.t VALUES ('new')" });
    await migrate(client, target, readMigrations(write({ '0001_first.sql': first, '0002_second.sql': second })));
    const rows = async (query: string) => (await client.query({ query, format: 'JSONEachRow' })).json();
    expect(await rows('SELECT a FROM migrated.t ORDER BY a')).toEqual([{ a: 'new' }, { a: 'old' }]);
    const tables = "SELECT name FROM system.tables WHERE database = 'migrated' AND name != 'migrations'";
    expect(await rows(`${tables} AND engine_full LIKE '%index_granularity = 1024%'`)).toEqual([{ name: 't' }]);
    expect(await rows(tables)).toEqual([{ name: 't' }]);
  });

  it('must be numbered without gaps', () => {
    expect(() => readMigrations(write({ '0001_a.sql': text, '0003_b.sql': text }))).toThrow('expected migration 2');
    expect(() => readMigrations(write({ '0001_a.sql': text, '0001_b.sql': text }))).toThrow('expected migration 2');
    expect(() => readMigrations(write({ 'first.sql': text }))).toThrow('not named');
  });
});

interface Holder {
  readonly url: string;
  kill(signal: NodeJS.Signals): Promise<void>;
}

/** Another process that opens ClickHouse on the directory. */
async function startHolder(directory: string): Promise<Holder> {
  const script = fileURLToPath(new URL('../../test/support/clickhouse/holder.ts', import.meta.url));
  const child = spawn(process.execPath, [...NODE_FLAGS, script, directory], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const url = await new Promise<string>((resolve) => child.stdout.setEncoding('utf8').once('data', resolve));
  return {
    url: url.trim(),
    kill: async (signal) => {
      child.kill(signal);
      await ended;
    },
  };
}
