// One client of the history socket: what it holds, and the one way to send to it, where slow readers are noticed.

import type { WebSocket } from 'uWebSockets.js';
import { SOCKET_CLOSES } from '../../errors.ts';
import { Allowance } from '../../gateway/allowance.ts';
import { MAX_BUFFERED_BYTES, MESSAGE_BURST, MESSAGES_PER_SECOND } from './limits.ts';

/** The data uWebSockets.js keeps with a socket. */
export interface SocketData {
  client: SocketClient | null;
}

export class SocketClient {
  /** Channels wanted, by name: also those whose first message is still being made. */
  readonly channels = new Set<string>();
  readonly #socket: WebSocket<SocketData>;
  #open = true;
  readonly #allowance = new Allowance({ burst: MESSAGE_BURST, perSecond: MESSAGES_PER_SECOND });

  constructor(socket: WebSocket<SocketData>) {
    this.#socket = socket;
  }

  /** Takes one message of the client into account; false when it sends too many. `nowMs` is monotonic. */
  admits(nowMs: number): boolean {
    return this.#allowance.spend(1, nowMs);
  }

  /** Sends one text frame, compressed where the client takes that. A client that does not read is closed instead. */
  send(text: string | Buffer): void {
    if (!this.#open) return;
    if (this.#socket.getBufferedAmount() > MAX_BUFFERED_BYTES) this.end('overflow');
    else this.#socket.send(text, false, true);
  }

  end(reason: 'overflow' | 'flood' | 'restart'): void {
    if (this.#open) this.#socket.end(SOCKET_CLOSES[reason].code, SOCKET_CLOSES[reason].reason);
  }

  get isOpen(): boolean {
    return this.#open;
  }

  /** To be called by the close handler: the socket must not be touched from then on. */
  closed(): void {
    this.#open = false;
  }
}
