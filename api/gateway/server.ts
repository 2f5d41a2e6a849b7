// Starts the WebSocket gateway on config.gatewayPort, path `/ws`.

import { App, type us_listen_socket, us_listen_socket_close, us_socket_local_port } from 'uWebSockets.js';
import { connect } from 'node:net';
import {
  ConfigError,
  type EventLog,
  listenPlaces,
  logAt,
  type RoleContext,
  type RunningRole,
  reachable,
  urlHost,
} from '../../platform/index.ts';
import type { TradeView } from '../../schemas/index.ts';
import { BookReader } from '../views/book-reader.ts';
import { IngestedSlot } from '../views/ingested-slot.ts';
import { AccountFeed } from './account-feed/account-feed.ts';
import { BookChannels } from './book-channels.ts';
import { COMPRESSORS, type Compressor } from './compressors.ts';
import type { SocketData } from './connection.ts';
import { Fanout } from './fanout.ts';
import { FeeChannels } from './fee-channels.ts';
import { CommitmentFeeds } from './feed/commitment-feeds.ts';
import { BookFeed } from './feed/feed.ts';
import { Feeds } from './feed/feeds.ts';
import { feedMetrics } from './feed/metrics.ts';
import { FillMetrics } from './fill-metrics.ts';
import { Heartbeat } from './heartbeat.ts';
import { MAX_PAYLOAD_BYTES } from './limits.ts';
import { gatewayMetrics } from './metrics.ts';
import { exchangeProgram, IndicativeKeys } from './quotes/indicative-keys.ts';
import { type QuoteSocket, startQuoteSocket } from './quotes/socket.ts';
import { Sessions } from './sessions.ts';
import { tradeJson } from './trade-body.ts';
import { TradeChannels } from './trade-channels.ts';
import { TradeFollowing } from './trade-feed/following.ts';
import { TradeFeed, type TradeFeedOptions } from './trade-feed/trade-feed.ts';

export interface GatewayOptions {
  /** A reader shared with the REST server of this process; without it the gateway runs its own. */
  readonly reader?: BookReader;
  /** Reader of the books at commitment processed; absent: this gateway has neither these nor trades at processed. */
  readonly processed?: BookReader | undefined;
}

export interface RunningGateway extends RunningRole {
  /** The address and port of the listening socket. */
  readonly host: string;
  readonly port: number;
}

/** Serves until stopped. Rejects when the port is taken or the log cannot be read. */
export async function startGateway(ctx: RoleContext, options: GatewayOptions = {}): Promise<RunningGateway> {
  const { config, log, logger } = ctx;
  const reader = options.reader ?? new BookReader(ctx);
  const ownsReader = options.reader === undefined;
  const chainHead = new IngestedSlot(ctx);
  const rings = { bytes: 0 };
  const sequenced = feedMetrics(ctx.metrics);
  const { processed } = options;
  const compatible = config.bookCommitment === 'processed' ? processed : reader;
  if (!compatible)
    throw new ConfigError('bookCommitment=processed needs processedBooks=on, and a source other than capture');
  const feedParts = { logger, metrics: sequenced, rings, chainSlot: () => chainHead.slot, streamNumbers: { last: 0 } };
  const bookFeed = new CommitmentFeeds(
    'book',
    new BookFeed({ ...feedParts, reader, log }),
    processed ? new BookFeed({ ...feedParts, reader: processed, log: logAt(log, 'processed') }) : null,
  );
  const quotes = await startQuoteSocket(ctx, reader);
  const indicativeKeys = new IndicativeKeys(reader.indicative.quoters, exchangeProgram(config.definition));
  if (ownsReader) await reader.start();
  const metrics = gatewayMetrics(ctx.metrics);
  const fanout = new Fanout();
  const heartbeat = new Heartbeat();
  const books = new BookChannels({ reader: compatible, fanout, metrics, tickMs: config.bookTickMs });
  const fillMetrics = new FillMetrics({ registry: ctx.metrics, reader });
  const tradeParts = {
    logger,
    metrics: sequenced,
    markets: reader.markets,
    rings,
    streamNumbers: { last: 0 },
    render: (trade: TradeView) => tradeJson(trade, indicativeKeys.of(trade)),
    chain: () => ({ headSlot: chainHead.slot, ts: reader.now() }),
  };
  const tradeFeed = new TradeFeed({ ...tradeParts, log });
  const processedTrades = processed ? followProcessed(tradeParts, log) : null;
  const accountFeed = new AccountFeed({
    log,
    logger,
    metrics: sequenced,
    rings,
    program: exchangeProgram(config.definition),
    chain: () => ({ headSlot: chainHead.slot, ts: reader.now() }),
    book: (market) => reader.book(market),
  });
  const tradeFeeds = new CommitmentFeeds('trades.v2', tradeFeed, processedTrades?.feed ?? null);
  const feeds = new Feeds({ book: bookFeed, 'trades.v2': tradeFeeds, account: accountFeed });
  const trades = new TradeChannels({ log, logger, fanout, indicativeKeys, fillMetrics, numbered: tradeFeed });
  const fees = new FeeChannels({ log, logger, fanout });
  const compressor = config.gatewayDeflate as Compressor;
  const deflates = compressor !== 'off';
  const sessions = new Sessions({ markets: reader.markets, books, fanout, feeds, heartbeat, metrics, deflates });
  const release = async (): Promise<void> => {
    books.stop();
    fanout.stop();
    heartbeat.stop();
    await Promise.all([
      feeds.stop(),
      trades.stop(),
      processedTrades?.stop(),
      fees.stop(),
      quotes.stop(),
      chainHead.stop(),
    ]);
    if (ownsReader) await reader.stop();
  };
  let listening: readonly [us_listen_socket, ...us_listen_socket[]];
  try {
    await trades.start();
    await processedTrades?.start();
    await accountFeed.start();
    await fees.start();
    await chainHead.start();
    listening = await listen(makeApp({ sessions, quotes, compressor }), config.host, config.gatewayPort);
  } catch (error) {
    await release();
    throw error;
  }
  const port = us_socket_local_port(listening[0]);
  let stopping: Promise<void> | null = null;
  return {
    name: 'gateway',
    host: reachable(config.host),
    port,
    endpoints: {
      gateway: `ws://${urlHost(config.host)}:${port}/ws`,
      quotes: `ws://${urlHost(config.host)}:${port}/quotes/ws`,
    },
    done: Promise.all([
      trades.done,
      processedTrades?.done,
      accountFeed.done,
      fees.done,
      chainHead.done,
      ...(ownsReader ? [reader.done] : []),
    ]).then(() => undefined),
    stop: () => {
      stopping ??= (async () => {
        for (const one of listening) us_listen_socket_close(one);
        await sessions.shutDown();
        await release();
      })();
      return stopping;
    },
  };
}

