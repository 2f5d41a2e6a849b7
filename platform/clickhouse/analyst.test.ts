import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { readConfig } from '../config.ts';
import { silentLogger } from '../runtime/logger.ts';
import { analystOf, analystStatements } from './analyst.ts';
import { type ClickHouse, openClickHouse } from './provider.ts';

// A busy machine with a cold page cache takes seconds to start the engine.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 60_000 });

const PASSWORD = "pa'ss & <word>";

describe('the analyst of the managed child', () => {
  let dataDir: string;
  let clickhouse: ClickHouse;

  beforeAll(async () => {
    dataDir = mkdtempSync(path.join(tmpdir(), 'slotbook-analyst-'));
    clickhouse = await openClickHouse(readConfig({}, { dataDir, analystPassword: PASSWORD }), silentLogger());
    for (const database of ['slotbook_2', 'other']) {
      await clickhouse.client.command({ query: `CREATE DATABASE ${database}` });
      await clickhouse.client.command({
        query: `CREATE TABLE ${database}.kept (n UInt64) ENGINE = MergeTree ORDER BY n`,
      });
    }
  });
  afterAll(async () => {
    await clickhouse?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  /** Answer to a statement sent to the printed address. */
  async function ask(sql: string, password = PASSWORD): Promise<{ readonly ok: boolean; readonly text: string }> {
    const url = `${clickhouse.analystUrl}&password=${encodeURIComponent(password)}`;
    const response = await fetch(url, { method: 'POST', body: sql, headers: { connection: 'close' } });
    return { ok: response.ok, text: (await response.text()).trim() };
  }

  it('reads the tables of the history and of a rebuilt one', async () => {
    expect(await ask('SELECT currentUser(), currentDatabase()')).toEqual({ ok: true, text: 'analyst\tslotbook' });
    expect(await ask('SELECT count() FROM order_action')).toEqual({ ok: true, text: '0' });
    expect(await ask('SELECT count() FROM slotbook_2.kept')).toEqual({ ok: true, text: '0' });
    expect((await ask('SHOW TABLES')).text).toContain('funding_rate');
  });

  it('gets the same of wide numbers however often it asks', async () => {
    const query = 'SELECT greatest(-toInt128(number), toInt128(0)) AS least, sum(least) OVER () FROM numbers(2, 2)';
    const answers: string[] = [];
    for (let asked = 0; asked < 6; asked += 1) answers.push((await ask(query)).text);
    expect(new Set(answers)).toEqual(new Set(['0\t0\n0\t0']));
  });

  it('is sent to the database that is current', async () => {
    const guest = await openClickHouse(readConfig({}, { dataDir }), silentLogger(), 'slotbook_3');
    expect(guest.analystUrl).toBe(clickhouse.analystUrl?.replace('database=slotbook', 'database=slotbook_3'));
    await guest.stop();
  });

  it('needs the password', async () => {
    expect((await ask('SELECT 1', '')).text).toContain('AUTHENTICATION_FAILED');
    expect((await ask('SELECT 1', 'guess')).text).toContain('AUTHENTICATION_FAILED');
  });

  it.each([
    'INSERT INTO migrations (version) VALUES (99)',
    'DROP TABLE order_action',
    'DROP DATABASE slotbook',
    'TRUNCATE TABLE order_action',
    'ALTER TABLE order_action DELETE WHERE 1',
    'OPTIMIZE TABLE order_action',
    'CREATE TABLE mine (n UInt64) ENGINE = MergeTree ORDER BY n',
    'CREATE DATABASE mine',
    'CREATE USER mine',
    'GRANT SELECT ON *.* TO analyst',
    'SELECT * FROM other.kept',
    'SELECT * FROM system.users',
    "SELECT * FROM file('/etc/hostname', 'LineAsString')",
    "SELECT * FROM url('http://127.0.0.1:1/', 'LineAsString')",
    'SYSTEM SHUTDOWN',
    'SYSTEM STOP MERGES slotbook.order_action',
    'SET readonly = 0',
  ])('is refused: %s', async (sql) => {
    const { ok, text } = await ask(sql);
    expect(ok, text).toBe(false);
    expect(text).toMatch(/ACCESS_DENIED|READONLY/);
  });

  it.each(['max_execution_time = 3600', 'max_execution_time = 0', 'max_memory_usage = 0'])(
    'cannot lift its limits: %s',
    async (setting) => {
      expect((await ask(`SELECT 1 SETTINGS ${setting}`)).text).toContain('SETTING_CONSTRAINT_VIOLATION');
    },
  );

  it('has statements for a server that the engine can read', async () => {
    const quant = { user: 'quant', password: PASSWORD, database: 'slotbook' };
    const statements = [...analystStatements(quant, 'main'), ...analystStatements(quant, '')];
    for (const statement of statements) {
      const { ok, text } = await ask(`SELECT formatQuery(${quoted(statement)})`);
      expect(ok, text).toBe(true);
    }
    expect(statements.join()).not.toContain(PASSWORD);
  });
});

describe('the analyst of a server', () => {
  it('needs a password', () => {
    expect(() => analystStatements({ user: 'q', password: '', database: 'd' }, '')).toThrow('analystPassword is empty');
  });
});

describe('analyst settings', () => {
  it('of an empty name mean that there is none', () => {
    expect(analystOf(readConfig({}, { analystUser: '' }))).toBeNull();
  });

  it.each(['default', 'a b', "x'y", '<user>'])('refuse the name %s', (analystUser) => {
    expect(() => analystOf(readConfig({}, { analystUser }))).toThrow('analystUser cannot be');
  });
});

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
