// A WebSocket client of tests that keeps every received message and checks it.

import { once } from 'node:events';
import type { WebSocket } from 'ws';

export class JsonSocket<Message> {
  readonly received: Message[] = [];
  readonly socket: WebSocket;
  closed: { readonly code: number; readonly reason: string } | null = null;

  /** `check` throws for a message that the contract does not have. */
  constructor(socket: WebSocket, check: (message: Message & Readonly<Record<string, unknown>>) => void) {
    this.socket = socket;
    socket.on('message', (bytes, isBinary) => {
      if (isBinary) throw new Error('binary frame');
      const message = JSON.parse(bytes.toString()) as Message & Readonly<Record<string, unknown>>;
      check(message);
      this.received.push(message);
    });
    socket.on('close', (code, reason) => {
      this.closed = { code, reason: reason.toString() };
    });
    socket.on('error', () => {});
  }

  /** Resolves when the socket is open. Rejects when the server refuses the upgrade. */
  async opened(): Promise<this> {
    await once(this.socket, 'open');
    return this;
  }

  /** Text is sent as it is. */
  send(message: unknown): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }
}
