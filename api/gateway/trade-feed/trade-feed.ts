// The `trades.v2` channel at one commitment: every fill with a number, so that a client sees what is missing and resumes there.

import { type Commitment, type EventLog, type Logger, readToEnd } from '../../../platform/index.ts';
import { marketKey, TOPICS, type TradeView } from '../../../schemas/index.ts';
import type { MarketRegistry } from '../../views/registry.ts';
import type { Connection } from '../connection.ts';
import { acknowledge, matchesTarget, refuse } from '../feed/answers.ts';
import type { SequencedFeed } from '../feed/feeds.ts';
import type { ChainSight } from '../feed/heartbeat.ts';
import { FeedHub, type Frame } from '../feed/hub.ts';
import { MAX_STREAMS, MAX_WILDCARDS } from '../feed/limits.ts';
import type { FeedMetrics } from '../feed/metrics.ts';
import { numberedRecords, type OlderRecords } from '../feed/older-records.ts';
import { RecordStream } from '../feed/record-stream.ts';
import { type ResumeVersions, resumeVersionOf, type Target } from '../feed/request.ts';
import type { RingSpace } from '../feed/ring.ts';
import { readTradeRequest, type TradeRequest } from './request.ts';
import { MarketTrades, type NumberedTradeRecord, numberedRecord, type TradeStream } from './trade-stream.ts';

export interface TradeFeedOptions {
  readonly commitment?: Commitment;
  /** The log at this commitment. */
  readonly log: EventLog;
  readonly logger: Logger;
  readonly metrics: FeedMetrics;
  readonly markets: MarketRegistry;
  /** Memory of the rings of all channels. */
  readonly rings: RingSpace;
  /** Numbers of the streams of a connection; feeds on one connection share it. */
  readonly streamNumbers?: { last: number };
  /** JSON text of a fill. */
  readonly render: (trade: TradeView) => string;
  readonly chain: () => ChainSight;
  /** Monotonic milliseconds. */
  readonly clock?: () => number;
}

/** A record of `views.trades`, decoded. */
export interface TradeRecord {
  readonly record: NumberedTradeRecord;
  readonly bytes: Uint8Array;
  readonly offset: bigint;
}

/** A subscription to every market of these types. */
interface TradeWildcard {
  readonly name: string;
  readonly target: Extract<Target, { every: unknown }>;
  readonly resumeVersions: ResumeVersions;
}

type Subscribe = Extract<TradeRequest, { is: 'subscribe' }>;
type Unsubscribe = Extract<TradeRequest, { is: 'unsubscribe' }>;

export class TradeFeed implements SequencedFeed {
  readonly #options: TradeFeedOptions;
  readonly #hub: FeedHub<TradeStream, TradeWildcard, OlderRecords, never>;
  /** By market key. */
  readonly #streams = new Map<string, TradeStream>();
  readonly #streamNumbers: { last: number };
  readonly #unlisten: () => void;

