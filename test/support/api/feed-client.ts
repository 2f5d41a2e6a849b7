// A WebSocket client that stores every received message and checks it against the contract.

import { type ClientOptions, WebSocket } from 'ws';
import { checkedName } from './contracts.ts';
import { JsonSocket } from './json-socket.ts';
import { until } from './stage.ts';

export interface ReceivedMessage {
  readonly channel?: string;
  readonly message?: string;
  readonly error?: string;
  readonly data?: string;
}

export class FeedClient extends JsonSocket<ReceivedMessage> {
  private constructor(socket: WebSocket) {
    super(socket, (message) => checkedName('feed', message));
  }

  /** Resolves when open. Rejects when the server refuses the upgrade. */
  static connect(url: string, options: ClientOptions = {}): Promise<FeedClient> {
    return new FeedClient(new WebSocket(url, options)).opened();
  }

  /** Subscribes to SOL-PERP. `members` replace the defaults. */
  subscribe(members: Record<string, unknown> = {}): void {
    this.send({ type: 'subscribe', channel: 'orderbook', market: 'SOL-PERP', marketType: 'perp', ...members });
  }

  /** Data messages of a channel, parsed twice like clients do. */
  data<T>(channel: string): T[] {
    return this.received
      .filter((one) => one.channel === channel && one.data !== undefined)
      .map((one) => JSON.parse(one.data ?? '') as T);
  }

  async waitForCount(count: number): Promise<void> {
    await until(() => this.received.length >= count);
  }

  /** Resolves when the server has answered everything sent so far. It handles messages of one socket in order. */
  async settle(): Promise<void> {
    const mark = `settle-${this.received.length}-${Math.trunc(performance.now())}`;
    this.send({ type: 'unsubscribe', channel: mark, market: '', marketType: '' });
    await until(() => this.received.some(({ channel }) => channel === mark));
    this.received.splice(
      this.received.findIndex(({ channel }) => channel === mark),
      1,
    );
  }
}
