// A WebSocket client that keeps everything it hears and holds it against the contract, for this room's tests.

import { type ClientOptions, WebSocket } from 'ws';
import { heardName } from './contracts.ts';
import { until } from './stage.ts';

export interface Heard {
  readonly channel?: string;
  readonly message?: string;
  readonly error?: string;
  readonly data?: string;
}

export class FeedClient {
  readonly heard: Heard[] = [];
  closed: { code: number; reason: string } | null = null;
  readonly socket: WebSocket;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (bytes, isBinary) => {
      if (isBinary) throw new Error('binary frame');
      const message = JSON.parse(bytes.toString()) as Heard & Record<string, unknown>;
      heardName('feed', message);
      this.heard.push(message);
    });
    socket.on('close', (code, reason) => {
      this.closed = { code, reason: reason.toString() };
    });
    socket.on('error', () => {});
  }

  /** Resolves when open; rejects when the upgrade is refused. */
  static async connect(url: string, options: ClientOptions = {}): Promise<FeedClient> {
    const client = new FeedClient(new WebSocket(url, options));
    await new Promise<void>((resolve, reject) => {
      client.socket.once('open', resolve);
      client.socket.once('error', reject);
    });
    return client;
  }

  send(message: unknown): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  /** Sends a subscribe for SOL-PERP with members replaced. */
  subscribe(members: Record<string, unknown> = {}): void {
    this.send({ type: 'subscribe', channel: 'orderbook', market: 'SOL-PERP', marketType: 'perp', ...members });
  }

  /** Data messages of a channel, parsed twice as clients do. */
  data<T>(channel: string): T[] {
    return this.heard
      .filter((one) => one.channel === channel && one.data !== undefined)
      .map((one) => JSON.parse(one.data ?? '') as T);
  }

  async hears(count: number): Promise<void> {
    await until(() => this.heard.length >= count);
  }

  /** Resolves when everything sent so far was answered: messages of one socket are handled in order. */
  async settle(): Promise<void> {
    const mark = `settle-${this.heard.length}-${Math.trunc(performance.now())}`;
    this.send({ type: 'unsubscribe', channel: mark, market: '', marketType: '' });
    await until(() => this.heard.some(({ channel }) => channel === mark));
    this.heard.splice(
      this.heard.findIndex(({ channel }) => channel === mark),
      1,
    );
  }
}
