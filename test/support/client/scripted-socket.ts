// A socket whose server is the test: it sees what the client sends, and sends what the test says.

import type { SocketLike } from '../../../client/index.ts';

export class ScriptedSocket implements SocketLike {
  onopen: ((event: never) => void) | null = null;
  onmessage: ((event: { readonly data: unknown }) => void) | null = null;
  onclose: ((event: { readonly code: number; readonly reason: string }) => void) | null = null;
  onerror: ((event: never) => void) | null = null;
  isClosed = false;
  readonly sent: Record<string, unknown>[] = [];

  send(text: string): void {
    this.sent.push(JSON.parse(text) as Record<string, unknown>);
  }

  close(): void {
    this.isClosed = true;
  }

  open(): void {
    (this.onopen as (() => void) | null)?.();
  }

  say(message: object | string): void {
    this.onmessage?.({ data: typeof message === 'string' ? message : JSON.stringify(message) });
  }

  /** Data of a compatible channel: JSON as text inside JSON. */
  data(channel: string, data: object): void {
    this.say({ channel, data: JSON.stringify(data) });
  }

  drop(code = 1006): void {
    this.onclose?.({ code, reason: '' });
  }
}
