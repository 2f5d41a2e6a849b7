// The `book` channel on a log in memory, with client sockets joined to it without a network, for this folder's tests.

import { pino } from 'pino';
import { Registry } from 'prom-client';
import type { SocketLike } from '../../../../client/index.ts';
import {
  type BookViewDiff,
  type BookViewSnapshot,
  decodeMessage,
  encodeMessage,
  marketKey,
  partitionOf,
  TOPICS,
} from '../../../../schemas/index.ts';
import { heardName } from '../../../testing/contracts.ts';
import { FakeLog } from '../../../testing/fake-log.ts';
import { MARKETS } from '../../../testing/market-views.ts';
import type { AppliedRecord, BookListener, BookReader, RecordListener } from '../../../views/book-reader.ts';
import { PublishedBook } from '../../../views/published-book.ts';
import { MarketRegistry } from '../../../views/registry.ts';
import type { Connection } from '../../connection.ts';
import { BookFeed } from '../feed.ts';
import { feedMetrics } from '../metrics.ts';

type BookMessage = BookViewDiff | BookViewSnapshot;

type Message = Record<string, unknown>;

/** What the feed needs of a BookReader, fed by hand. */
class HandReader {
  readonly markets = new MarketRegistry();
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

  batch(records: readonly AppliedRecord[]): void {
    const changed = new Set<string>();
    for (const record of records) {
      const book = this.#books.get(record.key) ?? new PublishedBook();
      this.#books.set(record.key, book);
      if (book.take(record.message, 0) !== 'changed') continue;
      changed.add(record.key);
      for (const listener of this.#recordListeners) listener(record);
    }
    if (changed.size > 0) for (const listener of this.#listeners) listener(changed);
  }
}

/** A client's socket and the gateway's connection in one. */
export class DirectSocket implements SocketLike {
  onopen: ((event: never) => void) | null = null;
  onmessage: ((event: { readonly data: unknown }) => void) | null = null;
  onclose: ((event: { readonly code: number; readonly reason: string }) => void) | null = null;
  onerror: ((event: never) => void) | null = null;
  /** What the client is said to have left unread. */
  get unreadBytes(): number {
    return this.#unreadBytes;
  }
  set unreadBytes(bytes: number) {
    this.#unreadBytes = bytes;
  }
  #unreadBytes = 0;
  /** Changes or drops (null) what the client hears. */
  tamper: (text: string) => string | null = (text) => text;
  isOpen = true;
  readonly heard: Message[] = [];
  readonly #stage: FeedStage;

  constructor(stage: FeedStage) {
    this.#stage = stage;
  }

  get connection(): Connection {
    const send = (frames: readonly (string | Buffer)[]): void => {
      for (const frame of frames) this.#deliver(String(frame));
    };
    if (this.#connection) return this.#connection;
    const connection = Object.defineProperty({ send }, 'unreadBytes', { get: () => this.unreadBytes });
    this.#connection = connection as unknown as Connection;
    return this.#connection;
  }
  #connection: Connection | null = null;

  send(text: string): void {
    if (!this.isOpen) return;
    const message = JSON.parse(text) as Record<string, unknown>;
    this.#stage.feed.request(this.connection, message.type === 'unsubscribe' ? 'unsubscribe' : 'subscribe', message);
  }

  /** Subscribes to SOL-PERP with members replaced; what was heard at once. */
  ask(members: Message = {}): Message[] {
    const before = this.heard.length;
    this.send(
      JSON.stringify({ type: 'subscribe', channel: 'book', market: 'SOL-PERP', marketType: 'perp', ...members }),
    );
    return this.heard.slice(before);
  }

  ofType(type: string): Message[] {
    return this.heard.filter((message) => message.type === type);
  }

  diffs(): Message[] {
    return this.heard.filter((message) => 'diff' in message);
  }

  /** Snapshots of books that are published; those of others are empty. */
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
    heardName('feed', JSON.parse(text) as Record<string, unknown>);
    const changed = this.tamper(text);
    if (changed === null) return;
    this.heard.push(JSON.parse(changed) as Record<string, unknown>);
    this.onmessage?.({ data: changed });
  }
}

export class FeedStage {
  readonly log = new FakeLog();
  readonly sockets = new Set<DirectSocket>();
  readonly rings = { bytes: 0 };
  metrics = new Registry();
  reader = new HandReader();
  feed = this.#newFeed();

  /** A socket that opens when the turn ends. */
  socket(): DirectSocket {
    const socket = new DirectSocket(this);
    this.sockets.add(socket);
    queueMicrotask(() => {
      if (socket.isOpen) (socket.onopen as (() => void) | null)?.();
    });
    return socket;
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

  /** A new gateway on the same log: it knows what the newest snapshot and the changes since say. */
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
    });
  }
}
