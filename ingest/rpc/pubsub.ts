// Solana PubSub over one WebSocket. It replaces the client of web3.js, which reconnects silently (an unnoticed gap) and
// exits the process on a malformed notification.

import type { ParkReason } from '../dead-letter.ts';
import { NETWORK, type PubSubSocket, type Transport } from './transport.ts';

const CALL_TIMEOUT_MS = 10_000;
const PING_INTERVAL_MS = 15_000;
const DETAIL_CHARACTERS = 200;

export interface PubSubHandlers {
  /** Receives a frame that is not JSON or not a PubSub message. */
  garbage(reason: ParkReason, detail: string, bytes: Uint8Array): void;
  /** Reports the end of the connection. Called once, after all other calls. */
  closed(reason: string): void;
}

/** Receives the `result` of a notification. The connection reports its errors as garbage. */
export type NotificationHandler = (result: unknown) => void;

interface Call {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly notified: NotificationHandler;
}

export class PubSub {
  readonly #socket: PubSubSocket;
  readonly #handlers: PubSubHandlers;
  readonly #calls = new Map<number, Call>();
  readonly #subscriptions = new Map<number, NotificationHandler>();
  readonly #pings: NodeJS.Timeout;
  #nextId = 1;
  #over = false;

  private constructor(socket: PubSubSocket, handlers: PubSubHandlers) {
    this.#socket = socket;
    this.#handlers = handlers;
    socket.on('message', (data: Buffer) => this.#frame(data));
    socket.on('error', (error) => this.#end(error.message));
    socket.on('close', (code) => this.#end(`closed with code ${code}`));
    this.#pings = setInterval(() => socket.ping(), PING_INTERVAL_MS);
    this.#pings.unref();
  }

  /** Connects. Rejects when the server does not answer in time. */
  static async open(
    url: string,
    handlers: PubSubHandlers,
    transport: Pick<Transport, 'connect'> = NETWORK,
  ): Promise<PubSub> {
    return new PubSub(await transport.connect(url), handlers);
  }

  /** Subscribes and calls `notified` with the result of every notification. Rejects on a refusal or a timeout. */
  subscribe(method: string, params: readonly unknown[], notified: NotificationHandler): Promise<void> {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => settle(() => reject(new Error(`${method}: no answer`))), CALL_TIMEOUT_MS);
      const settle = (act: () => void) => {
        clearTimeout(timer);
        this.#calls.delete(id);
        act();
      };
      this.#calls.set(id, {
        resolve: () => settle(resolve),
        reject: (error) => settle(() => reject(error)),
        notified,
      });
      this.#socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    });
  }

  /** Ends the connection without calling `closed`. */
  close(): void {
    this.#over = true;
    this.#release('closed by us');
    this.#socket.terminate();
  }

  #end(reason: string): void {
    if (this.#over) return;
    this.#over = true;
    this.#release(reason);
    this.#socket.terminate();
    this.#handlers.closed(reason);
  }

  #release(reason: string): void {
    clearInterval(this.#pings);
    for (const call of [...this.#calls.values()]) call.reject(new Error(reason));
  }

  #frame(data: Buffer): void {
    if (this.#over) return;
    let message: unknown;
    try {
      message = JSON.parse(data.toString('utf8'));
    } catch (error) {
      this.#handlers.garbage('garbage_frame', String(error).slice(0, DETAIL_CHARACTERS), data);
      return;
    }
    try {
      this.#message(message);
    } catch (error) {
      this.#handlers.garbage('garbage_frame', String(error).slice(0, DETAIL_CHARACTERS), data);
    }
  }

  #message(message: unknown): void {
    if (typeof message !== 'object' || message === null) throw new TypeError('frame is not an object');
    const { id, result, error, params } = message as {
      readonly id?: unknown;
      readonly result?: unknown;
      readonly error?: { readonly message?: string };
      readonly params?: { readonly subscription?: unknown; readonly result?: unknown };
    };
    const call = typeof id === 'number' ? this.#calls.get(id) : undefined;
    if (call) {
      if (error !== undefined || typeof result !== 'number') {
        call.reject(new Error(`subscription refused: ${error?.message ?? JSON.stringify(result)}`));
        return;
      }
      this.#subscriptions.set(result, call.notified);
      call.resolve(result);
      return;
    }
    const notified =
      typeof params?.subscription === 'number' ? this.#subscriptions.get(params.subscription) : undefined;
    if (!notified) throw new TypeError('frame belongs to no subscription');
    notified(params?.result);
  }
}
