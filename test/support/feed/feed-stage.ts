// The `book` channel on a log in memory, with client sockets connected to it without a network.

import { pino } from 'pino';
import { Registry } from 'prom-client';
import type { Connection } from '../../../api/gateway/connection.ts';
import { BookFeed } from '../../../api/gateway/feed/feed.ts';
import type { SequencedFeed } from '../../../api/gateway/feed/feeds.ts';
import { feedMetrics } from '../../../api/gateway/feed/metrics.ts';
import { BACKPRESSURE_BYTES } from '../../../api/gateway/limits.ts';
import type { AppliedRecord, BookListener, BookReader, RecordListener } from '../../../api/views/book-reader.ts';
import { PublishedBook } from '../../../api/views/published-book.ts';
import { MarketRegistry } from '../../../api/views/registry.ts';
import type { SocketLike } from '../../../client/index.ts';
import {
  type BookViewDiff,
  type BookViewSnapshot,
  decodeMessage,
  encodeMessage,
  marketKey,
  partitionOf,
  TOPICS,
} from '../../../schemas/index.ts';
import { checkedName } from '../api/contracts.ts';
import { FakeLog } from '../api/fake-log.ts';
import { MARKETS, marketView } from '../api/market-views.ts';

type BookMessage = BookViewDiff | BookViewSnapshot;

type Message = Record<string, unknown>;

/** The part of a BookReader that the feed uses; tests feed it. */
class HandReader {
  readonly markets = new MarketRegistry();
  /** Wall clock, milliseconds. */
  nowMs = 1_790_000_000_000;
  newestSlot: number | null = null;
  readonly #books = new Map<string, PublishedBook>();
  readonly #recordListeners = new Set<RecordListener>();
  readonly #listeners = new Set<BookListener>();

  constructor() {
    for (const market of MARKETS) this.markets.put(market);
  }

  onRecord(listener: RecordListener): () => void {
    this.#recordListeners.add(listener);
    return () => this.#recordListeners.delete(listener);
  }

