// Starts the order-book server: REST on config.orderbookPort, and on the same port a proxy of `/ws` to the gateway.

import { CoverageTail, logAt, type RoleContext, type RunningRole, reachable, urlHost } from '../../platform/index.ts';
import { listenRest } from '../http/listen-rest.ts';
import { BookReader } from '../views/book-reader.ts';
import { FillQualityFollower } from '../views/fill-quality.ts';
import { QualityFollower } from '../views/quality.ts';
import { SlotHistory } from '../views/slot-history.ts';
import { rpcAccountReader } from './account-reader.ts';
import { orderbookApp } from './app.ts';
import { auctionSettings } from './auction/settings.ts';
import { startFeeds } from './feeds.ts';
import { RestMetrics } from './metrics.ts';
import { NodeSlot } from './node-slot.ts';
import { BookLag } from './routes/health.ts';
import { type GatewayAddress, wsProxy } from './ws-proxy.ts';

export interface OrderBookServerOptions {
  /** Reader shared with the gateway of this process. Without it, the server starts and stops its own. */
  readonly reader?: BookReader;
  /** Reader of the books at commitment processed; absent: this server has none. */
  readonly processed?: BookReader | undefined;
  /** Address of the gateway. Defaults to config.host and config.gatewayPort. */
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
  const { processed: own } = options;
  const processed = own && { reader: own, slotHistory: new SlotHistory(logAt(ctx.log, 'processed'), own) };
  const feeds = await startFeeds(ctx);
  const accounts = rpcAccountReader({ ...ctx, rpcUrl: config.source === 'capture' ? '' : config.rpcUrl });
  // A recording has no chain head to compare with.
  const nodeSlot = config.source === 'capture' ? undefined : new NodeSlot({ ...ctx, rpcUrl: config.rpcUrl });
  nodeSlot?.start();
  const bookLag = new BookLag(reader, nodeSlot, config.bookSlotsBehindMax);
  const { slotStallMs } = config;
  const metrics = new RestMetrics(ctx.metrics, reader, { slotStallMs, bookLag });
  const app = await orderbookApp(
    {
      ...{
        reader,
        accounts,
        slotStallMs,
        bookLag,
        auction,
        fillQuality,
        feeds,
        quality,
        slotHistory,
        processed,
        metrics,
      },
      coverage: new CoverageTail(ctx.log),
      page: { config, metrics: ctx.metrics },
    },
    logger,
  );
  const proxy = wsProxy(options.gateway ?? { host: reachable(config.host), port: config.gatewayPort });
  app.server.on('upgrade', proxy.onUpgrade);
  let listening: Awaited<ReturnType<typeof listenRest>>;
  try {
    listening = await listenRest(app, config.host, config.orderbookPort);
  } catch (error) {
    nodeSlot?.stop();
    await feeds.stop();
    await fillQuality.stop();
    await quality.stop();
    if (ownsReader) await reader.stop();
    throw error;
  }
  let stopping: Promise<void> | null = null;
  return {
    name: 'orderbook',
    endpoints: { orderbook: `http://${urlHost(config.host)}:${listening.port}` },
    done: ownsReader ? reader.done : new Promise(() => {}),
    stop: () => {
      stopping ??= (async () => {
        nodeSlot?.stop();
        listening.close();
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
