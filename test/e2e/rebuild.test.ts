// A rebuild of the history while it is served and written. No request fails, no answer differs from those before, and the
// tables are equal. Also after a kill in the middle, and back again.

import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openEventLog, readConfig, silentLogger } from '../../platform/index.ts';
import {
  ACCOUNT_DAY_TABLES,
  type ChainEvent,
  cleanDaysSql,
  DAY_S,
  encodeEvent,
  encodeMessage,
  eventKey,
  type SlotRetraction,
  TOPICS,
} from '../../schemas/index.ts';
import { bundled } from '../support/platform/bundled.ts';
import { NODE_FLAGS } from '../support/platform/children.ts';
import {
  type Cluster,
  eventually,
  plainRequest,
  type Running,
  type Settings,
  startCluster,
  startRoles,
  temporaryDirectory,
} from '../support/processes/processes.ts';
import { fillEvent } from '../support/processors/history/events.ts';
import {
  type Asking,
  answered,
  growing,
  keepAsking,
  paging,
  type Reader,
  unchanging,
} from './harness/checks/keep-asking.ts';
import { daysReduced } from './harness/month/days.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Enough that a rebuild takes seconds and can be killed in the middle. */
const BACKLOG = 12_000;
const APPEND_RECORDS = 4_000;
/** Of the backlog, the oldest that readers page through again and again. */
const OLD_FILLS = 2_401;
const EARLIER_FILLS = 600;
const EARLIER_DAYS = 3;
/** Slot of twenty fills of the backlog that the chain drops, outside the stretch that readers page through. */
const DROPPED_SLOT = 300_000_500;
const STARTED_TS = Math.floor(Date.now() / 1_000);
/** Many processes on few cores, with a backlog to go through first. */
const SLOW_MS = 240_000;
/** Longer than records on their way take on a loaded machine. */
const QUIET_MS = 6_000;
/** Exit code that a rebuild killed by us has. */
const KILLED = null;
const EXIT_USAGE = 2;

const { dir, remove } = temporaryDirectory();
let pipeline: Running;
let cluster: Cluster;
let settings: Settings;
let clickhouse = '';
let history = '';

beforeAll(async () => {
  const log = await openEventLog(readConfig({}, { dataDir: dir }), silentLogger());
  await log.ensureTopics([TOPICS.events, TOPICS.retractions]);
  for (let first = 0; first < BACKLOG; first += APPEND_RECORDS) {
    const events = Array.from({ length: APPEND_RECORDS }, (_, index) => recentFill(first + index));
    await log.append(
      TOPICS.events,
      events.map((event) => ({ key: eventKey(event), value: encodeEvent(event) })),
    );
  }
  const earlier = Array.from({ length: EARLIER_FILLS }, (_, n) => earlierFill(n));
  await log.append(
    TOPICS.events,
    earlier.map((event) => ({ key: eventKey(event), value: encodeEvent(event) })),
  );
  await log.append(TOPICS.retractions, [
    { key: String(DROPPED_SLOT), value: encodeMessage('SlotRetraction', dropped()) },
  ]);
  await log.close();
  cluster = await startCluster({ seed: 11, speed: 1 });
  settings = {
    DATA_DIR: dir,
    RPC_URL: cluster.rpcUrl,
    RPC_WS_URL: cluster.wsUrl,
    VAULT_PROGRAM: cluster.vaultProgram,
    SAMPLE_SLOTS: 5,
  };
  pipeline = await startRoles(['clickhouse', 'ingest', 'book', 'samples', 'candles', 'sink', 'history'], settings);
  clickhouse = pipeline.endpoints.clickhouse ?? '';
  history = pipeline.endpoints.history ?? '';
});
afterAll(async () => {
  await pipeline?.stop();
  await cluster?.stop();
  remove();
});

/** Of the minutes before the cluster's first block: candles are without gaps, and months of them would take their time. */
function recentFill(n: number): ChainEvent {
  const event = fillEvent(n);
  return { ...event, data: { ...event.data, ts: BigInt(STARTED_TS - Math.floor((BACKLOG - n) / 100)) } };
}

/** The transactions of a slot of the backlog. */
function dropped(): SlotRetraction {
  const events = Array.from({ length: BACKLOG }, (_, n) => recentFill(n)).filter(({ slot }) => slot === DROPPED_SLOT);
  return { slot: DROPPED_SLOT, signatures: events.map(({ signature }) => signature) };
}

/** Rows of the dropped slot and of the one after it. */
const rowsAround = async (database: string) =>
  Promise.all(
    [DROPPED_SLOT, DROPPED_SLOT + 1].map(async (slot) =>
      Number((await sql<string>(`SELECT count() FROM ${database}.order_action FINAL WHERE slot = ${slot}`))[0]),
    ),
  );

/** Of the days before, whose sums are reduced; in a spot market, which has no candles. */
function earlierFill(n: number): ChainEvent {
  const event = fillEvent(BACKLOG + n);
  const ts = BigInt(STARTED_TS - DAY_S - Math.floor((n * EARLIER_DAYS * DAY_S) / EARLIER_FILLS));
  return { ...event, data: { ...event.data, market_type: 'spot', ts } };
}

