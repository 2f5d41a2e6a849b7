// The sequenced channels of a gateway, as its sessions use them.

import type { Connection } from '../connection.ts';
import type { SequencedChannel } from '../requests.ts';
import { SHUTDOWN_GRACE_MS } from './limits.ts';

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

/** Several feeds that share connections. */
export class FeedGroup {
  readonly #all: readonly SequencedFeed[];

  constructor(feeds: readonly SequencedFeed[]) {
    this.#all = feeds;
  }

  /** Connections that use any of the feeds, once each. */
  get connections(): ReadonlySet<Connection> {
    return new Set(this.#all.flatMap(({ connections }) => [...connections]));
  }

  drained(connection: Connection): void {
    for (const feed of this.#all) feed.drained(connection);
  }

  closed(connection: Connection): void {
    for (const feed of this.#all) feed.closed(connection);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#all.map((feed) => feed.stop()));
  }
}

/** The feeds of all sequenced channels. */
export class Feeds extends FeedGroup {
  readonly #feeds: Readonly<Record<SequencedChannel, SequencedFeed>>;

  constructor(feeds: Readonly<Record<SequencedChannel, SequencedFeed>>) {
    super(Object.values(feeds));
    this.#feeds = feeds;
  }

  channel(name: SequencedChannel): SequencedFeed {
    return this.#feeds[name];
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
}