/** The trades at processed, from topics of their own. */
function followProcessed(parts: Omit<TradeFeedOptions, 'log' | 'commitment'>, confirmed: EventLog): TradeFollowing {
  const log = logAt(confirmed, 'processed');
  const feed = new TradeFeed({ ...parts, log, commitment: 'processed' });
  return new TradeFollowing({ log, logger: parts.logger, feed });
}

interface AppParts {
  readonly sessions: Sessions;
  readonly quotes: QuoteSocket;
  readonly compressor: Compressor;
}

function makeApp({ sessions, quotes, compressor }: AppParts): ReturnType<typeof App> {
  const app = App();
  quotes.attach(app);
  app.ws<SocketData>('/ws', {
    compression: COMPRESSORS[compressor],
    maxPayloadLength: MAX_PAYLOAD_BYTES,
    maxBackpressure: 0, // Connection.send closes lagging clients, with the right code.
    // The engine upgrades at once. A later `res.upgrade` reads freed memory, and may end the connection (uWebSockets issue 1928).
    open: (socket) => sessions.open(socket),
    message: (socket, bytes) => sessions.message(socket, bytes),
    drain: (socket) => sessions.drained(socket),
    close: (socket) => sessions.closed(socket),
  });
  app.any('/*', (res) => {
    res.writeStatus('404 Not Found').end('Not found');
  });
  return app;
}

/**
 * The engine shares a port with other listeners instead of failing (SO_REUSEPORT). Its exclusive mode cannot take a port again
 * right after a restart. So this connects first and fails when somebody answers.
 */
async function listen(
  app: ReturnType<typeof App>,
  host: string,
  wantedPort: number,
): Promise<readonly [us_listen_socket, ...us_listen_socket[]]> {
  const { first, others, port } = await listenPlaces(host, wantedPort);
  for (const address of port === 0 ? [] : [first, ...others]) {
    if (await isAnswered(reachable(address), port)) {
      throw new Error(`gateway: ${address}:${port} is taken by another process`);
    }
  }
  const listening: [us_listen_socket, ...us_listen_socket[]] = [await listenOn(app, first, port)];
  try {
    for (const address of others) listening.push(await listenOn(app, address, port));
  } catch (error) {
    for (const one of listening) us_listen_socket_close(one);
    throw error;
  }
  return listening;
}

function listenOn(app: ReturnType<typeof App>, host: string, port: number): Promise<us_listen_socket> {
  return new Promise((resolve, reject) => {
    app.listen(host, port, (socket) => {
      if (socket) resolve(socket);
      else reject(new Error(`gateway: cannot listen on ${host}:${port}`));
    });
  });
}

function isAnswered(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect({ host, port });
    probe.once('connect', () => {
      probe.destroy();
      resolve(true);
    });
    probe.once('error', () => resolve(false));
  });
}
