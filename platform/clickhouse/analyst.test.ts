import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ALLOWED, REFUSED } from '../../test/support/clickhouse/analyst-attempts.ts';
import { readConfig } from '../config.ts';
import { silentLogger } from '../runtime/logger.ts';
import { analystOf, analystStatements } from './analyst.ts';
import { landlockVersion } from './landlock.ts';
import { type ClickHouse, openClickHouse } from './provider.ts';

// A busy machine with a cold page cache takes seconds to start the engine.
const PASSWORD = "pa'ss & <word>";
const SECRET = 'nobody may read this';

describe('the analyst of the managed child', () => {
  let dataDir: string;
  let clickhouse: ClickHouse;
  let secretFile: string;

  beforeAll(async () => {
    dataDir = mkdtempSync(path.join(tmpdir(), 'slotbook-analyst-'));
    secretFile = path.join(dataDir, 'secret');
    writeFileSync(secretFile, SECRET);
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

  /** Sends a statement to the printed address. */
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

  it('gets the same wide numbers on every repetition', async () => {
    const query = 'SELECT greatest(-toInt128(number), toInt128(0)) AS least, sum(least) OVER () FROM numbers(2, 2)';
    const answers: string[] = [];
    for (let asked = 0; asked < 6; asked += 1) answers.push((await ask(query)).text);
    expect(new Set(answers)).toEqual(new Set(['0\t0\n0\t0']));
  });

  it('reads the current database', async () => {
    const guest = await openClickHouse(readConfig({}, { dataDir }), silentLogger(), 'slotbook_3');
    expect(guest.analystUrl).toBe(clickhouse.analystUrl?.replace('database=slotbook', 'database=slotbook_3'));
    await guest.stop();
  });

  it('needs the password', async () => {
    expect((await ask('SELECT 1', '')).text).toContain('AUTHENTICATION_FAILED');
    expect((await ask('SELECT 1', 'guess')).text).toContain('AUTHENTICATION_FAILED');
  });

  it.each(ALLOWED)('may: %s', async (sql) => {
    const { ok, text } = await ask(sql);
    expect(ok, text).toBe(true);
  });

  for (const [what, { by, tries }] of Object.entries(REFUSED)) {
    it.each(tries)(`may not ${what}: %s`, async (sql) => {
      const { ok, text } = await ask(sql.replace('{file}', secretFile).replace('{pid}', String(process.pid)));
      expect(ok, text).toBe(false);
      expect(text).not.toContain(SECRET);
      expect(text).toMatch(new RegExp(by.join('|')));
    });
  }

  it.runIf(landlockVersion() > 0)("finds none of our settings in the engine's environment", async () => {
    const { ok, text } = await ask("SELECT file('/proc/self/environ')");
    expect(ok, text).toBe(true);
    expect(text).toContain('PATH=');
    expect(text).not.toContain('VITEST');
  });

  it('is tested with more than a hundred statements', () => {
    const tries = Object.values(REFUSED).flatMap((group) => group.tries);
    expect(new Set(tries).size).toBe(tries.length);
    expect(tries.length).toBeGreaterThan(100);
  });

  it('gets valid SQL for a server', async () => {
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
  it('without a name create no analyst', () => {
    expect(analystOf(readConfig({}, { analystUser: '' }))).toBeNull();
  });

  it.each(['default', 'a b', "x'y", '<user>'])('refuse the name %s', (analystUser) => {
    expect(() => analystOf(readConfig({}, { analystUser }))).toThrow('analystUser cannot be');
  });
});

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
