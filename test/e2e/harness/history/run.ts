// A running chain and the history service over it, shared by the suites of this folder.

import {
  type Cluster,
  type Running,
  startCluster,
  startRoles,
  temporaryDirectory,
} from '../../../support/processes/processes.ts';

const ROLES = [
  'clickhouse',
  'ingest',
  'book',
  'trades',
  'fees',
  'samples',
  'candles',
  'notifications',
  'sink',
  'orderbook',
  'history',
] as const;

export interface HistoryRun {
  readonly cluster: Cluster;
  url(endpoint: string): string;
  stop(): Promise<void>;
}

export async function startHistoryRun(): Promise<HistoryRun> {
  const { dir, remove } = temporaryDirectory();
  const cluster = await startCluster({ seed: 11, speed: 2, accounts: 50, 'orders-per-market': 20 });
  let roles: Running | undefined;
  const stop = async () => {
    await roles?.stop();
    await cluster.stop();
    remove();
  };
  try {
    roles = await startRoles(ROLES, {
      DATA_DIR: dir,
      RPC_URL: cluster.rpcUrl,
      RPC_WS_URL: cluster.wsUrl,
      VAULT_PROGRAM: cluster.vaultProgram,
      LOOKUP_TABLES: cluster.lookupTable,
      // Transactions wait for their rows one after another.
      SINK_MAX_DELAY_MS: 1_000,
      // Every generated request reaches its route.
      WRITES_PER_MINUTE: 0,
      WALLET_REQUESTS_PER_MINUTE: 0,
    });
  } catch (error) {
    await stop().catch(() => {});
    throw error;
  }
  const { endpoints } = roles;
  return { cluster, url: (endpoint) => endpoints[endpoint] ?? '', stop };
}
