// The open connections and what their messages do: subscribe, unsubscribe, be refused.

import type { WebSocket } from 'uWebSockets.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { SOCKET_ERRORS } from '../errors.ts';
import type { MarketRegistry } from '../views/registry.ts';
import { Allowance } from './allowance.ts';
import type { BookChannels } from './book-channels.ts';
import { Connection, type SocketData } from './connection.ts';
import { EarlyMessages } from './early.ts';
import type { Fanout } from './fanout.ts';
import type { BookFeed } from './feed/feed.ts';
import type { Heartbeat } from './heartbeat.ts';
import { Inbox } from './inbox.ts';
import { BRISK_COST, CLOSE_LINGER_MS, MAX_SUBSCRIPTIONS, NOISE_OF_ALL } from './limits.ts';
import type { GatewayMetrics } from './metrics.ts';
import { type ClientRequest, mayBeRequest, readRequest } from './requests.ts';

export interface SessionsOptions {
  readonly markets: MarketRegistry;
  readonly books: BookChannels;
  readonly fanout: Fanout;
  readonly feed: BookFeed;
  readonly heartbeat: Heartbeat;
  readonly metrics: GatewayMetrics;
  /** Messages are compressed for clients that take it. */
  readonly deflates?: boolean;
}

type Subscribe = Extract<ClientRequest, { is: 'subscribe' }>;

export class Sessions {
  readonly #options: SessionsOptions;
  readonly #connections = new Set<Connection>();
  readonly #inbox = new Inbox({ handle: (connection, text) => this.#heard(connection, text) });
  readonly #early: EarlyMessages;
  /** For what clients send beyond their own allowance of noise. */
  readonly #noise = new Allowance(NOISE_OF_ALL);

  constructor(options: SessionsOptions) {
    this.#options = options;
    const { markets } = options;
    this.#early = new EarlyMessages({ markets, handle: (connection, text) => this.#heard(connection, text) });
  }

  open(socket: WebSocket<SocketData>): void {
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
    if (!connection.admits(nowMs) || !this.#takes(connection, text, nowMs)) connection.end('flood');
  }

  /** What cannot be a request does not wait to be heard; false when the connection is to be closed. */
  #takes(connection: Connection, text: string, nowMs: number): boolean {
    if (mayBeRequest(text)) return this.#inbox.take(connection, text);
    this.#options.metrics.requests.inc({ outcome: 'ignored' });
    return connection.admitsNoise(nowMs) || this.#noise.take(nowMs);
  }

  /** For the engine's drain handler: the client has read some of what it had unread. */
  drained(socket: WebSocket<SocketData>): void {
    const { connection } = socket.getUserData();
    if (connection) this.#options.feed.drained(connection);
  }

  /** For the engine's close handler: the connection is gone already. */
  closed(socket: WebSocket<SocketData>): void {
    const { metrics, heartbeat, fanout } = this.#options;
    const { connection } = socket.getUserData();
    if (!connection) return;
    connection.closed();
    this.#inbox.forget(connection);
    this.#early.forget(connection);
    this.#connections.delete(connection);
    heartbeat.remove(connection);
    for (const name of connection.channels.keys()) fanout.remove(name, connection);
    this.#options.feed.closed(connection);
    metrics.connections.dec();
    metrics.closes.inc({ reason: connection.endedBy ?? 'client' });
  }

  /** Users of the `book` channel are told before and closed with 1012; everybody else is dropped. */
  async shutDown(): Promise<void> {
    const { feed } = this.#options;
    const graceMs = feed.announceShutdown();
    if (graceMs > 0) await sleep(graceMs);
    for (const connection of [...feed.connections]) connection.end('restart');
    this.dropAll();
    // Those joined through the REST port get their close frame before that port is closed.
    if (graceMs > 0) await sleep(CLOSE_LINGER_MS);
  }

  dropAll(): void {
    this.#inbox.stop();
    this.#early.stop();
    for (const connection of [...this.#connections]) connection.drop();
  }

  #heard(connection: Connection, text: string): void {
    // One of several messages that waited may have ended it: nothing would take back what the others register.
    if (!connection.isOpen) return;
    const request = readRequest(text, this.#options.markets);
    if (this.#early.keep(connection, text, request)) return;
    this.#options.metrics.requests.inc({ outcome: request.is });
    connection.burden(performance.now(), BRISK_COST[weightOf(connection, request)]);
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
        this.#options.feed.request(connection, request.action, request.message);
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
    // Rendered from the newest state in the same turn, so that the stream can only bring the same book or a newer one.
    const isBook = channel.kind === 'orderbook' || channel.kind === 'orderbook_indicative';
    const replay = isBook ? books.replay(channel) : null;
    if (replay) frames.push(replay);
    connection.send(frames);
  }
}

function weightOf(connection: Connection, request: ClientRequest): keyof typeof BRISK_COST {
  switch (request.is) {
    case 'ignored':
    case 'unresolved':
      return request.is;
    case 'subscribe':
      return connection.channels.has(request.channel.name) ? 'repeated' : 'plain';
    case 'unsubscribe':
      return connection.channels.has(request.channel.name) ? 'leave' : 'repeated';
    case 'book':
      return 'book';
    case 'unknownChannel':
      return 'plain';
  }
}
