// One client of the history socket: its subscriptions, and the only way to send to it, which closes slow readers.

import type { WebSocket } from 'uWebSockets.js';
import { SOCKET_CLOSES } from '../../http/errors.ts';
import type { SentCounts } from '../../http/sent-counts.ts';
import { TokenBucket } from '../../http/token-bucket.ts';
import { MAX_BUFFERED_BYTES, MESSAGE_BURST, MESSAGES_PER_SECOND } from './limits.ts';
import type { Channel } from './requests.ts';

/** Why this socket closes connections. */
export const CLOSE_REASONS = [
  'overflow',
  'flood',
  'restart',
] as const satisfies readonly (keyof typeof SOCKET_CLOSES)[];
export type CloseReason = (typeof CLOSE_REASONS)[number];

/** Data that uWebSockets.js stores with a socket. */
export interface SocketData {
  client?: SocketClient;
}

/** One subscription, from its subscribe to its unsubscribe. A later subscribe of the channel starts a new one. */
export interface Subscription {
  readonly channelType: Channel['channelType'];
}

export class SocketClient {
  /** Subscriptions by channel name, with those that wait for their first message. */
  readonly channels = new Map<string, Subscription>();
  /** Why the server closed it; null while open or when the client left. */
  endedBy: CloseReason | null = null;
  readonly #socket: WebSocket<SocketData>;
  readonly #sent: SentCounts;
  #open = true;
  readonly #allowance = new TokenBucket({ burst: MESSAGE_BURST, perSecond: MESSAGES_PER_SECOND });

  constructor(socket: WebSocket<SocketData>, sent: SentCounts) {
    this.#socket = socket;
    this.#sent = sent;
  }

  /** Counts one message of the client; false when it sends too many. `nowMs` is monotonic. */
  admits(nowMs: number): boolean {
    return this.#allowance.spend(1, nowMs);
  }

  /** Sends one text frame, compressed when the client supports it. Closes a client that does not read. */
  send(text: string | Buffer): void {
    if (!this.isOpen) return;
    if (this.unreadBytes > MAX_BUFFERED_BYTES) {
      this.end('overflow');
      return;
    }
    this.#socket.send(text, false, true);
    this.#sent.messages += 1;
    this.#sent.bytes += Buffer.byteLength(text);
  }

  /** Closes with the code and reason of the table; once. */
  end(reason: CloseReason): void {
    if (!this.isOpen) return;
    this.endedBy = reason;
    this.#socket.end(SOCKET_CLOSES[reason].code, SOCKET_CLOSES[reason].reason);
  }

  /** False after a close by either side. */
  get isOpen(): boolean {
    return this.#open && this.endedBy === null;
  }

  /** Bytes handed over that the client has not read. */
  get unreadBytes(): number {
    return this.#open ? this.#socket.getBufferedAmount() : 0;
  }

  /** The close handler calls this; the socket must not be used afterwards. */
  closed(): void {
    this.#open = false;
  }
}
