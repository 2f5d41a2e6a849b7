// PubSub over WebSocket: one connection's calls and frames. A connection that does not keep up is dropped, so that it
// can neither fill the memory nor hold up the others.

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

const KINDS: readonly TopicKind[] = ['program', 'account', 'logs', 'signature', 'slot', 'root'];
const REQUEST_BYTES_MAX = 1024 * 1024;
/** Bytes waiting in one socket before it is dropped: some seconds of a full program feed. */
const DEFAULT_BACKLOG_BYTES_MAX = 64 * 1024 * 1024;

export class PubSub {
  readonly server: Server;
  readonly #sockets: WebSocketServer;
  readonly #subscriptions: Subscriptions;
  readonly #publisher: Publisher;
  readonly #backlogBytesMax: number;
  #slowDropped = 0;

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
    // The listener's own errors reach whoever called listen.
    this.#sockets.on('error', () => {});
  }

  get connections(): number {
    return this.#sockets.clients.size;
  }

  /** Connections dropped because they did not read. */
  get slowDropped(): number {
    return this.#slowDropped;
  }

  /** Cuts every connection without a close frame and returns how many there were. */
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
    const subscriber: Subscriber = { send: (frame) => this.#send(socket, frame) };
    const methods = this.#methods(socket, subscriber);
    // Messages of one connection are answered in the order in which they came.
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
        if (kind === 'signature') this.#tellLanded(subscription);
        return String(subscription.id);
      });
      methods.set(`${kind}Unsubscribe`, (params) => {
        this.#subscriptions.remove(params[0], kind, subscriber);
        return 'true';
      });
    }
    return methods;
  }

  /** After the answer has left, since the client learns the number from it. */
  #tellLanded(subscription: Subscription): void {
    setImmediate(() => {
      if (subscription.subscribers.size > 0) this.#publisher.publishLanded(subscription);
    });
  }
}

async function reply(socket: WebSocket, message: RawData, methods: ReadonlyMap<string, Method>): Promise<void> {
  const pieces = await answer(message.toString(), methods);
  if (pieces !== null && socket.readyState === WebSocket.OPEN) socket.send([...pieces].join(''));
}
