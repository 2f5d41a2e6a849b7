// A set of active streams, shared by all connections with the same ones.

import type { Connection } from '../connection.ts';
import type { NamedStream } from './feed-stream.ts';

export class SubscriptionSet<S extends NamedStream> {
  /** By name. */
  readonly streams: ReadonlyMap<string, S>;
  /** Number of streams of each market. */
  readonly kinds: ReadonlyMap<string, number>;
  readonly members = new Set<Connection>();

  constructor(streams: ReadonlyMap<string, S>) {
    this.streams = streams;
    const kinds = new Map<string, number>();
    for (const { market } of streams.values()) kinds.set(market.key, (kinds.get(market.key) ?? 0) + 1);
    this.kinds = kinds;
  }
}

/** The set without streams; it lists no members. */
export const NO_SUBSCRIPTIONS = new SubscriptionSet(new Map<string, never>());
