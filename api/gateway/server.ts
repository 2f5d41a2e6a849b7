// Starts the WebSocket gateway on config.gatewayPort, path `/ws`.

import { App, type us_listen_socket, us_listen_socket_close, us_socket_local_port } from 'uWebSockets.js';
import { connect } from 'node:net';
import type { RoleContext, RunningRole } from '../../platform/index.ts';
import { COMPRESSORS, type Compressor } from '../compressors.ts';
import { reachable, urlHost } from '../hosts.ts';
import { exchangeProgram, IndicativeKeys } from '../quotes/indicative-keys.ts';
import { type QuoteSocket, startQuoteSocket } from '../quotes/socket.ts';
import { BookReader } from '../views/book-reader.ts';
import { BookChannels } from './book-channels.ts';
import type { SocketData } from './connection.ts';
import { Fanout } from './fanout.ts';
import { FeeChannels } from './fee-channels.ts';
import { BookFeed } from './feed/feed.ts';
import { feedMetrics } from './feed/metrics.ts';
import { FillMetrics } from './fill-metrics.ts';
import { Heartbeat } from './heartbeat.ts';
import { MAX_PAYLOAD_BYTES } from './limits.ts';
import { gatewayMetrics } from './metrics.ts';
import { Sessions } from './sessions.ts';
import { TradeChannels } from './trade-channels.ts';

export interface GatewayOptions {
  /** A reader shared with the REST server of this process; without it the gateway starts and stops one of its own. */
  readonly reader?: BookReader;
}

export interface RunningGateway extends RunningRole {
  /** Where it really listens. */
  readonly host: string;
  readonly port: number;
}

/** Serves until stopped. Rejects when the port is taken or the log cannot be read. */
export async function startGateway(ctx: RoleContext, options: GatewayOptions = {}): Promise<RunningGateway> {
  const { config, log, logger } = ctx;
  const reader = options.reader ?? new BookReader(ctx);
  const ownsReader = options.reader === undefined;
  const feed = new BookFeed({ reader, log, logger, metrics: feedMetrics(ctx.metrics) });
  const quotes = await startQuoteSocket(ctx, reader);
  const indicativeKeys = new IndicativeKeys(reader.indicative.quoters, exchangeProgram(config.definition));
  if (ownsReader) await reader.start();
  const metrics = gatewayMetrics(ctx.metrics);
  const fanout = new Fanout();
  const heartbeat = new Heartbeat();
  const books = new BookChannels({ reader, fanout, metrics, tickMs: config.bookTickMs });
  const fillMetrics = new FillMetrics({ registry: ctx.metrics, reader });
  const trades = new TradeChannels({ log, logger, fanout, indicativeKeys, fillMetrics });
  const fees = new FeeChannels({ log, logger, fanout });
  const compressor = config.gatewayDeflate as Compressor;
  const deflates = compressor !== 'off';
  const sessions = new Sessions({ markets: reader.markets, books, fanout, feed, heartbeat, metrics, deflates });
  const release = async (): Promise<void> => {
    books.stop();
    fanout.stop();
    feed.stop();
    heartbeat.stop();
    await Promise.all([trades.stop(), fees.stop(), quotes.stop()]);
    if (ownsReader) await reader.stop();
  };
  let listening: us_listen_socket;
  try {
    await trades.start();
    await fees.start();
    listening = await listen(makeApp(sessions, quotes, compressor), config.host, config.gatewayPort);
  } catch (error) {
    await release();
    throw error;
  }
  const port = us_socket_local_port(listening);
  let stopping: Promise<void> | null = null;
  return {
    name: 'gateway',
    host: reachable(config.host),
    port,
    endpoints: {
      gateway: `ws://${urlHost(config.host)}:${port}/ws`,
      quotes: `ws://${urlHost(config.host)}:${port}/quotes/ws`,
    },
    done: Promise.all([trades.done, fees.done, ...(ownsReader ? [reader.done] : [])]).then(() => undefined),
    stop: () => {
      stopping ??= (async () => {
        us_listen_socket_close(listening);
        await sessions.shutDown();
        await release();
      })();
      return stopping;
    },
  };
}

function makeApp(sessions: Sessions, quotes: QuoteSocket, compressor: Compressor): ReturnType<typeof App> {
  const app = App();
  quotes.attach(app);
  app.ws<SocketData>('/ws', {
    compression: COMPRESSORS[compressor],
    maxPayloadLength: MAX_PAYLOAD_BYTES,
    maxBackpressure: 0, // lagging clients are found by Connection.send, which knows the code to close with
    upgrade: (res, req, context) => {
      res.upgrade(
        { connection: null },
        req.getHeader('sec-websocket-key'),
        req.getHeader('sec-websocket-protocol'),
        req.getHeader('sec-websocket-extensions'),
        context,
      );
    },
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
 * The engine shares a port with other listeners instead of failing (SO_REUSEPORT), and its exclusive mode cannot take a
 * port again right after a restart; so it is asked first whether anybody answers there.
 */
async function listen(app: ReturnType<typeof App>, host: string, port: number): Promise<us_listen_socket> {
  if (port !== 0 && (await isAnswered(reachable(host), port))) {
    throw new Error(`gateway: ${host}:${port} is taken by another process`);
  }
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
