// Streams of one connection on a channel. Most connections share a stable set with many others, so a connection has a
// copy of its own only while its subscriptions change.

import { TokenBucket } from '../../http/token-bucket.ts';
import type { Connection } from '../connection.ts';
import type { NamedStream } from './feed-stream.ts';
import { LOG_READ_RATE } from './limits.ts';
import type { BookSubscription } from './request.ts';
import type { Stream } from './stream.ts';
import { NO_SUBSCRIPTIONS, type SubscriptionSet } from './subscription-set.ts';

/** A subscription to every market. */
export interface Wildcard extends BookSubscription {
  /** Equal for equal choices. */
  readonly name: string;
}

/** Requested streams by name, the active ones among them, and the number requested of each market. */
interface Draft<S> {
  readonly requested: Map<string, S>;
  readonly active: Map<string, S>;
  readonly kinds: Map<string, number>;
}

const NO_WILDCARDS: readonly never[] = [];

export class Subscriber<S extends NamedStream = Stream, W extends { readonly name: string } = Wildcard> {
  readonly connection: Connection;
  wildcards: readonly W[] = NO_WILDCARDS;
  /** True when the connection is closed: nothing may be registered for it. */
  isClosed = false;
  #set: SubscriptionSet<S> = NO_SUBSCRIPTIONS;
  /** Replaces the shared set from a change on until all requested streams are active. */
  #draft: Draft<S> | null = null;
  #logReads: TokenBucket | null = null;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  /** Budget of changes that may be read back from the log for this client. */
  get logReads(): TokenBucket {
    this.#logReads ??= new TokenBucket(LOG_READ_RATE);
    return this.#logReads;
  }

  /** Requested streams by name; those not in `activeStreams` are pending. */
  get streams(): ReadonlyMap<string, S> {
    return this.#draft?.requested ?? this.#set.streams;
  }

  /** Streams whose messages this connection gets, by name. */
  get activeStreams(): ReadonlyMap<string, S> {
    return this.#draft?.active ?? this.#set.streams;
  }

  /** The shared set that it is served with: `activeStreams` at the last `settle`. */
  get subscriptionSet(): SubscriptionSet<S> {
    return this.#set;
  }

  /** Number of requested streams of one market. */
  kindsOf(marketKey: string): number {
    return (this.#draft ?? this.#set).kinds.get(marketKey) ?? 0;
  }

  /** Adds a requested stream; false when it was requested already. */
  add(stream: S): boolean {
    if (this.streams.has(stream.name)) return false;
    const { requested, kinds } = this.#change();
    requested.set(stream.name, stream);
    kinds.set(stream.market.key, this.kindsOf(stream.market.key) + 1);
    return true;
  }

  /** Removes a deactivated stream. */
  remove(stream: S): void {
    if (!this.streams.has(stream.name)) return;
    const { requested, kinds } = this.#change();
    requested.delete(stream.name);
    const left = this.kindsOf(stream.market.key) - 1;
    if (left > 0) kinds.set(stream.market.key, left);
    else kinds.delete(stream.market.key);
  }

  /** True when the stream was not active. */
  activate(stream: S): boolean {
    if (this.activeStreams.has(stream.name)) return false;
    this.#change().active.set(stream.name, stream);
    return true;
  }

  /** True when the stream was active. */
  deactivate(stream: S): boolean {
    return this.activeStreams.has(stream.name) && this.#change().active.delete(stream.name);
  }

  /** Takes the shared set that equals `activeStreams`. */
  settle(set: SubscriptionSet<S>): void {
    this.#set = set;
    if (this.#draft?.requested.size === this.#draft?.active.size) this.#draft = null;
  }

  /** Adds a wildcard in place of the one with its name. */
  putWildcard(wildcard: W): void {
    this.wildcards = [...this.wildcards.filter(({ name }) => name !== wildcard.name), wildcard];
  }

  #change(): Draft<S> {
    const { streams, kinds } = this.#set;
    this.#draft ??= { requested: new Map(streams), active: new Map(streams), kinds: new Map(kinds) };
    return this.#draft;
  }
}

/** A subscriber of any wildcards. */
export type SubscriberOf<S extends NamedStream> = Subscriber<S, { readonly name: string }>;
