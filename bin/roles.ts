// The composition root: which roles there are, and which rooms they come from.

import {
  type ClickHouse,
  openClickHouse,
  type RoleContext,
  type RoleEntry,
  type RunningRole,
  readCurrent,
} from '../platform/index.ts';

/** Roles in the order in which they start; a later one reads what an earlier one writes. */
export const ROLE_NAMES = [
  'clickhouse',
  'ingest',
  'book',
  'trades',
  'fillQuality',
  'rankings',
  'samples',
  'candles',
  'fees',
  'sink',
  'orderbook',
  'history',
] as const;
export type RoleName = (typeof ROLE_NAMES)[number];

export const ROLE_HELP: Record<RoleName, string> = {
  clickhouse: 'hosts the managed ClickHouse child for other processes',
  ingest:
    'watches the chain and writes events, order states and positions to the log; the newest process writes, others end',
  book: 'builds the books from the log and publishes sequenced changes',
  trades: 'publishes fills for the trades channel',
  fillQuality: 'publishes how far from the oracle takers were filled lately',
  rankings: 'ranks claimable P&L of every market from positions as they change',
  samples: 'samples every market by block time',
  candles: 'builds candles and what the last 24 hours of each market come to',
  fees: 'asks the provider for priority fees',
  sink: 'stores events in ClickHouse',
  orderbook: 'order-book REST and the WebSocket gateway',
  history: 'history REST',
};

/** Entries for `startProcess`. ClickHouse is opened once per process, by the first role that needs it, and closed last. */
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
    fees: async (context) => (await import('../ingest/index.ts')).startFees(context),
    sink: async (context) =>
      (await import('../processors/index.ts')).startHistorySink(context, await clickhouse(context)),
    orderbook: async (context) => (await import('../api/index.ts')).startOrderBook(context),
    history: async (context) => (await import('../api/index.ts')).startHistory(context, await clickhouse(context)),
  };
  const wanted = ROLE_NAMES.filter((name) => names.includes(name) || (name === 'clickhouse' && needsClickHouse(names)));
  return wanted.map((name) => ({ name, start: start[name] }));
}

/** The database that holds the history now, which is not the configured one after a rebuild. */
async function openCurrent({ config, log, logger }: RoleContext): Promise<ClickHouse> {
  const { read } = await readCurrent(log, config.clickhouseDatabase);
  return openClickHouse(config, logger, read);
}

function needsClickHouse(names: readonly RoleName[]): boolean {
  return names.includes('sink') || names.includes('history');
}

function hostClickHouse(clickhouse: ClickHouse): RunningRole {
  return {
    name: 'clickhouse',
    endpoints: {
      clickhouse: clickhouse.url,
      ...(clickhouse.analystUrl === null ? {} : { sql: clickhouse.analystUrl }),
    },
    done: new Promise(() => {}),
    stop: () => clickhouse.stop(),
  };
}