  constructor(options: TradeFeedOptions) {
    const { log, logger, metrics, chain, clock = () => performance.now() } = options;
    this.#options = options;
    this.#streamNumbers = options.streamNumbers ?? { last: 0 };
    this.#hub = new FeedHub({
      channel: 'trades.v2',
      followsSlots: false,
      source: numberedRecords(TOPICS.tradeViews, numberedRecord),
      log,
      logger,
      metrics,
      chain,
      clock,
      close: () => metrics.streams.dec(),
    });
    // A fill may arrive before the description of its market: see `MarketTradesOptions.symbol`.
    this.#unlisten = options.markets.onNamed((key) => {
      const stream = this.#streams.get(key);
      if (stream) this.#hub.send([], [stream]);
    });
  }

  /** Resolves when the newest fill of every market is known. */
  async start(): Promise<void> {
    const { log, logger } = this.#options;
    const topic = TOPICS.tradeHeads;
    await log.ensureTopics([topic]);
    await readToEnd({ log, topic, partition: 0 }, ({ value }) => {
      try {
        const record = numberedRecord(value);
        if (!record) return;
        const stream = this.#stream(marketKey(record));
        stream.content.apply(record);
        stream.beginAt(record);
      } catch (error) {
        logger.warn({ topic: topic.name, error: String(error) }, 'unreadable view record');
      }
    });
  }

  /** Publishes the records of one batch of the log. */
  take(records: readonly TradeRecord[]): void {
    const frames: Frame[] = [];
    const moved = new Set<TradeStream>();
    for (const { record, bytes, offset } of records) {
      const stream = this.#stream(marketKey(record));
      moved.add(stream);
      for (const frame of stream.take(record, bytes, offset)) frames.push({ name: stream.name, frame });
    }
    this.#options.metrics.renderings.inc({ type: 'trade' }, frames.length);
    this.#hub.send(frames, moved);
  }

  request(
    connection: Connection,
    action: 'subscribe' | 'unsubscribe',
    message: Readonly<Record<string, unknown>>,
  ): void {
    const request = readTradeRequest(action, message, this.#options.markets);
    if (request.is === 'error') refuse(connection, 'trades.v2', request.code, { id: request.id });
    else if (request.is === 'subscribe') this.#subscribe(connection, request);
    else this.#unsubscribe(connection, request);
  }

  get connections(): Iterable<Connection> {
    return this.#hub.connections;
  }

  drained(connection: Connection): void {
    this.#hub.drained(connection);
  }

  closed(connection: Connection): void {
    this.#hub.closed(connection);
  }

  stop(): void {
    this.#unlisten();
    this.#hub.stop();
  }

  /** The stream of a market. A new one is added to every matching wildcard. */
  #stream(key: string): TradeStream {
    const known = this.#streams.get(key);
    if (known) return known;
    const { rings, render, markets, commitment = 'confirmed' } = this.#options;
    const symbol = () => markets.byKey(key)?.symbol.toUpperCase() ?? null;
    const trades = new MarketTrades({ key, streamId: ++this.#streamNumbers.last, commitment, render, symbol });
    const stream: TradeStream = new RecordStream(trades, rings);
    this.#streams.set(key, stream);
    for (const subscriber of this.#hub.subscribers.values()) {
      for (const { target, resumeVersions } of subscriber.wildcards) {
        if (!matchesTarget(target, stream.content.ref) || subscriber.isClosed) continue;
        if (!subscriber.streams.has(stream.name) && subscriber.streams.size >= MAX_STREAMS) {
          refuse(subscriber.connection, 'trades.v2', 'limit', { stream: stream.name });
          continue;
        }
        this.#hub.open(subscriber, this.#counted(stream));
        this.#hub.begin(subscriber, stream, resumeVersionOf(resumeVersions, stream.name));
      }
    }
    return stream;
  }

  #subscribe(connection: Connection, { id, target, resumeVersions }: Subscribe): void {
    const subscriber = this.#hub.subscriberOf(connection);
    const streams = this.#targeted(target);
    const fresh = streams.filter(({ name }) => !subscriber.streams.has(name));
    const wildcard = 'every' in target ? { name: JSON.stringify(target), target, resumeVersions } : null;
    const others = subscriber.wildcards.filter(({ name }) => name !== wildcard?.name);
    if (subscriber.streams.size + fresh.length > MAX_STREAMS || (wildcard && others.length >= MAX_WILDCARDS)) {
      refuse(connection, 'trades.v2', 'limit', { id });
      return;
    }
    this.#hub.register(subscriber);
    // Streams open before the answer is sent: sending may close a lagging client, and closing must find its streams.
    for (const stream of streams) this.#hub.open(subscriber, this.#counted(stream));
    if (wildcard) subscriber.putWildcard(withoutHeld(wildcard, subscriber.streams));
    const names = streams.map(({ name }) => name);
    acknowledge(connection, this.#options.markets, {
      channel: 'trades.v2',
      type: 'subscribed',
      id,
      target,
      streams: names,
    });
    for (const stream of streams) this.#hub.begin(subscriber, stream, resumeVersionOf(resumeVersions, stream.name));
  }

  #unsubscribe(connection: Connection, { id, target }: Unsubscribe): void {
    const subscriber = this.#hub.subscribers.get(connection);
    const ended = [...(subscriber?.streams.values() ?? [])].filter(({ content }) => matchesTarget(target, content.ref));
    if (subscriber) {
      for (const stream of ended) this.#hub.leave(subscriber, stream);
      if ('every' in target) {
        const isCovered = (wildcard: TradeWildcard): boolean =>
          wildcard.target.every.every((type) => target.every.includes(type));
        subscriber.wildcards = subscriber.wildcards.filter((wildcard) => !isCovered(wildcard));
      }
      this.#hub.forgetIdle(subscriber);
    }
    const streams = ended.map(({ name }) => name);
    acknowledge(connection, this.#options.markets, { channel: 'trades.v2', type: 'unsubscribed', id, target, streams });
  }

  #targeted(target: Target): TradeStream[] {
    if ('market' in target) return [this.#stream(marketKey(target.market))];
    for (const market of this.#options.markets.list()) this.#stream(marketKey(market));
    return [...this.#streams.values()].filter(({ content }) => matchesTarget(target, content.ref));
  }

  /** Counts a stream that is about to get its first subscriber. */
  #counted(stream: TradeStream): TradeStream {
    if (stream.subscriberCount === 0) this.#options.metrics.streams.inc();
    return stream;
  }
}

/** Keeps resume versions only of streams that do not exist yet. */
function withoutHeld(wildcard: TradeWildcard, held: ReadonlyMap<string, TradeStream>): TradeWildcard {
  const { resumeVersions } = wildcard;
  const left = resumeVersions instanceof Map ? [...resumeVersions].filter(([stream]) => !held.has(stream)) : [];
  return { ...wildcard, resumeVersions: left.length > 0 ? new Map(left) : null };
}
