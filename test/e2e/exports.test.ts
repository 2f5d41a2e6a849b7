// Statement exports with real processes: the service and two workers are killed at random while wallets ask for statements.
// Each job finishes once, with the whole file.

import { readdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { createClient } from '@clickhouse/client';
import bs58 from 'bs58';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ExportJobs } from '../../api/history/exports/jobs.ts';
import { openEventLog, readConfig, silentLogger } from '../../platform/index.ts';
import { decodeMessage, encodeMessage, marketKey, TOPICS } from '../../schemas/index.ts';
import { finalTo, parseCsv } from '../support/api/export-files.ts';
import type { ExportPage } from '../support/api/export-stage.ts';
import { fill, NOW } from '../support/api/history-stage.ts';
import { MARKETS } from '../support/api/market-views.ts';
import { seededRandom } from '../support/platform/chance.ts';
import { times } from '../support/platform/times.ts';
import { eventually, type Running, startRoles, temporaryDirectory } from '../support/processes/processes.ts';

const JOBS = times(12, 200);
const JOBS_OF_WALLET = 10;
const WALLETS = Math.ceil(JOBS / JOBS_OF_WALLET);
const KILLS = times(4, 50);
const ROWS = times(2_000, 20_000);
/** Several slices of a file are written between two kills. */
const KILL_AFTER_MAX_MS = 600;
const LEASE_MS = 1_000;
const PATIENCE_MS = times(200_000, 1_800_000);

const bytes32 = (letter: string, number: number): string => `${letter}${number}`.padEnd(32, letter);
const address = (text: string): string => bs58.encode(Buffer.from(text));
const wallet = (number: number): string => address(bytes32('w', number));
const account = (number: number): string => bytes32('a', number);

describe('statement exports', () => {
  const { dir, remove } = temporaryDirectory();
  const settings = { DATA_DIR: dir, EXPORT_LEASE_MS: LEASE_MS, BOOK_SLOTS_BEHIND_MAX: 10_000 };
  const running = new Map<string, Running>();
  const random = seededRandom(Number(process.env.SEED ?? 15));
  const history = (): string => running.get('history')?.endpoints.history ?? '';

  const start = async (name: string) => {
    running.set(name, await startRoles([name.startsWith('exports') ? 'exports' : name], settings));
  };

  beforeAll(async () => {
    await start('clickhouse');
    await storeRows(running.get('clickhouse')?.endpoints.clickhouse ?? '');
    await withLog(dir, async (log) => {
      await log.ensureTopics([TOPICS.marketViews, TOPICS.finality]);
      const records = MARKETS.map((view) => ({ key: marketKey(view), value: encodeMessage('MarketView', view) }));
      await log.append(TOPICS.marketViews, records);
      await log.append(TOPICS.finality, [finalTo(NOW)]);
    });
    await Promise.all(['history', 'exports 1', 'exports 2'].map(start));
  });
  afterAll(async () => {
    for (const [name, one] of running) if (name !== 'clickhouse') await one.stop().catch(() => {});
    await running.get('clickhouse')?.stop();
    remove();
  });

  it(
    `are built once each, while the service and the workers are killed ${KILLS} times`,
    async () => {
      const asking = (async () => {
        const ids: string[] = [];
        for (let job = 0; job < JOBS; job++) ids.push(await ask(history, job % WALLETS));
        return ids;
      })();
      const names = ['exports 1', 'exports 2', 'exports 1', 'exports 2', 'history'];
      for (let kill = 0; kill < KILLS; kill++) {
        await sleep(random() * KILL_AFTER_MAX_MS);
        const name = names[Math.floor(random() * names.length)] ?? 'history';
        await running.get(name)?.kill9();
        await start(name);
      }
      const ids = await asking;
      const found = await eventually(
        'every job is finished',
        async () => {
          const lists = await Promise.all(Array.from({ length: WALLETS }, (_, number) => list(history(), number)));
          const all = lists.flatMap(({ records }) => records);
          return all.every(({ status }) => status === 'ready') && all;
        },
        PATIENCE_MS,
      );
      // A request whose answer was lost was repeated, and is a job too.
      for (const id of ids) expect(found.map(({ requestId }) => requestId)).toContain(id);
      await expectWholeFiles(found);
      await expectOneOutcomeEach(
        dir,
        found.map(({ requestId }) => requestId),
      );
    },
    PATIENCE_MS + 60_000,
  );

  it('cannot be downloaded by a changed or an old URL', async () => {
    const { records } = await list(history(), 0);
    const url = new URL(records[0]?.downloadUrl ?? '');
    const status = async (change: (url: URL) => void) => {
      const changed = new URL(url);
      change(changed);
      return (await fetch(changed)).status;
    };
    expect(await status(() => {})).toBe(200);
    expect(await status(({ searchParams }) => searchParams.set('expires', '9999999999'))).toBe(403);
    expect(await status(({ searchParams }) => searchParams.set('signature', '0'.repeat(64)))).toBe(403);
    const other = new URL(records[1]?.downloadUrl ?? '').pathname;
    expect(
      await status((changed) => {
        changed.pathname = other;
      }),
    ).toBe(403);
    expect(
      await status((changed) => {
        changed.pathname = '/exports/files/..%2furl.key';
      }),
    ).toBe(403);
  });
});

