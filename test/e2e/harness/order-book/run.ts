// A busy cluster, its roles with one order-book server, shared by the tests of this folder.

import { times } from '../../../support/platform/times.ts';
import {
  type Cluster,
  type Running,
  type Settings,
  startCluster,
  startRoles,
  temporaryDirectory,
} from '../../../support/processes/processes.ts';

/** Slots in 400 ms. */
const SPEED = times(2, 4);
/** Of requests to internal paths. */
export const SECRET = 'of-this-test';

export interface OrderBookRun {
  readonly cluster: Cluster;
  /** The process of all roles but the rankings, with the order-book server. */
  readonly server: Running;
  /** Starts another order-book server. Its user stops it. */
  openServer(): Promise<Running>;
  /** SIGKILL for the process of the rankings, then another one. */
  restartRankings(): Promise<void>;
  stop(): Promise<void>;
}

export async function startOrderBookRun(): Promise<OrderBookRun> {
  const { dir, remove } = temporaryDirectory();
  const started: Running[] = [];
  let rankings: Running | undefined;
  const stop = async () => {
    await rankings?.stop();
    for (const role of started.reverse()) await role.stop();
    remove();
  };
  try {
    const cluster = await startCluster({ seed: 11, speed: SPEED, accounts: 120 });
    started.push(cluster);
    // Nothing repairs the omissions of these in a book while the cluster is stopped for a comparison.
    for (const kind of ['loseNotification', 'emptyAccounts', 'cutAccounts']) {
      await cluster.rpc('localnet_clearFaults', { kind });
    }
    const settings: Settings = { DATA_DIR: dir, RPC_URL: cluster.rpcUrl, RPC_WS_URL: cluster.wsUrl };
    const roles = ['ingest', 'book', 'trades', 'fees', 'fillQuality', 'orderbook'];
    const own = { FEE_POLLING_MS: 200, INTERNAL_SECRET: SECRET, OPERATOR_DOMAIN: 'example.exchange' };
    const server = await startRoles(roles, { ...settings, ...own });
    started.push(server);
    rankings = await startRoles(['rankings'], settings);
    const restartRankings = async () => {
      await rankings?.kill9();
      rankings = await startRoles(['rankings'], settings);
    };
    return { cluster, server, openServer: () => startRoles(['orderbook'], settings), restartRankings, stop };
  } catch (error) {
    await stop().catch(() => {});
    throw error;
  }
}