  onChange(listener: BookListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  bookByKey(key: string): PublishedBook | null {
    const book = this.#books.get(key);
    return book && book.version > 0 ? book : null;
  }

  now(): number {
    return this.nowMs;
  }

  batch(records: readonly AppliedRecord[]): void {
    const changed = new Set<string>();
    for (const record of records) {
      const book = this.#books.get(record.key) ?? new PublishedBook();
      this.#books.set(record.key, book);
      if (book.take(record.message, this.nowMs) !== 'changed') continue;
      this.newestSlot = Math.max(this.newestSlot ?? 0, record.message.slot);
      changed.add(record.key);
      for (const listener of this.#recordListeners) listener(record);
    }
    if (changed.size > 0) for (const listener of this.#listeners) listener(changed);
  }
}

/** The part of a gateway that serves one sequenced channel. */
export interface DirectGateway {
  readonly feed: SequencedFeed;
  readonly sockets: Set<DirectSocket>;
}

/** A client's socket and the gateway's connection in one. */
export class DirectSocket implements SocketLike {
  onopen: ((event: never) => void) | null = null;
  onmessage: ((event: { readonly data: unknown }) => void) | null = null;
  onclose: ((event: { readonly code: number; readonly reason: string }) => void) | null = null;
  onerror: ((event: never) => void) | null = null;
  /** Unread bytes that the gateway sees for this client. */
  get unreadBytes(): number {
    return this.#unreadBytes;
  }
  set unreadBytes(bytes: number) {
    this.#unreadBytes = bytes;
  }
  #unreadBytes = 0;
  /** Alters the client's incoming messages, or drops them (null). */
  tamper: (text: string) => string | null = (text) => text;
  isOpen = true;
  readonly received: Message[] = [];
  readonly #stage: DirectGateway;

  constructor(stage: DirectGateway) {
    this.#stage = stage;
  }

  /** A socket that opens at the end of the turn. */
  static opening(stage: DirectGateway): DirectSocket {
    const socket = new DirectSocket(stage);
    stage.sockets.add(socket);
    queueMicrotask(() => {
      if (socket.isOpen) (socket.onopen as (() => void) | null)?.();
    });
    return socket;
  }

  get connection(): Connection {
    const send = (frames: readonly (string | Buffer)[]): void => {
      for (const frame of frames) this.#deliver(String(frame));
    };
    if (this.#connection) return this.#connection;
    const connection = Object.defineProperty({ send, sendLong: send }, 'hasBackpressure', {
      get: () => this.unreadBytes > BACKPRESSURE_BYTES,
    });
    this.#connection = connection as unknown as Connection;
    return this.#connection;
  }
  #connection: Connection | null = null;

  send(text: string): void {
    if (!this.isOpen) return;
    const message = JSON.parse(text) as Record<string, unknown>;
    this.#stage.feed.request(this.connection, message.type === 'unsubscribe' ? 'unsubscribe' : 'subscribe', message);
  }

  /** Subscribes to SOL-PERP with members replaced; returns the immediate answers. */
  ask(members: Message = {}): Message[] {
    const before = this.received.length;
    this.send(
      JSON.stringify({ type: 'subscribe', channel: 'book', market: 'SOL-PERP', marketType: 'perp', ...members }),
    );
    return this.received.slice(before);
  }

  ofType(type: string): Message[] {
    return this.received.filter((message) => message.type === type);
  }

  diffs(): Message[] {
    return this.received.filter((message) => 'diff' in message);
  }

  /** Received snapshots, except the empty ones of unpublished books. */
  published(): Message[] {
    return this.ofType('snapshot').filter(({ epoch }) => epoch !== 0);
  }

  close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.#stage.sockets.delete(this);
    this.#stage.feed.closed(this.connection);
    this.onclose?.({ code: 1000, reason: '' });
  }

  #deliver(text: string): void {
    if (!this.isOpen) return;
    checkedName('feed', JSON.parse(text) as Record<string, unknown>);
    const changed = this.tamper(text);
    if (changed === null) return;
    this.received.push(JSON.parse(changed) as Record<string, unknown>);
    this.onmessage?.({ data: changed });
  }
}

export class FeedStage implements DirectGateway {
  readonly log = new FakeLog();
  readonly sockets = new Set<DirectSocket>();
  readonly rings = { bytes: 0 };
  /** Newest slot of the chain. */
  chainSlot: number | null = null;
  metrics = new Registry();
  reader = new HandReader();
  feed = this.#newFeed();

  /** A socket that opens at the end of the turn. */
  socket(): DirectSocket {
    return DirectSocket.opening(this);
  }

  /** Describes perp markets `M<index>-PERP`. */
  describe(...marketIndexes: readonly number[]): void {
    for (const marketIndex of marketIndexes) {
      this.reader.markets.put(marketView({ marketIndex, symbol: `M${marketIndex}-PERP` }));
    }
  }

  /** Publishes messages as one batch. */
  async publish(...messages: readonly BookMessage[]): Promise<void> {
    const records: AppliedRecord[] = [];
    for (const message of messages) {
      const key = marketKey(message);
      const bytes =
        'gone' in message ? encodeMessage('BookViewDiff', message) : encodeMessage('BookViewSnapshot', message);
      const [appended] = await this.log.append(TOPICS.bookViews, [{ key, value: bytes }]);
      records.push({ key, message, bytes, offset: appended?.first ?? 0n });
    }
    this.reader.batch(records);
  }

  /** A new gateway on the same log, with books from the newest snapshots and later changes. */
  async restart(): Promise<void> {
    this.feed.stop();
    this.reader = new HandReader();
    this.metrics = new Registry();
    this.feed = this.#newFeed();
    for (const socket of [...this.sockets]) socket.close();
    for (let partition = 0; partition < TOPICS.bookViews.partitions; partition += 1) {
      const { next } = await this.log.bounds(TOPICS.bookViews, partition);
      const records = await this.log.read(TOPICS.bookViews, partition, 0n, Number(next));
      const decoded = records.map(({ key, value, offset }) => ({
        key,
        message: decodeMessage(value).value as BookMessage,
        bytes: value,
        offset,
      }));
      const newest = decoded.findLastIndex(({ message }) => !('gone' in message));
      this.reader.batch(decoded.slice(Math.max(0, newest)));
    }
  }

  partitionOf(key: string): number {
    return partitionOf(TOPICS.bookViews, key);
  }

  #newFeed(): BookFeed {
    return new BookFeed({
      reader: this.reader as unknown as BookReader,
      log: this.log,
      logger: pino({ level: 'silent' }),
      metrics: feedMetrics(this.metrics),
      rings: this.rings,
      chainSlot: () => this.chainSlot,
    });
  }
}
