// PubSub over WebSocket: calls and frames of each connection. Drops a slow connection, so that it can neither fill memory nor
// delay the others.

import { createServer, type Server } from 'node:http';
import { type RawData, WebSocket, WebSocketServer } from 'ws';
import { answer, type Method } from './dispatch.ts';
import type { Publisher } from './publisher.ts';
import {
  type Subscriber,
  type Subscription,
  type Subscriptions,
  subscriptionRequest,
  type TopicKind,
} from './subscriptions.ts';

const KINDS: readonly TopicKind[] = ['program', 'account', 'logs', 'signature', 'slot', 'slotsUpdates', 'root'];
const REQUEST_BYTES_MAX = 1024 * 1024;
/** Limit of waiting bytes per socket: some seconds of a full program feed. */
const DEFAULT_BACKLOG_BYTES_MAX = 64 * 1024 * 1024;

export class PubSub {
  readonly server: Server;
  readonly #sockets: WebSocketServer;
  readonly #subscriptions: Subscriptions;
  readonly #publisher: Publisher;
  readonly #backlogBytesMax: number;
  #slowDropped = 0;
  #opened = 0;

  constructor(subscriptions: Subscriptions, publisher: Publisher, backlogBytesMax = DEFAULT_BACKLOG_BYTES_MAX) {
    this.#subscriptions = subscriptions;
    this.#publisher = publisher;
    this.#backlogBytesMax = backlogBytesMax;
    this.server = createServer((_, response) => response.writeHead(426, { upgrade: 'websocket' }).end());
    this.#sockets = new WebSocketServer({
      server: this.server,
      perMessageDeflate: false,
      maxPayload: REQUEST_BYTES_MAX,
    });
    this.#sockets.on('connection', (socket) => this.#serve(socket));
    // `listen` reports errors of the server socket.
    this.#sockets.on('error', () => {});
  }

  get connections(): number {
    return this.#sockets.clients.size;
  }

  /** Number of connections dropped for reading too slowly. */
  get slowDropped(): number {
    return this.#slowDropped;
  }

  /** Cuts every connection without a close frame. Returns their number. */
  dropConnections(): number {
    const count = this.#sockets.clients.size;
    for (const socket of this.#sockets.clients) socket.terminate();
    return count;
  }

  close(): Promise<void> {
    this.dropConnections();
    return new Promise((resolve) => this.#sockets.close(() => this.server.close(() => resolve())));
  }

  #serve(socket: WebSocket): void {
    const subscriber: Subscriber = { connection: this.#opened, send: (frame) => this.#send(socket, frame) };
    this.#opened += 1;
    const methods = this.#methods(socket, subscriber);
    // Each connection gets its answers in the order of its messages.
    let turn = Promise.resolve();
    socket.on('message', (message) => {
      turn = turn.then(() => reply(socket, message, methods)).catch(() => socket.terminate());
    });
    socket.on('error', () => socket.terminate());
    socket.on('close', () => this.#subscriptions.removeAll(subscriber));
  }

  #send(socket: WebSocket, frame: Buffer): void {
    if (socket.readyState !== WebSocket.OPEN) return;
    if (socket.bufferedAmount > this.#backlogBytesMax) {
      this.#slowDropped += 1;
      socket.terminate();
      return;
    }
    socket.send(frame, { binary: false });
  }

  #methods(socket: WebSocket, subscriber: Subscriber): ReadonlyMap<string, Method> {
    const methods = new Map<string, Method>();
    for (const kind of KINDS) {
      methods.set(`${kind}Subscribe`, (params) => {
        const subscription = this.#subscriptions.add(subscriptionRequest(kind, params), subscriber);
        if (socket.readyState !== WebSocket.OPEN) this.#subscriptions.removeAll(subscriber);
        if (kind === 'signature') this.#notifyLanded(subscription);
        return String(subscription.id);
      });
      methods.set(`${kind}Unsubscribe`, (params) => {
        this.#subscriptions.remove(params[0], kind, subscriber);
        return 'true';
      });
    }
    return methods;
  }

  /** Runs after the answer, which gives the client its subscription number. */
  #notifyLanded(subscription: Subscription): void {
    setImmediate(() => {
      if (subscription.subscribers.size > 0) this.#publisher.publishLanded(subscription);
    });
  }
}

async function reply(socket: WebSocket, message: RawData, methods: ReadonlyMap<string, Method>): Promise<void> {
  const pieces = await answer(message.toString(), methods);
  if (pieces !== null && socket.readyState === WebSocket.OPEN) socket.send([...pieces].join(''));
}
