// The sequenced channels of a gateway, as its sessions use them.

import type { Connection } from '../connection.ts';
import { SHUTDOWN_GRACE_MS } from './limits.ts';

export const SEQUENCED_CHANNELS = ['book', 'trades.v2', 'account'] as const;
export type SequencedChannel = (typeof SEQUENCED_CHANNELS)[number];

export interface SequencedFeed {
  /** Answers a message to the channel; `action` is its type. */
  request(
    connection: Connection,
    action: 'subscribe' | 'unsubscribe',
    message: Readonly<Record<string, unknown>>,
  ): void;
  /** Connections that use this channel. */
  readonly connections: Iterable<Connection>;
  /** Call when a connection has read some of its unread bytes. */
  drained(connection: Connection): void;
  /** Removes a closed connection. */
  closed(connection: Connection): void;
  stop(): void | Promise<void>;
}

export class Feeds {
  readonly #feeds: Readonly<Record<SequencedChannel, SequencedFeed>>;

  constructor(feeds: Readonly<Record<SequencedChannel, SequencedFeed>>) {
    this.#feeds = feeds;
  }

  channel(name: SequencedChannel): SequencedFeed {
    return this.#feeds[name];
  }

  /** Connections that use any of the channels, once each. */
  get connections(): ReadonlySet<Connection> {
    return new Set(this.#all.flatMap(({ connections }) => [...connections]));
  }

  drained(connection: Connection): void {
    for (const feed of this.#all) feed.drained(connection);
  }

  closed(connection: Connection): void {
    for (const feed of this.#all) feed.closed(connection);
  }

  /** Announces the close to every connection of these channels. Returns the milliseconds until the close; 0 = no connection. */
  announceShutdown(): number {
    const { connections } = this;
    if (connections.size === 0) return 0;
    const notice = { channel: 'server', type: 'serverShutdown', closesInMs: SHUTDOWN_GRACE_MS };
    const frame = Buffer.from(JSON.stringify(notice));
    for (const connection of connections) connection.send([frame]);
    return SHUTDOWN_GRACE_MS;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#all.map((feed) => feed.stop()));
  }

  get #all(): readonly SequencedFeed[] {
    return Object.values(this.#feeds);
  }
}
