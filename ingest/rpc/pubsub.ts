// Solana PubSub over one WebSocket. Our own few lines instead of web3.js's client, which reconnects without telling
// anybody (a silent hole) and lets a malformed notification end the process.

import { WebSocket } from 'ws';
import type { ParkReason } from '../park-reasons.ts';

const OPEN_TIMEOUT_MS = 10_000;
const CALL_TIMEOUT_MS = 10_000;
const PING_INTERVAL_MS = 15_000;
/** Larger than any account notification; a frame beyond it closes the connection. */
const FRAME_BYTES_MAX = 64 * 1024 * 1024;
const DETAIL_CHARACTERS = 200;

export interface PubSubHandlers {
  /** A frame that is not JSON, or not what a PubSub server says. */
  garbage(reason: ParkReason, detail: string, bytes: Uint8Array): void;
  /** The connection is gone; nothing more will come. Called once. */
  closed(reason: string): void;
}

/** `result` of a notification. Whatever it throws is reported as garbage. */
export type Notified = (result: unknown) => void;

interface Call {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly notified: Notified;
}

export class PubSub {
  readonly #socket: WebSocket;
  readonly #handlers: PubSubHandlers;
  readonly #calls = new Map<number, Call>();
  readonly #subscriptions = new Map<number, Notified>();
  readonly #pings: NodeJS.Timeout;
  #nextId = 1;
  #over = false;

  private constructor(socket: WebSocket, handlers: PubSubHandlers) {
    this.#socket = socket;
    this.#handlers = handlers;
    socket.on('message', (data: Buffer) => this.#frame(data));
    socket.on('error', (error) => this.#end(error.message));
    socket.on('close', (code) => this.#end(`closed with code ${code}`));
    this.#pings = setInterval(() => socket.ping(), PING_INTERVAL_MS);
    this.#pings.unref();
  }

  /** Connects. Rejects when the server does not answer in time. */
  static open(url: string, handlers: PubSubHandlers): Promise<PubSub> {
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(url, {
        handshakeTimeout: OPEN_TIMEOUT_MS,
        maxPayload: FRAME_BYTES_MAX,
        perMessageDeflate: false,
      });
      socket.once('error', reject);
      socket.once('open', () => {
        socket.off('error', reject);
        resolve(new PubSub(socket, handlers));
      });
    });
  }

  /** Subscribes and calls `notified` with the result of every notification. Rejects on refusal or silence. */
  subscribe(method: string, params: readonly unknown[], notified: Notified): Promise<void> {
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
    if (typeof message !== 'object' || message === null) throw new TypeError('frame is no object');
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
