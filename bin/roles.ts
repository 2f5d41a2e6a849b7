// The composition root: all roles and the rooms that they come from.

import {
  type ClickHouse,
  type Config,
  openClickHouse,
  type RoleContext,
  type RoleEntry,
  type RunningRole,
  readCurrent,
} from '../platform/index.ts';

/** Roles in the order of their start: a later one reads the output of an earlier one. */
export const ROLE_NAMES = [
  'clickhouse',
  'ingest',
  'book',
  'trades',
  'fillQuality',
  'rankings',
  'samples',
  'candles',
  'coverage',
  'notifications',
  'fees',
  'sink',
  'push',
  'orderbook',
  'history',
  'page',
  'exports',
] as const;
export type RoleName = (typeof ROLE_NAMES)[number];

export const ROLE_HELP: Record<RoleName, string> = {
  clickhouse: 'hosts the managed ClickHouse child for other processes',
  ingest:
    'watches the chain and writes events, order states and positions to the log; one process writes, others stand by',
  book: 'builds the books from the log and publishes sequenced changes',
  trades: 'publishes fills for the trades channel',
  fillQuality: 'publishes the recent distance of taker fills from the oracle',
  rankings: 'ranks the claimable P&L of every market',
  samples: 'samples every market by block time',
  candles: 'builds candles and 24-hour statistics of every market',
  coverage: 'proves by record numbers what the log has, and names what it lacks',
  notifications: 'writes notifications of every wallet: fills, liquidations, account health, markets',
  fees: 'polls the provider for priority fees',
  sink: 'stores events in ClickHouse',
  push: 'sends notifications to the devices of their wallets',
  orderbook: 'order-book REST and the WebSocket gateway',
  history: 'history REST',
  page: 'the page: books, history and status for people',
  exports: 'builds the statement files that wallets ask for; any number of processes',
};

/** Lease names of the roles that one process at a time writes for. */
const LEASES: Partial<Record<RoleName, (config: Config) => string>> = {
  ...Object.fromEntries(
    [
      ...(['ingest', 'book', 'trades', 'fillQuality', 'rankings', 'samples'] as const),
      ...(['candles', 'coverage', 'notifications', 'fees', 'push'] as const),
    ].map((name) => [name, () => name]),
  ),
  sink: ({ clickhouseDatabase }) => `sink/${clickhouseDatabase}`,
};

/** Entries for `startProcess`. The first role that needs ClickHouse opens it for the process; it closes last. */
export function roleEntries(names: readonly RoleName[]): readonly RoleEntry[] {
  let shared: Promise<ClickHouse> | undefined;
  const clickhouse = (context: RoleContext) => {
    shared ??= openCurrent(context);
    return shared;
  };
  const start: Record<RoleName, (context: RoleContext) => Promise<RunningRole>> = {
    clickhouse: async (context) => hostClickHouse(await clickhouse(context)),
    ingest: async (context) => (await import('../ingest/index.ts')).startIngest(context),
    book: async (context) => (await import('../processors/index.ts')).startBook(context),
    fillQuality: async (context) => (await import('../processors/index.ts')).startFillQuality(context),
    trades: async (context) => (await import('../processors/index.ts')).startTrades(context),
    rankings: async (context) => (await import('../processors/index.ts')).startRankings(context),
    samples: async (context) => (await import('../processors/index.ts')).startSamples(context),
    candles: async (context) => (await import('../processors/index.ts')).startCandles(context),
    coverage: async (context) => (await import('../processors/index.ts')).startCoverage(context),
    notifications: async (context) => (await import('../processors/index.ts')).startNotifications(context),
    fees: async (context) => (await import('../ingest/index.ts')).startFees(context),
    sink: async (context) =>
      (await import('../processors/index.ts')).startHistorySink(context, await clickhouse(context)),
    push: async (context) => (await import('../api/index.ts')).startPush(context),
    orderbook: async (context) => (await import('../api/index.ts')).startOrderBook(context),
    history: async (context) => (await import('../api/index.ts')).startHistory(context, await clickhouse(context)),
    page: async (context) => (await import('../api/index.ts')).startPage(context),
    exports: async (context) => (await import('../api/index.ts')).startExports(context, await clickhouse(context)),
  };
  const started = ROLE_NAMES.filter(
    (name) => names.includes(name) || (name === 'clickhouse' && needsClickHouse(names)),
  );
  return started.map((name) => {
    const lease = LEASES[name];
    return { name, start: start[name], ...(lease ? { lease } : {}) };
  });
}

/** Opens the current database of the history. After a rebuild it differs from the configured one. */
async function openCurrent({ config, log, logger }: RoleContext): Promise<ClickHouse> {
  const { read } = await readCurrent(log, config.clickhouseDatabase);
  return openClickHouse(config, logger, read);
}

/** True when one of the roles opens the history, and creates its tables when they are missing. */
export function needsClickHouse(names: readonly RoleName[]): boolean {
  return (['sink', 'history', 'exports'] as const).some((name) => names.includes(name));
}

function hostClickHouse(clickhouse: ClickHouse): RunningRole {
  return {
    name: 'clickhouse',
    endpoints: {
      clickhouse: clickhouse.url,
      ...(clickhouse.analystUrl === null ? {} : { sql: clickhouse.analystUrl }),
    },
    done: clickhouse.failed,
    stop: () => clickhouse.stop(),
  };
}
