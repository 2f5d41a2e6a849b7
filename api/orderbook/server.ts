// Starts the order-book server: REST on config.orderbookPort, and `/ws` on the same port joined to the gateway.

import type { RoleContext, RunningRole } from '../../platform/index.ts';
import { boundPort, reachable, urlHost } from '../hosts.ts';
import { BookReader } from '../views/book-reader.ts';
import { FillQualityFollower } from '../views/fill-quality.ts';
import { QualityFollower } from '../views/quality.ts';
import { SlotHistory } from '../views/slot-history.ts';
import { rpcAccountReader } from './account-reader.ts';
import { orderbookApp } from './app.ts';
import { auctionSettings } from './auction-settings.ts';
import { startFeeds } from './feeds.ts';
import { RestMetrics } from './metrics.ts';
import { type GatewayAddress, wsProxy } from './ws-proxy.ts';

export interface OrderBookServerOptions {
  /** A reader shared with the gateway of this process; without it the server starts and stops one of its own. */
  readonly reader?: BookReader;
  /** Where the gateway listens; by default config.host and config.gatewayPort. */
  readonly gateway?: GatewayAddress;
}

/** Serves until stopped. Rejects when the port is taken or the log cannot be read. */
export async function startOrderBookServer(
  ctx: RoleContext,
  options: OrderBookServerOptions = {},
): Promise<RunningRole> {
  const { config, logger } = ctx;
  const auction = auctionSettings(config);
  const reader = options.reader ?? new BookReader(ctx);
  const ownsReader = options.reader === undefined;
  if (ownsReader) await reader.start();
  const fillQuality = new FillQualityFollower(ctx);
  await fillQuality.start();
  const quality = new QualityFollower(ctx);
  await quality.start();
  const slotHistory = new SlotHistory(ctx.log, reader);
  const feeds = await startFeeds(ctx);
  const accounts = rpcAccountReader({ ...ctx, rpcUrl: config.source === 'rpc' ? config.rpcUrl : '' });
  const { slotStallMs } = config;
  const metrics = new RestMetrics(ctx.metrics, reader, slotStallMs);
  const app = await orderbookApp(
    { reader, accounts, slotStallMs, auction, fillQuality, feeds, quality, slotHistory, metrics },
    logger,
  );
  const proxy = wsProxy(options.gateway ?? { host: reachable(config.host), port: config.gatewayPort });
  app.server.on('upgrade', proxy.onUpgrade);
  try {
    await app.listen({ host: config.host, port: config.orderbookPort });
  } catch (error) {
    await feeds.stop();
    await fillQuality.stop();
    await quality.stop();
    if (ownsReader) await reader.stop();
    throw error;
  }
  let stopping: Promise<void> | null = null;
  return {
    name: 'orderbook',
    endpoints: { orderbook: `http://${urlHost(config.host)}:${boundPort(app.server.address())}` },
    done: ownsReader ? reader.done : new Promise(() => {}),
    stop: () => {
      stopping ??= (async () => {
        proxy.close();
        await app.close();
        await feeds.stop();
        await fillQuality.stop();
        await quality.stop();
        if (ownsReader) await reader.stop();
      })();
      return stopping;
    },
  };
}
