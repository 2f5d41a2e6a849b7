// A client of the gateway that does not read: it sits behind a connection in the place of the engine's socket.

import type { WebSocket } from 'uWebSockets.js';
import { Registry } from 'prom-client';
import { Connection, type SocketData } from '../../../api/gateway/connection.ts';
import { gatewayMetrics } from '../../../api/gateway/metrics.ts';

export class IdleClient {
  /** Bytes that it has unread beside `sent`. */
  unreadBytes = 0;
  /** Sent frames that it has not read. */
  sent: string[] = [];
  /** Code and reason of the close. */
  ended: unknown = null;
  readonly connection = new Connection(this as unknown as WebSocket<SocketData>, gatewayMetrics(new Registry()));

  getBufferedAmount(): number {
    return this.unreadBytes + Buffer.byteLength(this.sent.join(''));
  }

  send(frame: string | Buffer): void {
    this.sent.push(String(frame));
  }

  cork(write: () => void): void {
    write();
  }

  end(...args: unknown[]): void {
    this.ended = args;
  }
}
