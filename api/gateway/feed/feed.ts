// The `book` channel: sequenced, checkable, resumable books on the gateway's socket, beside the compatible channels.

import type { EventLog, Logger } from '../../../platform/index.ts';
import { type BookPosition, type MarketRef, marketKey, parseMarketKey } from '../../../schemas/index.ts';
import { BOOK_FEED_ERRORS, type BookFeedErrorCode } from '../../errors.ts';
import type { AppliedRecord, BookReader } from '../../views/book-reader.ts';
import type { Connection } from '../connection.ts';
import { FeedHeartbeat } from './heartbeat.ts';
import { Holdings } from './holdings.ts';
import { Joins } from './joins.ts';
import { MAX_KINDS_PER_CONNECTION, MAX_STREAMS, MAX_WILDCARDS, SHUTDOWN_GRACE_MS, WILDCARDS_SHARED } from './limits.ts';
import { LogHistory } from './log-history.ts';
import { MarketFeed } from './market-feed.ts';
import type { FeedMetrics } from './metrics.ts';
import {
  type BookSubscription,
  type BookUnsubscription,
  positionIn,
  type RequestId,
  readBookRequest,
  type StreamSpec,
  streamName,
  type Target,
} from './request.ts';
import type { RingSpace } from './ring.ts';
import type { Stream } from './stream.ts';
import { Subscriber, type Wildcard } from './subscriber.ts';
import { Ticks } from './ticks.ts';

export interface BookFeedOptions {
  readonly reader: BookReader;
  readonly log: EventLog;
  readonly logger: Logger;
  readonly metrics: FeedMetrics;
  /** Monotonic milliseconds. */
  readonly clock?: () => number;
  /** What the rings of all markets take. */
  readonly rings?: RingSpace;
}

interface Frame {
  readonly name: string;
  readonly frame: Buffer;
}

export class BookFeed {
  readonly #options: BookFeedOptions;
  readonly #holdings = new Holdings();
  readonly #joins: Joins;
  readonly #heartbeat: FeedHeartbeat;
  readonly #ticks: Ticks<Stream>;
  readonly #markets = new Map<string, MarketFeed>();
  readonly #subscribers = new Map<Connection, Subscriber>();
  /** Wildcards without positions, shared by all that made the same choices. */
  readonly #wildcards = new Map<string, Wildcard>();
  readonly #unlisten: readonly (() => void)[];
  /** Messages of the batch under way; they leave together. */
  #frames: Frame[] = [];
  /** Streams that the batch under way has moved. */
  #moved: Stream[] = [];
  #lastStreamId = 0;
  readonly #rings: RingSpace;