/** Fills and an owner of every account. */
async function storeRows(url: string): Promise<void> {
  const client = createClient({ url, database: 'slotbook' });
  const insert = (table: string, values: readonly object[]) => client.insert({ table, values, format: 'JSONEachRow' });
  const numbers = Array.from({ length: WALLETS }, (_, number) => number);
  const head = { event_index: 0, tx_index: 0, slot: '1' };
  await insert(
    'new_user',
    numbers.map((number) => ({
      ...head,
      signature: String(number).padStart(64, 'n'),
      ts: NOW - 90_000,
      user_authority: bytes32('w', number),
      user: account(number),
      sub_account_id: 0,
    })),
  );
  for (const number of numbers) {
    const fills = Array.from({ length: ROWS }, (_, at) => fill({ ts: NOW - 80_000 + at, taker: account(number) }));
    await insert('order_action', fills);
  }
  await insert('projection', [{ name: 'events', built_ts: NOW }]);
  await client.close();
}

async function withLog<T>(dir: string, use: (log: Awaited<ReturnType<typeof openEventLog>>) => Promise<T>): Promise<T> {
  const log = await openEventLog(readConfig({}, { dataDir: dir }), silentLogger());
  return use(log).finally(() => log.close());
}

/** Asks until the service answers. */
function ask(origin: () => string, number: number): Promise<string> {
  const body = { fileType: 'trades', from: NOW - 90_000, to: NOW, userPublicKeys: [address(account(number))] };
  return eventually(
    'the request is accepted',
    async () => {
      const answer = await fetch(`${origin()}/authority/${wallet(number)}/exports`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', connection: 'close' },
        body: JSON.stringify(body),
      });
      const { requestId, ...rest } = (await answer.json()) as { requestId?: string };
      if (requestId === undefined) throw new Error(JSON.stringify(rest));
      return requestId;
    },
    PATIENCE_MS,
  );
}

async function list(origin: string, number: number): Promise<ExportPage> {
  return (await (await fetch(`${origin}/authority/${wallet(number)}/exports`)).json()) as ExportPage;
}

async function expectWholeFiles(records: ExportPage['records']): Promise<void> {
  for (const { downloadUrl, recordCount, userPublicKeys } of records) {
    const answer = await fetch(downloadUrl ?? '');
    const rows = parseCsv(gunzipSync(Buffer.from(await answer.arrayBuffer())).toString());
    expect([rows.length, recordCount]).toEqual([ROWS, ROWS]);
    const [user] = userPublicKeys as readonly string[];
    expect(rows.every((row, at) => row.user === user && Number(row.ts) === NOW - 80_000 + at)).toBe(true);
  }
}

/** In the log each job has one outcome that counts, and its file is there. A repeated request makes a job of its own. */
async function expectOneOutcomeEach(dir: string, ids: readonly string[]): Promise<void> {
  const files = readdirSync(path.join(dir, 'exports'));
  const jobs = new ExportJobs();
  await withLog(dir, async (log) => {
    for (const { value, offset } of await log.read(TOPICS.exports, 0, 0n, 100_000)) {
      const ends = new Map([...jobs.all()].map(({ requestId, end }) => [requestId, end]));
      jobs.apply(decodeMessage(value), offset);
      for (const [requestId, end] of ends) if (end) expect(jobs.get(requestId)?.end).toEqual(end);
    }
  });
  for (const id of ids) expect(files).toContain(jobs.get(id)?.end?.file);
  expect(jobs.waitingCount).toBe(0);
}
