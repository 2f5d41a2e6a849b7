// Starts the history service on config.historyPort.

import {
  type ClickHouse,
  type ClickHouseClient,
  followCurrent,
  historySinkGroup,
  type LogFacts,
  type RoleContext,
  type RunningRole,
  readCurrent,
  readLogFacts,
} from '../../platform/index.ts';
import { boundPort, urlHost } from '../hosts.ts';
import { wsProxy } from '../orderbook/ws-proxy.ts';
import { MarketFollower } from '../views/market-follower.ts';
import { historyApp } from './app.ts';
import { Projections } from './projections.ts';
import { accountLoader, candleLoader } from './socket/loaders.ts';
import { startHistorySocket } from './socket/server.ts';
import { HistoryStore } from './store.ts';
import { followSummaries, MarketSummaries } from './summaries.ts';

/** Serves until stopped. Rejects when the port is taken or the log cannot be read. */
export async function startHistory(
  ctx: RoleContext,
  clickhouse: Pick<ClickHouse, 'client' | 'database' | 'connect'>,
): Promise<RunningRole> {
  const { config, logger } = ctx;
  const follower = new MarketFollower(ctx);
  await follower.start();
  const store = new HistoryStore(clickhouse.client, clickhouse.database);
  const rebuilt = followRebuilt(ctx, clickhouse, store);
  const now = () => Math.floor(Date.now() / 1000);
  const markets = follower.registry;
  const summaries = new MarketSummaries(markets);
  const summaryFollower = await followSummaries(summaries, ctx);
  const projections = new Projections(store);
  const socket = await startHistorySocket({
    ...ctx,
    markets,
    summaries,
    loadCandle: candleLoader(store, projections),
    loadAccounts: accountLoader(store),
  });
  const stopFollowing = () => Promise.all([follower.stop(), summaryFollower.stop(), socket.stop()]);
  const services = { store, markets, projections, summaries, settings: config, logFacts: logFactsOf(ctx), now };
  const app = await historyApp(services, logger);
  const proxy = wsProxy(socket);
  app.server.on('upgrade', proxy.onUpgrade);
  try {
    await app.listen({ host: config.host, port: config.historyPort });
  } catch (error) {
    await stopFollowing();
    await rebuilt.stop();
    throw error;
  }
  let stopping: Promise<void> | null = null;
  return {
    name: 'history',
    endpoints: historyEndpoints(`${urlHost(config.host)}:${boundPort(app.server.address())}`),
    done: Promise.all([follower.done, summaryFollower.done, socket.done]).then(() => {}),
    stop: () => {
      stopping ??= (async () => {
        // The socket first: its clients hear why while the port that joins them to it is open.
        await stopFollowing();
        proxy.close();
        await app.close();
        await rebuilt.stop();
      })();
      return stopping;
    },
  };
}

/** What the log says now; the group of the sink is that of the database that answers. */
function logFactsOf({ log, config }: RoleContext): () => Promise<LogFacts> {
  return async () => {
    const { read } = await readCurrent(log, config.clickhouseDatabase);
    return readLogFacts(log, historySinkGroup(read, config.clickhouseDatabase));
  };
}

/** Answers come from another database as soon as the log says that a rebuilt one is current. */
function followRebuilt(
  { log, logger }: RoleContext,
  { database, connect }: Pick<ClickHouse, 'database' | 'connect'>,
  store: HistoryStore,
): { stop(): Promise<void> } {
  const clients: ClickHouseClient[] = [];
  let used = database;
  const follower = followCurrent(log, logger, { read: database, write: database, rebuilding: null }, ({ read }) => {
    if (read === used) return;
    logger.info({ from: used, to: read }, 'answering from another database');
    used = read;
    const client = connect(read);
    clients.push(client);
    store.use(client, read);
  });
  return {
    stop: async () => {
      await follower.stop();
      await Promise.all(clients.map((client) => client.close()));
    },
  };
}

function historyEndpoints(place: string): Readonly<Record<string, string>> {
  return { history: `http://${place}`, historySocket: `ws://${place}/ws` };
}
