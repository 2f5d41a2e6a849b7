// Starts the history service on config.historyPort.

import {
  type ClickHouse,
  type HistoryCompleteness,
  historySinkGroup,
  type RoleContext,
  type RunningRole,
  readCurrent,
  readHistoryCompleteness,
  urlHost,
} from '../../platform/index.ts';
import { listenRest } from '../http/listen-rest.ts';
import { startNotificationServices } from '../notifications/services.ts';
import { wsProxy } from '../orderbook/ws-proxy.ts';
import { followAccountStates } from '../views/account-states.ts';
import { followFinality } from '../views/chain-finality.ts';
import { MarketFollower } from '../views/market-follower.ts';
import { historyApp } from './app.ts';
import { BuiltParts } from './built-parts.ts';
import { Downloads } from './downloads.ts';
import { startExportAccess } from './exports/access.ts';
import { followRebuilt } from './follow-rebuilt.ts';
import { HistoryMetrics } from './metrics.ts';
import { RequestLimits } from './request-limits.ts';
import { candleLoader, unreadLoader } from './socket/loaders.ts';
import { startHistorySocket } from './socket/server.ts';
import { HistoryStore } from './store.ts';
import { followSummaries, MarketSummaries } from './summaries.ts';
import { startTransactions } from './transactions/start.ts';
import { startWallets } from './wallet/start.ts';

/** A part of the service that follows the log. */
interface Follower {
  readonly done: Promise<void>;
  stop(): Promise<unknown>;
}

/** Serves until stopped. Rejects when the port is taken or the log cannot be read, and leaves nothing running then. */
export async function startHistory(
  ctx: RoleContext,
  clickhouse: Pick<ClickHouse, 'client' | 'database' | 'connect'>,
): Promise<RunningRole> {
  const metrics = new HistoryMetrics(ctx.metrics);
  const store = new HistoryStore(clickhouse.client, clickhouse.database, {
    queryTimeoutMs: ctx.config.queryTimeoutMs,
    failed: metrics.queryFailed,
  });
  const rebuilt = followRebuilt(ctx, clickhouse, store);
  const followers: Follower[] = [];
  const stopFollowing = () => Promise.all(followers.map((one) => one.stop()));
  try {
    return await serveHistory(ctx, { store, metrics, rebuilt, followers, stopFollowing });
  } catch (error) {
    await stopFollowing();
    await rebuilt.stop();
    throw error;
  }
}

interface HistoryParts {
  readonly store: HistoryStore;
  readonly metrics: HistoryMetrics;
  readonly rebuilt: { stop(): Promise<void> };
  /** Gets each follower that has started. */
  readonly followers: Follower[];
  readonly stopFollowing: () => Promise<unknown>;
}

async function serveHistory(ctx: RoleContext, parts: HistoryParts): Promise<RunningRole> {
  const { config, logger } = ctx;
  const { store, metrics, rebuilt, followers, stopFollowing } = parts;
  const begun = <T extends Follower>(follower: T): T => {
    followers.push(follower);
    return follower;
  };
  const follower = begun(new MarketFollower(ctx));
  await follower.start();
  const now = () => Math.floor(Date.now() / 1000);
  const markets = follower.registry;
  const summaries = new MarketSummaries(markets);
  begun(await followSummaries(summaries, ctx));
  const builtParts = new BuiltParts(store);
  const transactions = begun(await startTransactions(ctx));
  const limits = new RequestLimits(config);
  const wallets = begun(await startWallets(ctx, { now, count: (wallet) => limits.countWallet(wallet) }));
  const accountStates = begun(await followAccountStates(ctx));
  const finality = begun(await followFinality(ctx));
  const exports = begun(await startExportAccess(ctx));
  const notifications = begun(await startNotificationServices(ctx, Date.now));
  const socket = begun(
    await startHistorySocket({
      ...ctx,
      markets,
      summaries,
      loadCandle: candleLoader(store, builtParts),
      loadUnread: unreadLoader(store, builtParts, notifications.marks),
      notifications,
    }),
  );
  const services = {
    store,
    markets,
    builtParts,
    summaries,
    settings: config,
    downloads: new Downloads(),
    completeness: completenessOf(ctx),
    now,
    metrics,
    transactions: transactions.services,
    limits,
    wallets: wallets.auth,
    accountStates: accountStates.states,
    finality: finality.newest,
    notifications,
    exports,
  };
  const app = await historyApp(services, logger);
  const proxy = wsProxy(socket);
  app.server.on('upgrade', proxy.onUpgrade);
  const listening = await listenRest(app, config.host, config.historyPort);
  let stopping: Promise<void> | null = null;
  return {
    name: 'history',
    endpoints: historyEndpoints(`${urlHost(config.host)}:${listening.port}`),
    done: Promise.all(followers.map((one) => one.done)).then(() => {}),
    stop: () => {
      stopping ??= (async () => {
        // The socket stops first: its clients receive the close reason while the port that proxies them is open.
        await stopFollowing();
        listening.close();
        proxy.close();
        await app.close();
        await rebuilt.stop();
      })();
      return stopping;
    },
  };
}

/** Reads the state of the log with the consumer group of the sink whose database answers. */
function completenessOf({ log, config }: RoleContext): () => Promise<HistoryCompleteness> {
  return async () => {
    const { read } = await readCurrent(log, config.clickhouseDatabase);
    return readHistoryCompleteness(log, historySinkGroup(read, config.clickhouseDatabase));
  };
}

function historyEndpoints(place: string): Readonly<Record<string, string>> {
  return { history: `http://${place}`, historySocket: `ws://${place}/ws` };
}
