// The `book` channel: sequenced, checkable, resumable books on the gateway's socket, beside the compatible channels.

import type { EventLog, Logger } from '../../../platform/index.ts';
import { marketKey, parseMarketKey } from '../../../schemas/index.ts';
import type { AppliedRecord, BookReader } from '../../views/book-reader.ts';
import type { Connection } from '../connection.ts';
import { type Acknowledgement, acknowledge, matchesTarget, refuse } from './answers.ts';
import type { Backfill } from './backfill.ts';
import type { SequencedFeed } from './feeds.ts';
import { FeedHub, type Frame } from './hub.ts';
import { MAX_KINDS_PER_CONNECTION, MAX_STREAMS, MAX_WILDCARDS, WILDCARDS_SHARED } from './limits.ts';
import { MarketFeed } from './market-feed.ts';
import type { FeedMetrics } from './metrics.ts';
import { BOOK_CHANGES, type OlderDiffs } from './older-diffs.ts';
import {
  type BookSubscription,
  type BookUnsubscription,
  type RequestId,
  readBookRequest,
  resumeVersionOf,
  type StreamSpec,
  streamName,
  type Target,
} from './request.ts';
import type { RingSpace } from './ring.ts';
import type { Stream } from './stream.ts';
import type { Subscriber, Wildcard } from './subscriber.ts';
import { Ticks } from './ticks.ts';

export interface BookFeedOptions {
  readonly reader: BookReader;
  readonly log: EventLog;
  readonly logger: Logger;
  readonly metrics: FeedMetrics;
  /** Newest slot of the chain that ingest has read; null while unknown. */
  readonly chainSlot?: () => number | null;
  /** Monotonic milliseconds. */
  readonly clock?: () => number;
  /** Memory of the rings of all markets. */
  readonly rings?: RingSpace;
  /** Numbers the streams of all books of a gateway. */
  readonly streamNumbers?: StreamNumbers;
}

/** The last number that a stream got. */
export interface StreamNumbers {
  last: number;
}

export class BookFeed implements SequencedFeed {
  readonly #options: BookFeedOptions;
  readonly #hub: FeedHub<Stream, Wildcard, OlderDiffs, Backfill>;
  readonly #ticks: Ticks<Stream>;
  readonly #markets = new Map<string, MarketFeed>();
  /** Wildcards without resume versions, shared by all connections with equal choices. */
  readonly #wildcards = new Map<string, Wildcard>();
  readonly #unlisten: readonly (() => void)[];
  /** Frames of the current batch; they leave together. */
  #frames: Frame[] = [];
  /** Streams that the current batch has moved. */
  #moved: Stream[] = [];
  readonly #rings: RingSpace;
  readonly #streamNumbers: StreamNumbers;

