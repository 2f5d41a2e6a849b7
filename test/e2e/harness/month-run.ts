// A seeded month of exchange life through real processes: a chain on a fast clock that ends now, watched from its first
// block until the history has stored all of it.

import { ROLE_NAMES } from '../../../bin/roles.ts';
import { storedRows } from './history-truth.ts';
import { openLogAt, unread } from './month-log.ts';
import { startVenues } from './month-venues.ts';
import {
  type Cluster,
  eventually,
  type Running,
  type Settings,
  startCluster,
  startRoles,
  temporaryDirectory,
} from './processes.ts';

/** 33 days: more than the 31 of rolling lists, and a month's end for certain. */
const MONTH_SECONDS = 33 * 86_400;
const MONTH_SLOTS = 720;
/** Slots made before it is looked whether the readers of the chain keep up. */
const STRIDE_SLOTS = 40;
const CATCH_UP_MS = 120_000;

/** Processes of their own, in the order of their start. Roles that do not exist (yet) are left out, and said so. */
const PROCESSES = {
  clickhouse: ['clickhouse'],
  ingest: ['ingest'],
  book: ['book'],
  candles: ['samples', 'candles'],
  sink: ['sink'],
  history: ['history'],
} as const;
export type MonthProcess = keyof typeof PROCESSES;

export interface MonthOptions {
  readonly seed?: number;
  readonly slots?: number;
  readonly accounts?: number;
  readonly activity?: number;
  readonly ordersPerMarket?: number;
  /** Called between two stretches of slots, with how many are made. */
  readonly during?: (month: Month, slots: number) => Promise<void>;
}

export interface Month {
  readonly cluster: Cluster;
  readonly dataDir: string;
  readonly running: Map<MonthProcess, Running>;
  /** Roles that were asked for and are not there. */
  readonly missingRoles: readonly string[];
  readonly settings: () => Settings;
  url(endpoint: string): string;
  restart(name: MonthProcess): Promise<void>;
  stop(): Promise<void>;
}

/** Starts everything, lets the month pass and waits until all of it is stored. */
export async function liveMonth(options: MonthOptions = {}): Promise<Month> {
  const slots = options.slots ?? MONTH_SLOTS;
  const month = await startMonth(options, slots);
  try {
    for (let made = 0; made < slots; made += STRIDE_SLOTS) {
      await month.cluster.rpc('localnet_step', [{ slots: Math.min(STRIDE_SLOTS, slots - made) }]);
      await options.during?.(month, made + STRIDE_SLOTS);
    }
    await caughtUp(month);
    return month;
  } catch (error) {
    await month.stop().catch(() => {});
    throw error;
  }
}

async function startMonth(options: MonthOptions, slots: number): Promise<Month> {
  const { dir, remove } = temporaryDirectory();
  const venues = await startVenues(dir);
  const missingRoles: string[] = [];
  const running = new Map<MonthProcess, Running>();
  const cluster = await startCluster({
    seed: options.seed ?? 7,
    speed: 0,
    'slot-seconds': MONTH_SECONDS / slots,
    'slot-burst': 24,
    'genesis-time': Math.floor(Date.now() / 1000) - MONTH_SECONDS,
    accounts: options.accounts ?? 50,
    activity: options.activity ?? 0.6,
    'orders-per-market': options.ordersPerMarket ?? 24,
    rarities: true,
    announce: true,
    'keep-ledger': true,
  });
  let settings: Settings = {
    DATA_DIR: dir,
    RPC_URL: cluster.rpcUrl,
    RPC_WS_URL: cluster.wsUrl,
    VAULT_PROGRAM: cluster.vaultProgram,
    SHADOW_CHECK_MS: 0,
    SAMPLE_SLOTS: 2,
    ...venues.settings,
  };
  const start = async (name: MonthProcess): Promise<void> => {
    const there = PROCESSES[name].filter((role) => (ROLE_NAMES as readonly string[]).includes(role));
    if (there.length > 0) running.set(name, await startRoles(there, settings));
  };
  const stop = async (): Promise<void> => {
    for (const role of [...running.values()].reverse()) await role.stop();
    await cluster.stop();
    await venues.stop();
    remove();
  };
  try {
    for (const role of Object.values(PROCESSES).flat()) {
      if (!(ROLE_NAMES as readonly string[]).includes(role)) missingRoles.push(role);
    }
    await start('clickhouse');
    settings = { ...settings, CLICKHOUSE_URL: running.get('clickhouse')?.endpoints.clickhouse ?? '' };
    for (const name of Object.keys(PROCESSES) as MonthProcess[]) if (name !== 'clickhouse') await start(name);
  } catch (error) {
    await stop().catch(() => {});
    throw error;
  }
  return {
    cluster,
    dataDir: dir,
    running,
    missingRoles,
    settings: () => settings,
    url: (endpoint) => {
      const found = [...running.values()].map(({ endpoints }) => endpoints[endpoint]).find((url) => url !== undefined);
      if (found === undefined) throw new Error(`no endpoint ${endpoint}`);
      return found;
    },
    restart: start,
    stop,
  };
}

/** How many events the chain has emitted. */
export async function emitted(month: Month): Promise<number> {
  const counts = await month.cluster.rpc<Record<string, number>>('localnet_eventCounts');
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** Waits until every event is stored and everything between the chain and ClickHouse has read all there is. */
export async function caughtUp(month: Month): Promise<void> {
  const total = await emitted(month);
  const url = month.url('clickhouse');
  await eventually('every event stored', async () => (await storedRows(url)) >= total, CATCH_UP_MS);
  const groups = month.running.has('candles') ? ['samples', 'candles', 'history-sink'] : ['history-sink'];
  const log = await openLogAt(month.dataDir);
  try {
    let behind: readonly string[] = [];
    await eventually(
      'every reader at the end of the log',
      async () => {
        behind = await unread(log, groups);
        return behind.length === 0;
      },
      CATCH_UP_MS,
    ).catch((error: unknown) => {
      throw new Error(`not read: ${behind.join(', ')}`, { cause: error });
    });
  } finally {
    await log.close();
  }
}
