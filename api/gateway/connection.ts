// One client connection: what it holds, and the one way to send to it, which is where lagging clients are noticed.

import type { WebSocket } from 'uWebSockets.js';
import { SOCKET_CLOSES } from '../errors.ts';
import { MAX_BUFFERED_BYTES, MESSAGE_BURST, MESSAGES_PER_SECOND } from './limits.ts';
import type { GatewayMetrics } from './metrics.ts';
import type { ResolvedChannel } from './requests.ts';

/** The data uWebSockets.js keeps with a socket. */
export interface SocketData {
  connection: Connection | null;
}

export type CloseReason = keyof typeof SOCKET_CLOSES;

export class Connection {
  /** Channels held, by response name. */
  readonly channels = new Map<string, ResolvedChannel>();
  /** When the next heartbeat is due, on the monotonic clock, milliseconds. */
  heartbeatDueMs = 0;
  /** Why we ended it; null while open or when the client left. */
  endedBy: CloseReason | 'shutdown' | null = null;
  readonly #socket: WebSocket<SocketData>;
  readonly #metrics: GatewayMetrics;
  #open = true;
  /** Messages the client may still send at `#admittedMs`, on the monotonic clock. */
  #allowance = MESSAGE_BURST;
  #admittedMs = 0;

  constructor(socket: WebSocket<SocketData>, metrics: GatewayMetrics) {
    this.#socket = socket;
    this.#metrics = metrics;
  }

  /** Takes one message of the client into account; false when it sends too many. `nowMs` is monotonic. */
  admits(nowMs: number): boolean {
    const regained = ((nowMs - this.#admittedMs) / 1000) * MESSAGES_PER_SECOND;
    this.#admittedMs = nowMs;
    this.#allowance = Math.min(MESSAGE_BURST, this.#allowance + regained) - 1;
    return this.#allowance >= 0;
  }

  /** Sends text frames as one write. A client that has more than MAX_BUFFERED_BYTES unread is closed instead. */
  send(frames: readonly (string | Buffer)[]): void {
    if (!this.#open) return;
    let sent = 0;
    let bytes = 0;
    let overflow = false;
    this.#socket.cork(() => {
      for (const frame of frames) {
        overflow = this.#socket.getBufferedAmount() > MAX_BUFFERED_BYTES;
        if (overflow) return;
        this.#socket.send(frame, false);
        sent += 1;
        bytes += typeof frame === 'string' ? Buffer.byteLength(frame) : frame.byteLength;
      }
    });
    this.#metrics.messages.inc(sent);
    this.#metrics.bytes.inc(bytes);
    if (!overflow) return;
    this.#metrics.drops.inc(frames.length - sent);
    this.end('overflow');
  }

  /** Bytes handed over that the client has not read. */
  get unreadBytes(): number {
    return this.#open ? this.#socket.getBufferedAmount() : 0;
  }

  /** Closes with the code and reason of the table. */
  end(reason: CloseReason): void {
    if (!this.#open) return;
    this.endedBy = reason;
    this.#socket.end(SOCKET_CLOSES[reason].code, SOCKET_CLOSES[reason].reason);
  }

  /** Drops the connection without a close frame, which published clients answer by reconnecting at once. */
  drop(): void {
    if (!this.#open) return;
    this.endedBy = 'shutdown';
    this.#socket.close();
  }

  /** To be called by the close handler: the socket must not be touched from then on. */
  closed(): void {
    this.#open = false;
  }
}