  constructor(options: BookFeedOptions) {
    const { reader, log, logger, metrics, clock = () => performance.now(), rings = { bytes: 0 } } = options;
    this.#options = options;
    this.#rings = rings;
    this.#heartbeat = new FeedHeartbeat(this.#subscribers, this.#holdings, clock);
    this.#ticks = new Ticks((streams) => this.#tick(streams), clock);
    this.#joins = new Joins({
      history: new LogHistory({ log, logger, clock }),
      metrics,
      logger,
      clock,
      publish: ({ name }, frame) => this.#holdings.send([{ name, frame }]),
      enter: (subscriber, stream) => this.#holdings.join(subscriber, stream),
    });
    for (const market of reader.markets.list()) this.#market(marketKey(market));
    this.#unlisten = [reader.onRecord((record) => this.#take(record)), reader.onChange(() => this.#sendBatch())];
  }

  /** Answers a message to the `book` channel; `action` is its type. */
  request(
    connection: Connection,
    action: 'subscribe' | 'unsubscribe',
    message: Readonly<Record<string, unknown>>,
  ): void {
    const request = readBookRequest(action, message, this.#options.reader.markets);
    if (request.is === 'error') refuse(connection, request.code, request.id);
    else if (request.is === 'subscribe') this.#subscribe(connection, request);
    else this.#unsubscribe(connection, request);
  }

  /** Connections that use this channel. */
  get connections(): Iterable<Connection> {
    return this.#subscribers.keys();
  }

  /** To be called when a connection has read some of what it had unread. */
  drained(connection: Connection): void {
    const subscriber = this.#subscribers.get(connection);
    if (subscriber) this.#joins.drained(subscriber);
  }

  /** Forgets a connection that is gone. */
  closed(connection: Connection): void {
    const subscriber = this.#subscribers.get(connection);
    if (!subscriber) return;
    subscriber.isClosed = true;
    this.#joins.cancelAll(subscriber);
    this.#holdings.forget(subscriber);
    for (const stream of subscriber.streams.values()) this.#release(stream);
    this.#subscribers.delete(connection);
  }

  /** Tells every connection of this channel that it will be closed. Returns after how many milliseconds; 0 = none. */
  announceShutdown(): number {
    if (this.#subscribers.size === 0) return 0;
    const notice = { channel: 'server', type: 'serverShutdown', closesInMs: SHUTDOWN_GRACE_MS };
    const frame = Buffer.from(JSON.stringify(notice));
    for (const connection of [...this.#subscribers.keys()]) connection.send([frame]);
    return SHUTDOWN_GRACE_MS;
  }

  stop(): void {
    for (const unlisten of this.#unlisten) unlisten();
    this.#ticks.stop();
    this.#joins.stop();
    this.#heartbeat.stop();
  }

  #take(record: AppliedRecord): void {
    const market = this.#market(record.key);
    market.take(record);
    for (const stream of market.streams.values()) {
      const { conflationMs } = stream.spec;
      if (conflationMs > 0) this.#ticks.add(stream, conflationMs);
      else this.#flush(stream);
    }
  }

  #flush(stream: Stream): void {
    // One that was left since it began to wait; another of its name may have taken its place.
    if (stream.holders === 0) return;
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
    if (frames.length > 0) this.#holdings.send(frames);
    for (const stream of moved) this.#joins.moved(stream);
  }

  #market(key: string): MarketFeed {
    const { reader, metrics } = this.#options;
    const known = this.#markets.get(key);
    if (known) return known;
    const market = new MarketFeed(key, parseMarketKey(key), reader, metrics, () => ++this.#lastStreamId, this.#rings);
    this.#markets.set(key, market);
    this.#openTo(market);
    return market;
  }

  /** A market has appeared: whoever asked for every market gets it too. */
  #openTo(market: MarketFeed): void {
    for (const subscriber of this.#subscribers.values()) {
      for (const { target, spec, positions } of subscriber.wildcards) {
        if (!isMeant(target, market) || subscriber.isClosed) continue;
        const name = streamName(market, spec);
        const isHeld = subscriber.streams.has(name);
        if (!isHeld && (subscriber.streams.size >= MAX_STREAMS || !mayOpen(subscriber, market, spec))) continue;
        this.#begin(subscriber, this.#hold(subscriber, market, spec), positionIn(positions, name));
      }
    }
  }

  #subscribe(connection: Connection, { id, ...subscription }: BookSubscription & { readonly id: RequestId }): void {
    const { target, spec, positions } = subscription;
    const subscriber = this.#subscribers.get(connection) ?? new Subscriber(connection);
    const markets = this.#meant(target);
    const fresh = markets.filter((market) => !subscriber.streams.has(streamName(market, spec)));
    const name = wildcardName(subscription);
    const isFull =
      subscriber.streams.size + fresh.length > MAX_STREAMS ||
      ('every' in target && subscriber.wildcards.filter((held) => held.name !== name).length >= MAX_WILDCARDS);
    if (isFull || !fresh.every((market) => mayOpen(subscriber, market, spec))) {
      refuse(connection, 'limit', id);
      return;
    }
    this.#subscribers.set(connection, subscriber);
    this.#heartbeat.start();
    // Held before anything is sent: a client that has too much unread is gone when the answer was, with all that it holds.
    const streams = markets.map((market) => this.#hold(subscriber, market, spec));
    if ('every' in target) subscriber.putWildcard(this.#wildcard(name, subscription, subscriber.streams));
    this.#confirm(
      connection,
      'subscribed',
      id,
      target,
      streams.map((stream) => stream.name),
    );
    for (const stream of streams) this.#begin(subscriber, stream, positionIn(positions, stream.name));
  }

  /** What is kept of a subscription to every market: positions only of streams that are not there yet. */
  #wildcard(name: string, { target, spec, positions }: BookSubscription, held: ReadonlyMap<string, Stream>): Wildcard {
    const left = positions instanceof Map ? [...positions].filter(([stream]) => !held.has(stream)) : [];
    if (left.length > 0) return { name, target, spec, positions: new Map(left) };
    const shared = this.#wildcards.get(name) ?? { name, target, spec, positions: null };
    if (this.#wildcards.size >= WILDCARDS_SHARED) this.#wildcards.clear();
    this.#wildcards.set(name, shared);
    return shared;
  }

  /** The stream of these choices, which from now on lives for this subscriber too. */
  #hold(subscriber: Subscriber, market: MarketFeed, spec: StreamSpec): Stream {
    const stream = market.stream(spec);
    if (subscriber.hold(stream)) stream.holders += 1;
    return stream;
  }

  /** Begins a held stream; one that was begun before begins anew. */
  #begin(subscriber: Subscriber, stream: Stream, position: BookPosition | null): void {
    if (subscriber.isClosed) return;
    this.#holdings.leave(subscriber, stream);
    this.#joins.start(subscriber, stream, position);
  }

  #unsubscribe(connection: Connection, { id, target, spec }: BookUnsubscription & { readonly id: RequestId }): void {
    const subscriber = this.#subscribers.get(connection);
    const ended: string[] = [];
    for (const stream of [...(subscriber?.streams.values() ?? [])]) {
      if (!subscriber || !isMeant(target, stream.market) || !isSpecMeant(spec, stream.spec)) continue;
      this.#leave(subscriber, stream);
      ended.push(stream.name);
    }
    if (subscriber && 'every' in target) {
      subscriber.wildcards = subscriber.wildcards.filter((wildcard) => {
        const isCovered =
          'every' in wildcard.target && wildcard.target.every.every((type) => target.every.includes(type));
        return !isCovered || !isSpecMeant(spec, wildcard.spec);
      });
    }
    if (subscriber && subscriber.streams.size === 0 && subscriber.wildcards.length === 0) {
      this.#holdings.forget(subscriber);
      this.#subscribers.delete(connection);
    }
    this.#confirm(connection, 'unsubscribed', id, target, ended);
  }

  #leave(subscriber: Subscriber, stream: Stream): void {
    this.#joins.cancel(subscriber, stream);
    this.#holdings.leave(subscriber, stream);
    subscriber.release(stream);
    this.#release(stream);
  }

  /** One holder fewer; the last one takes the stream along. */
  #release(stream: Stream): void {
    stream.holders -= 1;
    if (stream.holders === 0) this.#markets.get(stream.market.key)?.release(stream);
  }

  #meant(target: Target): MarketFeed[] {
    if ('market' in target) return [this.#market(marketKey(target.market))];
    return [...this.#markets.values()].filter((market) => isMeant(target, market));
  }

  #confirm(
    connection: Connection,
    type: 'subscribed' | 'unsubscribed',
    id: RequestId,
    target: Target,
    streams: readonly string[],
  ): void {
    const every = 'every' in target;
    const market = every ? '*' : (this.#options.reader.markets.get(target.market)?.symbol.toUpperCase() ?? '');
    const [type0, type1] = every ? target.every : [target.market.marketType];
    const marketType = type1 === undefined ? type0 : '*';
    connection.send([JSON.stringify({ channel: 'book', type, id, market, marketType, streams })]);
  }
}

function refuse(connection: Connection, code: BookFeedErrorCode, id: RequestId): void {
  const { text, retry } = BOOK_FEED_ERRORS[code];
  connection.send([JSON.stringify({ channel: 'book', type: 'error', code, error: text, retry, id })]);
}

function mayOpen(subscriber: Subscriber, market: MarketFeed, spec: StreamSpec): boolean {
  return subscriber.kindsOf(market.key) < MAX_KINDS_PER_CONNECTION && market.admits(spec);
}

function isMeant(target: Target, { marketType, marketIndex }: MarketRef): boolean {
  if ('every' in target) return target.every.includes(marketType);
  return target.market.marketType === marketType && target.market.marketIndex === marketIndex;
}

function isSpecMeant(wanted: BookUnsubscription['spec'], spec: StreamSpec): boolean {
  const { level, depth, conflationMs, checksumLevels } = wanted;
  return (
    (level ?? spec.level) === spec.level &&
    (depth ?? spec.depth) === spec.depth &&
    (conflationMs ?? spec.conflationMs) === spec.conflationMs &&
    (checksumLevels ?? spec.checksumLevels) === spec.checksumLevels
  );
}

function wildcardName({ target, spec }: BookSubscription): string {
  return JSON.stringify([target, spec]);
}
