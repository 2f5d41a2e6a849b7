// Raw JSON-RPC and PubSub clients for tests: what goes over the wire, without a client library's help.

import type { Connection } from '@solana/web3.js';
import { WebSocket } from 'ws';
import { type LocalnetOptions, type RunningLocalnet, startLocalnet } from '../../../localnet/server.ts';
import { createFakeExchange } from './fake-exchange.ts';

export interface RpcAnswer {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
  readonly id: unknown;
}

/** A cluster on any free ports with the scripted exchange, whose time stands still. */
export function startFake(options: LocalnetOptions = {}): Promise<RunningLocalnet> {
  const defaults = { speed: 0, rpcPort: 0, wsPort: 0, genesisTime: 1_700_000_000, createExchange: createFakeExchange };
  return startLocalnet({ ...defaults, ...options });
}

export async function post(url: string, body: string): Promise<unknown> {
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  const text = await response.text();
  return text === '' ? null : JSON.parse(text);
}

export async function call(url: string, method: string, params?: unknown): Promise<RpcAnswer> {
  return (await post(url, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))) as RpcAnswer;
}

/** The result of a call that must succeed. */
export async function ask<T>(url: string, method: string, params?: unknown): Promise<T> {
  const { result, error } = await call(url, method, params);
  if (error !== undefined) throw new Error(`${method}: ${error.message}`);
  return result as T;
}

export interface Notification {
  readonly method: string;
  readonly params: { readonly result: unknown; readonly subscription: number };
}

/** A node that answers at all answers within this time. */
const ANSWER_WITHIN_MS = 30_000;

export class RawPubSub {
  readonly notifications: Notification[] = [];
  readonly closed: Promise<void>;
  readonly socket: WebSocket;
  readonly #answers = new Map<number, (answer: RpcAnswer) => void>();
  #nextId = 1;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    this.closed = new Promise((resolve) => socket.on('close', () => resolve()));
    socket.on('message', (data) => {
      const message = JSON.parse(data.toString()) as RpcAnswer & Partial<Notification>;
      if (message.method === undefined) this.#answers.get(message.id as number)?.(message);
      else this.notifications.push(message as Notification);
    });
  }

  static open(url: string): Promise<RawPubSub> {
    const socket = new WebSocket(url);
    const client = new RawPubSub(socket);
    return new Promise((resolve, reject) => {
      socket.on('open', () => resolve(client));
      socket.on('error', reject);
    });
  }

  /** Rejects when the socket closes first. Closes it when no answer comes. */
  call(method: string, params?: unknown): Promise<RpcAnswer> {
    const id = this.#nextId;
    this.#nextId += 1;
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => this.close(), ANSWER_WITHIN_MS).unref();
      void this.closed.then(() => reject(new Error(`the socket closed before ${method} was answered`)));
      this.#answers.set(id, (answer) => {
        clearTimeout(late);
        this.#answers.delete(id);
        resolve(answer);
      });
      this.socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }), (error) => error && reject(error));
    });
  }

  get isClosed(): boolean {
    return this.socket.readyState !== WebSocket.OPEN;
  }

  /** Subscribes and returns the number. */
  async subscribe(kind: string, ...params: unknown[]): Promise<number> {
    const { result, error } = await this.call(`${kind}Subscribe`, params);
    if (error !== undefined) throw new Error(error.message);
    return result as number;
  }

  /** Everything published before has arrived once a later call is answered. */
  async settle(): Promise<Notification[]> {
    await this.call('nothing');
    return this.notifications.splice(0);
  }

  close(): void {
    this.socket.terminate();
  }
}

interface RpcSocket {
  readonly socket?: { readonly readyState: number };
  once(event: 'close', listener: () => void): void;
  close(): void;
}

/** Ends the socket of a web3.js connection, which would go on reconnecting after the cluster is gone. */
export async function hangUp(connection: Connection): Promise<void> {
  const inner = connection as unknown as { _rpcWebSocket: RpcSocket; _subscriptionsByHash: object };
  const rpcSocket = inner._rpcWebSocket;
  inner._subscriptionsByHash = {};
  if (rpcSocket.socket?.readyState !== WebSocket.OPEN) return;
  const closed = new Promise<void>((resolve) => rpcSocket.once('close', resolve));
  rpcSocket.close();
  await closed;
}
