// The whole pipeline as separate processes over one cluster, as an operator would run it.

import type { FaultKind } from '../../../../localnet/faults/kinds.ts';
import {
  type Cluster,
  eventually,
  type Running,
  type Settings,
  startCluster,
  startRoles,
  temporaryDirectory,
} from '../../../support/processes/processes.ts';

const ERROR_CHARS = 2_000;
/** The gateway refuses a subscription to a market that is not known yet. */
const MARKETS = ['SOL-PERP', 'BTC-PERP', 'ETH-PERP', 'HYPE-PERP'];
/** The first read of all accounts, on a machine that runs other tests. */
const BOOKS_WITHIN_MS = 120_000;

/** Processes that tests of books and trades do without. */
export const HISTORY_PROCESSES = ['clickhouse', 'sink', 'history'] as const;

export interface PipelineOptions {
  /** With `grpc-port`, ingest reads from the gRPC server of the cluster; with `grpc-servers`, from all and from PubSub. */
  readonly cluster?: Readonly<Record<string, string | number | boolean>>;
  readonly settings?: Settings;
  readonly without?: readonly ProcessName[];
  /** Entries of PROCESSES that one process has all the roles of, for tests that end none of them: each process compiles its own code. */
  readonly together?: readonly ProcessName[];
  /** Faults of the cluster's profile that are switched off before ingest starts. */
  readonly withoutFaults?: readonly FaultKind[];
}

/** One process per entry; the processes that a fault test kills stand alone. */
export const PROCESSES = {
  clickhouse: ['clickhouse'],
  ingest: ['ingest'],
  processors: ['book', 'trades', 'fillQuality', 'rankings', 'samples', 'candles', 'coverage', 'notifications', 'fees'],
  sink: ['sink'],
  orderbook: ['orderbook'],
  history: ['history'],
} as const;
export type ProcessName = keyof typeof PROCESSES;

export interface Pipeline {
  readonly cluster: Cluster;
  readonly dataDir: string;
  readonly settings: Settings;
  url(endpoint: string): string;
  readonly running: Map<ProcessName, Running>;
  restart(name: ProcessName): Promise<void>;
  /** The last output of the processes on standard error, for the message of a failed check. */
  lastErrors(): string;
  stop(): Promise<void>;
}

const liveSourcesOf = ({ grpcUrls, wsUrl }: Cluster) =>
  [...grpcUrls.map((url) => `grpc:${url}`), `pubsub:${wsUrl}`].join(',');

/** Whether the order-book server is ready, with a book of every perp market. */
async function hasBooks(orderbook: string): Promise<boolean> {
  const paths = ['/startup', ...MARKETS.map((name) => `/l2?marketName=${name}`)];
  const answers = await Promise.all(paths.map((path) => fetch(orderbook + path)));
  return answers.every(({ ok }) => ok);
}

export const untilBooks = (orderbook: string) => eventually('books', () => hasBooks(orderbook), BOOKS_WITHIN_MS);

export async function startPipeline(options: PipelineOptions = {}): Promise<Pipeline> {
  const { dir, remove } = temporaryDirectory();
  const cluster = await startCluster(options.cluster);
  const running = new Map<ProcessName, Running>();
  const settings: Settings = {
    DATA_DIR: dir,
    RPC_URL: cluster.rpcUrl,
    RPC_WS_URL: cluster.wsUrl,
    ...(cluster.grpcUrl === '' ? {} : { SOURCE: 'grpc', GRPC_URL: cluster.grpcUrl }),
    ...(cluster.grpcUrls.length < 2 ? {} : { LIVE_SOURCES: liveSourcesOf(cluster) }),
    VAULT_PROGRAM: cluster.vaultProgram,
    LOOKUP_TABLES: cluster.lookupTable,
    ...options.settings,
  };
  const startTogether = async (names: readonly ProcessName[]) => {
    const roles = names.flatMap((name) => PROCESSES[name]);
    const started = await startRoles(roles, settings);
    for (const name of names) running.set(name, started);
  };
  const start = (name: ProcessName) => startTogether([name]);
  const stop = async () => {
    const clickhouse = running.get('clickhouse');
    // ClickHouse last: the sink stores its last block on the way out.
    await Promise.all([...new Set(running.values())].map((one) => (one === clickhouse ? undefined : one.stop())));
    await clickhouse?.stop();
    await cluster.stop();
    remove();
  };
  const isWanted = (name: ProcessName) => !options.without?.includes(name);
  try {
    for (const kind of options.withoutFaults ?? []) await cluster.rpc('localnet_clearFaults', { kind });
    if (isWanted('clickhouse')) await start('clickhouse');
    const { together = [] } = options;
    const alone = (['ingest', 'processors', 'sink', 'orderbook', 'history'] as const)
      .filter((name) => isWanted(name) && !together.includes(name))
      .map((name) => [name]);
    const groups = [together, ...alone].filter(({ length }) => length > 0);
    const results = await Promise.allSettled(groups.map(startTogether));
    for (const result of results) if (result.status === 'rejected') throw result.reason;
    const orderbook = running.get('orderbook')?.endpoints.orderbook;
    if (orderbook && isWanted('ingest')) await untilBooks(orderbook);
  } catch (error) {
    await stop().catch(() => {});
    throw error;
  }
  return {
    cluster,
    dataDir: dir,
    settings,
    running,
    url: (endpoint) => {
      const found = [...running.values()].map(({ endpoints }) => endpoints[endpoint]).find((url) => url !== undefined);
      if (found === undefined) throw new Error(`no endpoint ${endpoint}`);
      return found;
    },
    restart: start,
    lastErrors: () => [...running].map(([name, role]) => `${name}: ${role.errors().slice(-ERROR_CHARS)}`).join('\n'),
    stop,
  };
}
