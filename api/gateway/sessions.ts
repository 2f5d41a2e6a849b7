// Open connections and the effect of their messages: subscribe, unsubscribe, refuse, close.

import type { WebSocket } from 'uWebSockets.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { SOCKET_ERRORS } from '../http/errors.ts';
import { TokenBucket } from '../http/token-bucket.ts';
import type { MarketRegistry } from '../views/registry.ts';
import type { BookChannels } from './book-channels.ts';
import { Connection, type SocketData } from './connection.ts';
import type { Fanout } from './fanout.ts';
import type { Feeds } from './feed/feeds.ts';
import type { Heartbeat } from './heartbeat.ts';
import { Inbox } from './inbox.ts';
import { CLOSE_LINGER_MS, MALFORMED_RATE_SHARED, MAX_SUBSCRIPTIONS, REQUEST_COST } from './limits.ts';
import type { GatewayMetrics } from './metrics.ts';
import { type ClientRequest, mayBeRequest, readRequest } from './requests.ts';
import { StartupQueue } from './startup-queue.ts';

export interface SessionsOptions {
  readonly markets: MarketRegistry;
  readonly books: BookChannels;
  readonly fanout: Fanout;
  readonly feeds: Feeds;
  readonly heartbeat: Heartbeat;
  readonly metrics: GatewayMetrics;
  /** Whether clients that accept permessage-deflate get compressed messages. */
  readonly deflates?: boolean;
}

type Subscribe = Extract<ClientRequest, { is: 'subscribe' }>;

export class Sessions {
  readonly #options: SessionsOptions;
  readonly #connections = new Set<Connection>();
  #isOver = false;
  readonly #inbox = new Inbox({ handle: (connection, text) => this.#handle(connection, text) });
  readonly #startupQueue: StartupQueue;
  /** Shared budget for malformed messages beyond a connection's own. */
  readonly #malformed = new TokenBucket(MALFORMED_RATE_SHARED);

  constructor(options: SessionsOptions) {
    this.#options = options;
    const { markets } = options;
    this.#startupQueue = new StartupQueue({ markets, handle: (connection, text) => this.#handle(connection, text) });
  }

  open(socket: WebSocket<SocketData>): void {
    if (this.#isOver) {
      socket.close();
      return;
    }
    const { metrics, heartbeat, deflates } = this.#options;
    const connection = new Connection(socket, metrics, deflates);
    socket.getUserData().connection = connection;
    this.#connections.add(connection);
    metrics.connections.inc();
    heartbeat.add(connection);
  }

  message(socket: WebSocket<SocketData>, bytes: ArrayBuffer): void {
    const { connection } = socket.getUserData();
    if (!connection) return;
    const nowMs = performance.now();
    const text = Buffer.from(bytes).toString('utf8');
    if (!connection.admits(nowMs, bytes.byteLength) || !this.#accepts(connection, text, nowMs)) connection.end('flood');
  }

  /** Drops malformed messages at once and passes others to the inbox; false when the connection must be closed. */
  #accepts(connection: Connection, text: string, nowMs: number): boolean {
    if (mayBeRequest(text)) return this.#inbox.receive(connection, text);
    this.#options.metrics.requests.inc({ outcome: 'ignored' });
    return connection.admitsMalformed(nowMs) || this.#malformed.take(nowMs);
  }

  /** For the engine's drain handler: the client has read some unread bytes. */
  drained(socket: WebSocket<SocketData>): void {
    const { connection } = socket.getUserData();
    if (!connection) return;
    connection.drained();
    this.#options.feeds.drained(connection);
  }

  /** For the engine's close handler: the socket is gone. */
  closed(socket: WebSocket<SocketData>): void {
    const { metrics, heartbeat, fanout } = this.#options;
    const { connection } = socket.getUserData();
    if (!connection) return;
    connection.closed();
    this.#inbox.forget(connection);
    this.#startupQueue.forget(connection);
    this.#connections.delete(connection);
    heartbeat.remove(connection);
    for (const name of connection.channels.keys()) fanout.remove(name, connection);
    this.#options.feeds.closed(connection);
    metrics.connections.dec();
    metrics.closes.inc({ reason: connection.endedBy ?? 'client' });
  }

  /** Announces the stop to users of the sequenced channels, then closes them with 1012. Drops all other connections at once. */
  async shutDown(): Promise<void> {
    const { feeds } = this.#options;
    const graceMs = feeds.announceShutdown();
    if (graceMs > 0) await sleep(graceMs);
    for (const connection of feeds.connections) connection.end('restart');
    this.dropAll();
    // Lets connections through the REST port get their close frame before that port closes.
    if (graceMs > 0) await sleep(CLOSE_LINGER_MS);
  }

  /** Drops all connections, and later ones as they open. */
  dropAll(): void {
    this.#isOver = true;
    this.#inbox.stop();
    this.#startupQueue.stop();
    for (const connection of [...this.#connections]) connection.drop();
  }

  #handle(connection: Connection, text: string): void {
    // An earlier queued message may have ended the connection: a subscription would then leak.
    if (!connection.isOpen) return;
    const request = readRequest(text, this.#options.markets);
    if (this.#startupQueue.hold(connection, text, request)) return;
    this.#options.metrics.requests.inc({ outcome: request.is });
    connection.charge(performance.now(), REQUEST_COST[costKind(connection, request)]);
    this.#answer(connection, request);
  }

  #answer(connection: Connection, request: ClientRequest): void {
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
        this.#subscribe(connection, request);
        return;
      case 'book':
      case 'trades.v2':
      case 'account':
        this.#options.feeds.channel(request.is).request(connection, request.action, request.message);
        return;
      case 'unsubscribe':
        connection.channels.delete(request.channel.name);
        this.#options.fanout.remove(request.channel.name, connection);
    }
  }

  #subscribe(connection: Connection, { channel, sent, acknowledgement }: Subscribe): void {
    const { fanout, books } = this.#options;
    if (!connection.channels.has(channel.name) && connection.channels.size >= MAX_SUBSCRIPTIONS) {
      connection.send([JSON.stringify({ channel: sent, error: SOCKET_ERRORS.subscribe })]);
      return;
    }
    connection.channels.set(channel.name, channel);
    fanout.add(channel.name, connection);
    const frames: (string | Buffer)[] = [JSON.stringify({ message: acknowledgement })];
    // Rendered from the newest state in this turn, so that the stream continues with the same book or a newer one.
    const isBook = channel.kind === 'orderbook' || channel.kind === 'orderbook_indicative';
    const replay = isBook ? books.replay(channel) : null;
    if (replay) frames.push(replay);
    connection.send(frames);
  }
}

function costKind(connection: Connection, request: ClientRequest): keyof typeof REQUEST_COST {
  switch (request.is) {
    case 'ignored':
    case 'unresolved':
      return request.is;
    case 'subscribe':
      return connection.channels.has(request.channel.name) ? 'repeated' : 'plain';
    case 'unsubscribe':
      return connection.channels.has(request.channel.name) ? 'leave' : 'repeated';
    case 'book':
    case 'trades.v2':
    case 'account':
      return 'book';
    case 'unknownChannel':
      return 'plain';
  }
}
