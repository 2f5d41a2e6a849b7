// A seeded month of exchange life through real processes. The chain has a fast clock that ends at the present; the run ends when
// the history has stored all of it.

import type { TruthMarket } from '../../../../localnet/index.ts';
import { openLogAt } from '../../../support/log/open-at.ts';
import {
  type Cluster,
  eventually,
  type Running,
  type Settings,
  startCluster,
  startRoles,
  temporaryDirectory,
} from '../../../support/processes/processes.ts';
import { storedRows } from '../naive/history-truth.ts';
import { unread } from './log.ts';
import { FUNDING_MIN } from './notifications.ts';
import { startVenues } from './venues.ts';

/** 33 days: more than the 31 of rolling lists, and always across a month's end. */
const MONTH_SECONDS = 33 * 86_400;
/** Thirty bursts, and the slot at which the next one begins: the present. */
const MONTH_SLOTS = 481;
/** Slots between two calls of `during`. */
const STRIDE_SLOTS = 40;
const BURST_SLOTS = 16;
const CATCH_UP_MS = 120_000;

/** Of one process: nothing is killed here, and each process takes its own start and compiled code. */
const ROLES = [
  'clickhouse',
  'ingest',
  'book',
  'samples',
  'candles',
  'coverage',
  'notifications',
  'sink',
  'orderbook',
  'history',
];
/** Groups that read the log. */
const READERS = ['samples', 'candles', 'coverage', 'notifications', 'history-sink'];

export interface MonthOptions {
  readonly seed?: number;
  readonly slots?: number;
  readonly accounts?: number;
  readonly activity?: number;
  readonly ordersPerMarket?: number;
  /** Called between two steps, with the number of slots so far. */
  readonly during?: (month: Month, slots: number) => Promise<void>;
}

export interface Month {
  readonly cluster: Cluster;
  readonly dataDir: string;
  readonly settings: () => Settings;
  url(endpoint: string): string;
  stop(): Promise<void>;
}

/** Starts everything, runs the month and waits until all of it is stored. */
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
  let roles: Running | undefined;
  const cluster = await startCluster({
    seed: options.seed ?? 7,
    // Every record of the month is compared: execution cuts none from its log.
    profile: 'calm',
    speed: 0,
    'slot-seconds': MONTH_SECONDS / (slots - 1),
    'slot-burst': BURST_SLOTS,
    'genesis-time': Math.floor(Date.now() / 1000) - MONTH_SECONDS,
    accounts: options.accounts ?? 50,
    activity: options.activity ?? 0.6,
    'orders-per-market': options.ordersPerMarket ?? 24,
    rarities: true,
    announce: true,
    'keep-ledger': true,
  });
  const settings: Settings = {
    DATA_DIR: dir,
    RPC_URL: cluster.rpcUrl,
    RPC_WS_URL: cluster.wsUrl,
    VAULT_PROGRAM: cluster.vaultProgram,
    SHADOW_CHECK_MS: 0,
    SAMPLE_SLOTS: 2,
    NOTIFY_FUNDING_MIN: FUNDING_MIN,
    ...venues.settings,
  };
  const stop = async (): Promise<void> => {
    await roles?.stop();
    await cluster.stop();
    await venues.stop();
    remove();
  };
  try {
    roles = await startRoles(ROLES, settings);
  } catch (error) {
    await stop().catch(() => {});
    throw error;
  }
  const { endpoints } = roles;
  return {
    cluster,
    dataDir: dir,
    settings: () => settings,
    url: (endpoint) => {
      const found = endpoints[endpoint];
      if (found === undefined) throw new Error(`no endpoint ${endpoint}`);
      return found;
    },
    stop,
  };
}

/** Number of events that the chain has emitted. */
async function emitted(month: Month): Promise<number> {
  const counts = await month.cluster.rpc<Record<string, number>>('localnet_eventCounts');
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** Waits until every event that the chain has emitted is stored. */
export async function everythingStored(month: Month): Promise<void> {
  const total = await emitted(month);
  const url = month.url('clickhouse');
  await eventually('every event stored', async () => (await storedRows(url)) >= total, CATCH_UP_MS);
}

/** Waits until every book has the newest confirmed slot: then the newest descriptions of markets are published. */
async function booksAtEnd({ cluster, url }: Month): Promise<void> {
  const slot = await cluster.rpc<number>('getSlot', [{ commitment: 'confirmed' }]);
  for (const { symbol, marketType, marketIndex } of await cluster.rpc<TruthMarket[]>('localnet_markets')) {
    const path = `/l2?marketType=${marketType}&marketIndex=${marketIndex}&depth=1`;
    const bookSlot = async () => ((await (await fetch(url('orderbook') + path)).json()) as { slot: number }).slot;
    await eventually(`book of ${symbol} at slot ${slot}`, async () => (await bookSlot()) >= slot, CATCH_UP_MS);
  }
}

/** Waits until every event is stored, and every group and book is at the end of the log. */
async function caughtUp(month: Month): Promise<void> {
  await everythingStored(month);
  await booksAtEnd(month);
  const log = await openLogAt(month.dataDir);
  try {
    let behind: readonly string[] = [];
    await eventually(
      'every reader at the end of the log',
      async () => {
        behind = await unread(log, READERS);
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
