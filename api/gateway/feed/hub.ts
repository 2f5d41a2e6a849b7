// The subscribers of one channel of numbered streams: who gets which stream, from where, and the channel's heartbeat.

import type { EventLog, Logger } from '../../../platform/index.ts';
import type { BookVersion } from '../../../schemas/index.ts';
import type { Connection } from '../connection.ts';
import type { FeedStream } from './feed-stream.ts';
import { type ChainSight, FeedHeartbeat } from './heartbeat.ts';
import { LogHistory, type Older } from './log-history.ts';
import type { LogSource } from './log-search.ts';
import type { FeedMetrics } from './metrics.ts';
import { PendingSubscriptions } from './pending-subscriptions.ts';
import { Subscriber } from './subscriber.ts';
import { SubscriptionSets } from './subscription-sets.ts';

export interface Frame {
  readonly name: string;
  readonly frame: Buffer;
}

export interface FeedHubOptions<S, O> {
  /** Member `channel` of the messages. */
  readonly channel: string;
  readonly followsSlots: boolean;
  readonly source: LogSource<O>;
  readonly log: EventLog;
  readonly logger: Logger;
  readonly metrics: FeedMetrics;
  readonly chain: () => ChainSight;
  /** Monotonic milliseconds. */
  readonly clock: () => number;
  /** The last subscriber has left a stream. */
  readonly close: (stream: S) => void;
}

/** `W`: subscriptions to every market. `O`, `G`: see FeedStream. */
export class FeedHub<S extends FeedStream<O, G>, W extends { readonly name: string }, O extends Older, G> {
  readonly subscribers = new Map<Connection, Subscriber<S, W>>();
  readonly #sets = new SubscriptionSets<S>();
  readonly #pending: PendingSubscriptions<S, O, G>;
  readonly #heartbeat: FeedHeartbeat<S>;
  readonly #close: (stream: S) => void;

  constructor(options: FeedHubOptions<S, O>) {
    const { channel, followsSlots, source, log, logger, metrics, chain, clock, close } = options;
    this.#close = close;
    const { subscribers } = this;
    this.#heartbeat = new FeedHeartbeat({ channel, followsSlots, subscribers, sets: this.#sets, chain, clock });
    this.#pending = new PendingSubscriptions({
      channel,
      history: new LogHistory({ source, log, logger, clock }),
      metrics,
      logger,
      clock,
      publish: ({ name }, frame) => this.#sets.send([{ name, frame }]),
      activate: (subscriber, stream) => this.#sets.activate(subscriber, stream),
    });
  }

  /** Connections that use this channel. */
  get connections(): Iterable<Connection> {
    return this.subscribers.keys();
  }

  /** The subscriber of a connection, which `register` keeps. */
  subscriberOf(connection: Connection): Subscriber<S, W> {
    return this.subscribers.get(connection) ?? new Subscriber(connection);
  }

  register(subscriber: Subscriber<S, W>): void {
    this.subscribers.set(subscriber.connection, subscriber);
    this.#heartbeat.start();
  }

  /** Counts the subscriber among those of a stream. */
  open(subscriber: Subscriber<S, W>, stream: S): S {
    if (subscriber.add(stream)) stream.subscriberCount += 1;
    return stream;
  }

  /** Starts or restarts a stream for a subscriber, from `version` or with a snapshot. */
  begin(subscriber: Subscriber<S, W>, stream: S, version: BookVersion | null): void {
    if (subscriber.isClosed) return;
    this.#sets.deactivate(subscriber, stream);
    this.#pending.start(subscriber, stream, version);
  }

  leave(subscriber: Subscriber<S, W>, stream: S): void {
    this.#pending.cancel(subscriber, stream);
    this.#sets.deactivate(subscriber, stream);
    subscriber.remove(stream);
    this.#release(stream);
  }

  /** Removes a connection without streams and wildcards. */
  forgetIdle(subscriber: Subscriber<S, W>): void {
    if (subscriber.streams.size > 0 || subscriber.wildcards.length > 0) return;
    this.#sets.forget(subscriber);
    this.subscribers.delete(subscriber.connection);
  }

  /** Sends frames to the subscribers of their streams, then serves those who waited for the moved streams. */
  send(frames: readonly Frame[], moved: Iterable<S>): void {
    if (frames.length > 0) this.#sets.send(frames);
    for (const stream of moved) this.#pending.moved(stream);
  }

  /** Call when a connection has read some of its unread bytes. */
  drained(connection: Connection): void {
    const subscriber = this.subscribers.get(connection);
    if (subscriber) this.#pending.drained(subscriber);
  }

  /** Removes a closed connection. */
  closed(connection: Connection): void {
    const subscriber = this.subscribers.get(connection);
    if (!subscriber) return;
    subscriber.isClosed = true;
    this.#pending.cancelAll(subscriber);
    this.#sets.forget(subscriber);
    for (const stream of subscriber.streams.values()) this.#release(stream);
    this.subscribers.delete(connection);
  }

  stop(): void {
    this.#pending.stop();
    this.#heartbeat.stop();
  }

  /** Removes one subscriber of a stream; the last one closes it. */
  #release(stream: S): void {
    stream.subscriberCount -= 1;
    if (stream.subscriberCount === 0) this.#close(stream);
  }
}
