// One connection of a market maker: who it claims to be, whether it proved it, and how much it may still send.

import type { WebSocket } from 'uWebSockets.js';
import { QUOTE_CLOSES, type QuoteCloseReason } from '../errors.ts';
import { newNonce } from './auth.ts';
import { AUTH_TIMEOUT_MS, MAX_UNREAD_BYTES, MESSAGE_BURST, MESSAGES_PER_SECOND, QUOTE_HEARTBEAT_MS } from './limits.ts';

/** The data uWebSockets.js keeps with a socket. */
export interface MakerSocketData {
  readonly maker: Uint8Array;
  /** Base58. */
  readonly name: string;
  connection: MakerConnection | null;
}

const SECOND_MS = 1000;

/** All times are of the monotonic clock, milliseconds. */
export class MakerConnection {
  readonly maker: Uint8Array;
  readonly name: string;
  readonly nonce = newNonce();
  isAuthenticated = false;
  endedBy: QuoteCloseReason | 'shutdown' | null = null;
  readonly #socket: WebSocket<MakerSocketData>;
  readonly #authDueMs: number;
  #isOpen = true;
  #spokeAtMs: number;
  #allowance = MESSAGE_BURST;
  #allowanceAtMs: number;

  constructor(socket: WebSocket<MakerSocketData>, nowMs: number) {
    const { maker, name } = socket.getUserData();
    this.maker = maker;
    this.name = name;
    this.#socket = socket;
    this.#authDueMs = nowMs + AUTH_TIMEOUT_MS;
    this.#spokeAtMs = nowMs;
    this.#allowanceAtMs = nowMs;
  }

  /** False when the connection sends more than it may. */
  mayReceive(nowMs: number): boolean {
    const earned = ((nowMs - this.#allowanceAtMs) * MESSAGES_PER_SECOND) / SECOND_MS;
    this.#allowance = Math.min(this.#allowance + earned, MESSAGE_BURST) - 1;
    this.#allowanceAtMs = nowMs;
    return this.#allowance >= 0;
  }

  isAuthOverdue(nowMs: number): boolean {
    return !this.isAuthenticated && nowMs >= this.#authDueMs;
  }

  isHeartbeatDue(nowMs: number): boolean {
    return nowMs - this.#spokeAtMs >= QUOTE_HEARTBEAT_MS;
  }

  send(message: Readonly<Record<string, unknown>>, nowMs: number): void {
    if (!this.#isOpen) return;
    if (this.#socket.getBufferedAmount() > MAX_UNREAD_BYTES) {
      this.end('overflow');
      return;
    }
    this.#spokeAtMs = nowMs;
    this.#socket.send(JSON.stringify(message), false);
  }

  /** Closes with the code and reason of the table. */
  end(reason: QuoteCloseReason): void {
    if (!this.#isOpen) return;
    this.endedBy = reason;
    this.#socket.end(QUOTE_CLOSES[reason].code, QUOTE_CLOSES[reason].reason);
  }

  /** Drops the connection without a close frame: makers reconnect. */
  drop(): void {
    if (!this.#isOpen) return;
    this.endedBy = 'shutdown';
    this.#socket.close();
  }

  /** To be called by the close handler: the socket must not be touched from then on. */
  closed(): void {
    this.#isOpen = false;
  }
}
