// Starts the WebSocket gateway on config.gatewayPort, path `/ws`: connections, requests, and what is published to them.

import {
  App,
  type us_listen_socket,
  us_listen_socket_close,
  us_socket_local_port,
  type WebSocket,
} from 'uWebSockets.js';
import { connect } from 'node:net';
import type { RoleContext, RunningRole } from '../../platform/index.ts';
import { SOCKET_ERRORS } from '../errors.ts';
import { reachable, urlHost } from '../hosts.ts';
import { BookReader } from '../views/book-reader.ts';
import { BookChannels } from './book-channels.ts';
import { Connection, type SocketData } from './connection.ts';
import { Fanout } from './fanout.ts';
import { Heartbeat } from './heartbeat.ts';
import { MAX_PAYLOAD_BYTES, MAX_SUBSCRIPTIONS } from './limits.ts';
import { gatewayMetrics } from './metrics.ts';
import { type ClientRequest, type ResolvedChannel, readRequest } from './requests.ts';
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
  const { config, log, logger, metrics: registry } = ctx;
  const reader = options.reader ?? new BookReader(ctx);
  const ownsReader = options.reader === undefined;
  if (ownsReader) await reader.start();
  const metrics = gatewayMetrics(registry);
  const fanout = new Fanout();
  const heartbeat = new Heartbeat();
  const books = new BookChannels({ reader, fanout, metrics, tickMs: config.bookTickMs });
  const trades = new TradeChannels({ log, logger, fanout });
  const connections = new Set<Connection>();

  const subscribe = (connection: Connection, channel: ResolvedChannel, sent: string, acknowledgement: string): void => {
    if (!connection.channels.has(channel.name) && connection.channels.size >= MAX_SUBSCRIPTIONS) {
      connection.send([JSON.stringify({ channel: sent, error: SOCKET_ERRORS.subscribe })]);
      return;
    }
    connection.channels.set(channel.name, channel);
    fanout.add(channel.name, connection);
    const frames: (string | Buffer)[] = [JSON.stringify({ message: acknowledgement })];
    // Rendered from the newest state in the same turn, so that the stream can only bring the same book or a newer one.
    const replay = channel.kind.startsWith('orderbook') ? books.replay(channel) : null;
    if (replay) frames.push(replay);
    connection.send(frames);
  };

  const answer = (connection: Connection, request: ClientRequest): void => {
    switch (request.is) {
      case 'ignored':
        return;
      case 'unknownChannel':
        connection.end('unknownChannel');
        return;
      case 'unresolved':
        connection.send([JSON.stringify({ channel: request.channel, error: SOCKET_ERRORS[request.action] })]);
        return;
      case 'subscribe':
        subscribe(connection, request.channel, request.sent, request.acknowledgement);
        return;
      case 'unsubscribe':
        connection.channels.delete(request.channel.name);
        fanout.remove(request.channel.name, connection);
    }
  };

  const app = App();
  app.ws<SocketData>('/ws', {
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
    open: (socket: WebSocket<SocketData>) => {
      const connection = new Connection(socket, metrics);
      socket.getUserData().connection = connection;
      connections.add(connection);
      metrics.connections.inc();
      heartbeat.add(connection);
    },
    message: (socket: WebSocket<SocketData>, message) => {
      const { connection } = socket.getUserData();
      if (!connection) return;
      const request = readRequest(Buffer.from(message).toString('utf8'), reader.markets);
      metrics.requests.inc({ outcome: request.is });
      answer(connection, request);
    },
    close: (socket: WebSocket<SocketData>) => {
      const { connection } = socket.getUserData();
      if (!connection) return;
      connection.closed();
      connections.delete(connection);
      heartbeat.remove(connection);
      for (const name of connection.channels.keys()) fanout.remove(name, connection);
      metrics.connections.dec();
      metrics.closes.inc({ reason: connection.endedBy ?? 'client' });
    },
  });
  app.any('/*', (res) => {
    res.writeStatus('404 Not Found').end('Not found');
  });

  const release = async (): Promise<void> => {
    books.stop();
    heartbeat.stop();
    await trades.stop();
    if (ownsReader) await reader.stop();
  };
  let listening: us_listen_socket;
  try {
    await trades.start();
    listening = await listen(app, config.host, config.gatewayPort);
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
    endpoints: { gateway: `ws://${urlHost(config.host)}:${port}/ws` },
    done: Promise.all([trades.done, ...(ownsReader ? [reader.done] : [])]).then(() => undefined),
    stop: () => {
      stopping ??= (async () => {
        us_listen_socket_close(listening);
        for (const connection of [...connections]) connection.drop();
        await release();
      })();
      return stopping;
    },
  };
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