  constructor(options: BookFeedOptions) {
    const { reader, log, logger, metrics, clock = () => performance.now(), rings = { bytes: 0 } } = options;
    const { chainSlot = () => null } = options;
    this.#options = options;
    this.#rings = rings;
    this.#streamNumbers = options.streamNumbers ?? { last: 0 };
    this.#hub = new FeedHub({
      channel: 'book',
      followsSlots: true,
      source: BOOK_CHANGES,
      log,
      logger,
      metrics,
      chain: () => ({ headSlot: newest(chainSlot(), reader.newestSlot), ts: reader.now() }),
      clock,
      close: (stream) => this.#markets.get(stream.market.key)?.release(stream),
    });
    this.#ticks = new Ticks((streams) => this.#tick(streams), clock);
    for (const market of reader.markets.list()) this.#market(marketKey(market));
    this.#unlisten = [
      reader.onRecord((record) => this.#take(record)),
      reader.onChange(() => this.#sendBatch()),
      reader.markets.onNamed((key, before) => this.#named(key, before)),
    ];
  }

  /** Answers a message to the `book` channel; `action` is its type. */
  request(
    connection: Connection,
    action: 'subscribe' | 'unsubscribe',
    message: Readonly<Record<string, unknown>>,
  ): void {
    const request = readBookRequest(action, message, this.#options.reader.markets);
    if (request.is === 'error') refuse(connection, 'book', request.code, { id: request.id });
    else if (request.is === 'subscribe') this.#subscribe(connection, request);
    else this.#unsubscribe(connection, request);
  }

  /** Connections that use this channel. */
  get connections(): Iterable<Connection> {
    return this.#hub.connections;
  }

  /** Call when a connection has read some of its unread bytes. */
  drained(connection: Connection): void {
    this.#hub.drained(connection);
  }

  /** Removes a closed connection. */
  closed(connection: Connection): void {
    this.#hub.closed(connection);
  }

  stop(): void {
    for (const unlisten of this.#unlisten) unlisten();
    this.#ticks.stop();
    this.#hub.stop();
  }

  #take(record: AppliedRecord): void {
    const market = this.#market(record.key);
    market.apply(record);
    for (const stream of market.streams.values()) {
      const { conflationMs } = stream.spec;
      if (conflationMs > 0) this.#ticks.add(stream, conflationMs);
      else this.#flush(stream);
    }
  }

  /** A book may arrive before the first name of its market (see `Stream.snapshot`); any other name needs a new snapshot. */
  #named(key: string, before: string | null): void {
    const streams = [...(this.#markets.get(key)?.streams.values() ?? [])];
    if (before === null) {
      this.#hub.send([], streams);
      return;
    }
    for (const stream of streams) {
      if (stream.sent === null) continue;
      stream.restart();
      this.#flush(stream);
    }
    this.#sendBatch();
  }

  #flush(stream: Stream): void {
    // All subscribers left while the stream waited for its tick; a new stream may have its name.
    if (stream.subscriberCount === 0) return;
    const frame = stream.flush();
    this.#moved.push(stream);
    if (frame) this.#frames.push({ name: stream.name, frame });
  }

  #tick(streams: ReadonlySet<Stream>): void {
    for (const stream of streams) this.#flush(stream);
    this.#sendBatch();
  }

  #sendBatch(): void {
    const frames = this.#frames;
    const moved = this.#moved;
    this.#frames = [];
    this.#moved = [];
    this.#hub.send(frames, moved);
  }

  #market(key: string): MarketFeed {
    const { reader, metrics } = this.#options;
    const known = this.#markets.get(key);
    if (known) return known;
    const nextId = () => ++this.#streamNumbers.last;
    const market = new MarketFeed(key, parseMarketKey(key), reader, metrics, nextId, this.#rings);
    this.#markets.set(key, market);
    this.#addToWildcards(market);
    return market;
  }

  /** Adds a new market to every matching wildcard, or refuses where it does not fit. */
  #addToWildcards(market: MarketFeed): void {
    for (const subscriber of this.#hub.subscribers.values()) {
      for (const { target, spec, resumeVersions } of subscriber.wildcards) {
        if (!matchesTarget(target, market) || subscriber.isClosed) continue;
        const name = streamName(market, spec);
        const isOpen = subscriber.streams.has(name);
        if (!isOpen && (subscriber.streams.size >= MAX_STREAMS || !mayOpen(subscriber, market, spec))) {
          refuse(subscriber.connection, 'book', 'limit', { stream: name });
          continue;
        }
        const stream = this.#hub.open(subscriber, market.stream(spec));
        this.#hub.begin(subscriber, stream, resumeVersionOf(resumeVersions, name));
      }
    }
  }

  #subscribe(connection: Connection, { id, ...subscription }: BookSubscription & { readonly id: RequestId }): void {
    const { target, spec, resumeVersions } = subscription;
    const subscriber = this.#hub.subscriberOf(connection);
    const markets = this.#targeted(target);
    const fresh = markets.filter((market) => !subscriber.streams.has(streamName(market, spec)));
    const name = wildcardName(subscription);
    const isFull =
      subscriber.streams.size + fresh.length > MAX_STREAMS ||
      ('every' in target && subscriber.wildcards.filter((held) => held.name !== name).length >= MAX_WILDCARDS);
    if (isFull || !fresh.every((market) => mayOpen(subscriber, market, spec))) {
      refuse(connection, 'book', 'limit', { id });
      return;
    }
    this.#hub.register(subscriber);
    // Streams open before the answer is sent: sending may close a lagging client, and closing must find its streams.
    const streams = markets.map((market) => this.#hub.open(subscriber, market.stream(spec)));
    if ('every' in target) subscriber.putWildcard(this.#wildcard(name, subscription, subscriber.streams));
    const names = streams.map((stream) => stream.name);
    this.#acknowledge(connection, { type: 'subscribed', id, target, streams: names });
    for (const stream of streams) this.#hub.begin(subscriber, stream, resumeVersionOf(resumeVersions, stream.name));
  }

  /** The stored form of a wildcard: resume versions only of streams that do not exist yet. */
  #wildcard(
    name: string,
    { target, spec, resumeVersions }: BookSubscription,
    held: ReadonlyMap<string, Stream>,
  ): Wildcard {
    const left = resumeVersions instanceof Map ? [...resumeVersions].filter(([stream]) => !held.has(stream)) : [];
    if (left.length > 0) return { name, target, spec, resumeVersions: new Map(left) };
    const shared = this.#wildcards.get(name) ?? { name, target, spec, resumeVersions: null };
    if (this.#wildcards.size >= WILDCARDS_SHARED) this.#wildcards.clear();
    this.#wildcards.set(name, shared);
    return shared;
  }

  #unsubscribe(connection: Connection, { id, target, spec }: BookUnsubscription & { readonly id: RequestId }): void {
    const subscriber = this.#hub.subscribers.get(connection);
    const ended: string[] = [];
    for (const stream of [...(subscriber?.streams.values() ?? [])]) {
      if (!subscriber || !matchesTarget(target, stream.market) || !matchesSpec(spec, stream.spec)) continue;
      this.#hub.leave(subscriber, stream);
      ended.push(stream.name);
    }
    if (subscriber && 'every' in target) {
      subscriber.wildcards = subscriber.wildcards.filter((wildcard) => {
        const isCovered =
          'every' in wildcard.target && wildcard.target.every.every((type) => target.every.includes(type));
        return !isCovered || !matchesSpec(spec, wildcard.spec);
      });
    }
    if (subscriber) this.#hub.forgetIdle(subscriber);
    this.#acknowledge(connection, { type: 'unsubscribed', id, target, streams: ended });
  }

  #acknowledge(connection: Connection, answer: Omit<Acknowledgement, 'channel'>): void {
    acknowledge(connection, this.#options.reader.markets, { channel: 'book', ...answer });
  }

  #targeted(target: Target): MarketFeed[] {
    if ('market' in target) return [this.#market(marketKey(target.market))];
    return [...this.#markets.values()].filter((market) => matchesTarget(target, market));
  }
}

function newest(left: number | null, right: number | null): number | null {
  return left === null || right === null ? (left ?? right) : Math.max(left, right);
}

function mayOpen(subscriber: Subscriber, market: MarketFeed, spec: StreamSpec): boolean {
  return subscriber.kindsOf(market.key) < MAX_KINDS_PER_CONNECTION && market.admits(spec);
}

function matchesSpec(filter: BookUnsubscription['spec'], spec: StreamSpec): boolean {
  const { level, depth, conflationMs, checksumLevels, hasCause } = filter;
  return (
    (level ?? spec.level) === spec.level &&
    (depth ?? spec.depth) === spec.depth &&
    (conflationMs ?? spec.conflationMs) === spec.conflationMs &&
    (checksumLevels ?? spec.checksumLevels) === spec.checksumLevels &&
    (hasCause ?? spec.hasCause) === spec.hasCause
  );
}

function wildcardName({ target, spec }: BookSubscription): string {
  return JSON.stringify([target, spec]);
}