async function sql<T>(query: string): Promise<readonly T[]> {
  const { url, headers } = plainRequest(clickhouse);
  const response = await fetch(`${url}/?default_format=JSONCompactColumns`, { method: 'POST', headers, body: query });
  if (!response.ok) throw new Error(await response.text());
  const [column = []] = (await response.json()) as T[][];
  return column;
}

/** Rows and their hash, of each table. */
async function digests(database: string): Promise<Record<string, string>> {
  const tables = await sql<string>(
    `SELECT name FROM system.tables WHERE database = '${database}' AND engine != 'MaterializedView'
     AND name NOT IN ('migrations', 'projection', '${ACCOUNT_DAY_TABLES.marks}') ORDER BY name`,
  );
  // How often a day was reduced is no part of its sums.
  const columns = (table: string) => (table.startsWith('account_day') ? '* EXCEPT version' : '*');
  const digest = (table: string) =>
    `SELECT concat(toString(count()), ' rows ', toString(groupBitXor(cityHash64(toString(tuple(${columns(table)}))))))
     FROM ${database}.\`${table}\` FINAL`;
  const found = await Promise.all(tables.map(async (table) => [table, (await sql<string>(digest(table)))[0] ?? '']));
  return Object.fromEntries(found) as Record<string, string>;
}

