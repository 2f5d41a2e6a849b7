// A client of the order-book feed that knows only the published protocol; keeps every message in order.

import WebSocket from 'ws';
import { eventually, PATIENCE_MS } from '../../../support/processes/processes.ts';

export interface FeedMessage {
  readonly channel?: string;
  /** Of messages of the `book` channel. */
  readonly type?: string;
  readonly message?: string;
  readonly error?: string;
  /** Parsed twice, as clients do. */
  readonly data?: Record<string, unknown>;
}

/** Of what a client has seen, in the message of an error. */
const SEEN_CHARACTERS = 600;

export class FeedClient {
  readonly messages: FeedMessage[] = [];
  closed: { code: number; reason: string } | undefined;
  readonly #socket: WebSocket;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (bytes) => this.messages.push(parse(String(bytes))));
    socket.on('close', (code, reason) => {
      this.closed = { code, reason: String(reason) };
    });
  }

  static async connect(url: string): Promise<FeedClient> {
    const socket = new WebSocket(url);
    const client = new FeedClient(socket);
    await new Promise<void>((resolve, reject) => {
      socket.once('open', () => resolve());
      socket.once('error', reject);
    });
    return client;
  }

  send(message: unknown): void {
    this.#socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  /** First message from index `from` on that `accept` takes. Rejects as soon as the server has closed the connection. */
  async waitFor(
    what: string,
    accept: (message: FeedMessage) => boolean,
    from = 0,
    timeoutMs = PATIENCE_MS,
  ): Promise<FeedMessage> {
    const found = () => this.messages.slice(from).find(accept);
    const hasEnded = () => found() !== undefined || this.closed !== undefined;
    const cause: unknown = await eventually(what, hasEnded, timeoutMs).catch((error: unknown) => error);
    const message = found();
    if (message) return message;
    const seen = { closed: this.closed ?? null, messages: this.messages.length, last: this.messages.at(-1) };
    throw new Error(`${what}: ${JSON.stringify(seen).slice(0, SEEN_CHARACTERS)}`, { cause });
  }

  close(): void {
    this.#socket.close();
  }
}

function parse(text: string): FeedMessage {
  const message = JSON.parse(text) as Record<string, unknown>;
  return typeof message.data === 'string' ? { ...message, data: JSON.parse(message.data) } : message;
}
