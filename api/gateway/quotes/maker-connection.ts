// One connection of a market maker: its claimed key, whether it proved the key, and its message rate.

import type { WebSocket } from 'uWebSockets.js';
import { QUOTE_CLOSES, type QuoteCloseReason } from '../../http/errors.ts';
import { TokenBucket } from '../../http/token-bucket.ts';
import { newNonce } from './auth.ts';
import { AUTH_TIMEOUT_MS, MAX_UNREAD_BYTES, MESSAGE_BURST, MESSAGES_PER_SECOND, QUOTE_HEARTBEAT_MS } from './limits.ts';

/** User data of a uWebSockets.js socket. */
export interface MakerSocketData {
  readonly maker: Uint8Array;
  /** Base58. */
  readonly name: string;
  connection: MakerConnection | null;
}

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
  readonly #messages = new TokenBucket({ burst: MESSAGE_BURST, perSecond: MESSAGES_PER_SECOND });

  constructor(socket: WebSocket<MakerSocketData>, nowMs: number) {
    const { maker, name } = socket.getUserData();
    this.maker = maker;
    this.name = name;
    this.#socket = socket;
    this.#authDueMs = nowMs + AUTH_TIMEOUT_MS;
    this.#spokeAtMs = nowMs;
  }

  /** Charges a message; false when the connection exceeds its rate. */
  admits(nowMs: number): boolean {
    return this.#messages.spend(1, nowMs);
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

  /** Closes with the code and reason of the error table. */
  end(reason: QuoteCloseReason): void {
    if (!this.#isOpen) return;
    this.endedBy = reason;
    this.#socket.end(QUOTE_CLOSES[reason].code, QUOTE_CLOSES[reason].reason);
  }

  /** Drops the connection without a close frame; makers reconnect. */
  drop(): void {
    if (!this.#isOpen) return;
    this.endedBy = 'shutdown';
    this.#socket.close();
  }

  /** Called by the engine's close handler: nothing may touch the socket afterwards. */
  closed(): void {
    this.#isOpen = false;
  }
}