function startRebuild(...flags: string[]): { child: ChildProcess; lines: string[]; exited: Promise<number | null> } {
  const environment = Object.entries(settings).map(([name, value]) => [`SLOTBOOK_${name}`, String(value)]);
  const child = spawn(process.execPath, [...NODE_FLAGS, bundled('bin/cli.ts'), 'rebuild', ...flags], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, ...Object.fromEntries(environment), SLOTBOOK_LOG_LEVEL: 'warn' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  if (child.stdout) createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  return { child, lines, exited: new Promise((resolve) => child.once('exit', resolve)) };
}

/** Fills of SOL-PERP in the backlog's oldest stretch, newest first, as every reader must find them all the time. */
function oldFills() {
  return Array.from({ length: OLD_FILLS }, (_, n) => recentFill(n))
    .filter(({ data }) => data.market_index === 0)
    .map(({ data }) => ({ ts: Number(data.ts), id: Number(data.fill_record_id) }))
    .sort((a, b) => b.ts - a.ts || b.id - a.id)
    .map(({ id }) => String(id));
}

/** Several readers at once: of what is over, of what goes on, of sums. */
function readers(): readonly Reader[] {
  const until = STARTED_TS - Math.floor((BACKLOG - OLD_FILLS + 1) / 100);
  const past = `startTs=${STARTED_TS - BACKLOG}&endTs=${until}`;
  const day = new Date(STARTED_TS * 1000).toISOString().slice(0, 10).split('-').map(Number).join('/');
  return [
    paging('pages', `/market/SOL-PERP/trades?limit=50&${past}`, 'fillRecordId', oldFills()),
    unchanging('past', [
      `/market/BTC-PERP/trades?limit=50&${past}`,
      `/market/BTC-PERP/candles/1?startTs=${until - 120}&limit=50`,
      `/amm/position?marketName=SOL-PERP&start=${until - 900}&end=${until}`,
      `/market/ETH-PERP/fundingRates?${past}`,
    ]),
    growing('growing', ['/market/SOL-PERP/trades?limit=1', '/market/ETH-PERP/candles/1?limit=1', '/stats/markets']),
    answered('sums', [
      '/stats/markets/volume/24h',
      '/stats/leaderboard?limit=5',
      '/stats/liquidations',
      '/stats/fundingRates',
      `/market/SOL-PERP/fundingRates/${day}?format=csv`,
      '/freshness',
    ]),
  ];
}

/** Rows and totals of a server that has just begun: a running one may have totals of the minute before. */
async function freshTotals(): Promise<string> {
  const server = await startRoles(['history'], settings);
  try {
    const answer = await fetch(`${server.endpoints.history}/stats/bankruptcies`);
    return `${answer.status} ${await answer.text()}`;
  } finally {
    await server.stop();
  }
}

/** Lists, series and archives as they are once nothing is added. */
async function settledAnswers(): Promise<Record<string, string>> {
  const [year, month, day] = new Date(STARTED_TS * 1000).toISOString().slice(0, 10).split('-').map(Number);
  const markets = ['SOL-PERP', 'BTC-PERP', 'ETH-PERP', 'HYPE-PERP'];
  const paths = markets.flatMap((symbol) => [
    `/market/${symbol}/trades?limit=50`,
    `/market/${symbol}/trades/${year}/${month}/${day}?format=csv`,
    `/market/${symbol}/fundingRates?limit=750`,
    ...['1', '15', 'D', 'M'].map((resolution) => `/market/${symbol}/candles/${resolution}?limit=1000`),
    `/amm/bidAskPrice?marketName=${symbol}&start=${STARTED_TS - 900}&end=${STARTED_TS + 900}`,
  ]);
  const answers = await Promise.all(
    [...paths, '/market/USDT/deposits'].map(async (path): Promise<[string, string]> => {
      const answer = await fetch(history + path);
      return [
        path,
        `${answer.status} ${createHash('sha256')
          .update(await answer.text())
          .digest('hex')}`,
      ];
    }),
  );
  return Object.fromEntries(answers);
}

async function finalBefore(): Promise<number | null> {
  const answer = await fetch(`${history}/market/SOL-PERP/trades?limit=1`);
  return ((await answer.json()) as { meta: { finalBefore: number | null } }).meta.finalBefore;
}

const isGood = (answer: string): boolean => answer.startsWith('200 ');

/** All of `Projection`. */
const PARTS = JSON.stringify(['candles', 'events', 'notificationMarks', 'samples', 'vaults']);
const builtParts = (database: string) => sql<string>(`SELECT DISTINCT name FROM ${database}.projection ORDER BY name`);

describe('rebuild', () => {
  let asking: Asking;
  /** Nothing failed, and every reader got on since it was last looked at. */
  const expectAnswers = async (before: Readonly<Record<string, number>>) => {
    const rounds = await eventually('a round of every reader', () => {
      const now = asking.rounds();
      return readers().every(({ name }) => (now[name] ?? 0) > (before[name] ?? 0)) && now;
    });
    expect(asking.faults, pipeline.errors()).toEqual([]);
    return rounds;
  };
  let rounds: Readonly<Record<string, number>> = {};
  afterAll(() => asking?.stop());

  it('can be killed in the middle, and goes on where it was', async () => {
    await eventually('all parts built', async () => JSON.stringify(await builtParts('slotbook')) === PARTS, SLOW_MS);
    expect(await daysReduced(clickhouse)).toBeGreaterThanOrEqual(EARLIER_DAYS);
    await eventually('all markets', async () => Object.values(await settledAnswers()).every(isGood), SLOW_MS);
    // From then on the answers of `unchanging` are for final ranges.
    await eventually('a final time', async () => (await finalBefore()) !== null, SLOW_MS);
    asking = keepAsking(history, readers());
    const first = startRebuild();
    await eventually('progress', () => first.lines.some((line) => line.includes('records left')));
    await eventually(
      'rows',
      async () => Number((await sql<string>('SELECT count() FROM slotbook_2.order_action'))[0]) > 0,
    );
    first.child.kill('SIGKILL');
    expect(await first.exited).toBe(KILLED);
    const second = startRebuild();
    expect(await second.exited, second.lines.join('\n')).toBe(0);
    expect(second.lines).toContain('slotbook_2 is the history now');
    expect(await sql(cleanDaysSql('slotbook_2.'))).toEqual(await sql(cleanDaysSql('slotbook.')));
  });

  it('takes the place of the old database without a failed request', async () => {
    const rows = async () => Number((await sql<string>('SELECT count() FROM slotbook_2.order_action'))[0]);
    const before = await rows();
    await eventually('live rows in the new database', async () => (await rows()) > before);
    rounds = await expectAnswers(rounds);
  });

  it('gives tables equal to the old ones once both hold the whole log, and drops the old one on request', async () => {
    await cluster.rpc('localnet_pause');
    // Records on their way arrive; only the current database gets it.
    for (let before = ''; ; ) {
      const now = JSON.stringify(await digests('slotbook_2'));
      if (now === before) break;
      before = now;
      await sleep(QUIET_MS);
    }
    const settled = await settledAnswers();
    expect(Object.values(settled).filter((answer) => !isGood(answer))).toEqual([]);
    const totals = await freshTotals();
    expect(totals).toMatch(/^200 .*"totalAmount"/);
    rounds = await expectAnswers(rounds);
    const back = startRebuild('--database', 'slotbook');
    expect(await back.exited, back.lines.join('\n')).toBe(0);
    // The second database got its rows from the sink until just now; the first one from its own offset on.
    const [rebuilt, original] = [await digests('slotbook_2'), await digests('slotbook')];
    for (const table of ['order_action', 'account_action', 'candle', 'market_sample', 'account_day_fills']) {
      expect(original[table], table).not.toMatch(/^0 rows/);
    }
    expect(rebuilt).toEqual(original);
    for (const database of ['slotbook', 'slotbook_2']) expect(await rowsAround(database)).toEqual([0, 20]);
    expect(await settledAnswers()).toEqual(settled);
    expect(await freshTotals()).toBe(totals);
    rounds = await expectAnswers(rounds);
    const again = startRebuild('--database', 'slotbook_2', '--drop-old');
    expect(await again.exited, again.lines.join('\n')).toBe(0);
    expect(await digests('slotbook_2')).toEqual(original);
    expect(await sql("SELECT toUInt32(count()) FROM system.databases WHERE name = 'slotbook'")).toEqual([0]);
    expect(await settledAnswers()).toEqual(settled);
    await expectAnswers(rounds);
  });

  it('refuses a name that analysts could not read', async () => {
    const refused = startRebuild('--database', 'other');
    expect(await refused.exited).toBe(EXIT_USAGE);
  });
});
