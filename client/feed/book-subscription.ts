// A subscription to books: listeners are called for every message; iterators get what changed since they last asked.

import type { BookErrorMessage } from '../../schemas/portable.ts';
import { Backlog } from './backlog.ts';
import type { BookChoice, FeedEvents } from './book-streams.ts';
import { Events } from './events.ts';
import {
  type BookChangeEvent,
  type BookEvent,
  type BookResumedEvent,
  type BookSnapshotEvent,
  type BookStaleEvent,
  LiveBook,
  MessageChange,
  type StaleReason,
} from './live-book.ts';
import { Waiter } from './waiter.ts';

export type BookEvents = {
  snapshot: BookSnapshotEvent;
  change: BookChangeEvent;
  resumed: BookResumedEvent;
  stale: BookStaleEvent;
  /** The server rejects the request, and says why. No market of that name, for example. */
  refused: BookErrorMessage;
};

export class BookSubscription extends Events<BookEvents> implements AsyncIterable<BookEvent> {
  readonly choice: BookChoice;
  readonly #books = new Map<string, LiveBook>();
  readonly #readers = new Set<{ readonly backlog: Backlog; readonly waiter: Waiter }>();
  readonly #onClose: () => void;
  #isClosed = false;

  /** Made by `FeedClient.book`. */
  constructor(choice: BookChoice, onClose: () => void) {
    super();
    this.choice = choice;
    this.#onClose = onClose;
  }

  /** Books by stream name: one, or with `*` one for each market. */
  get books(): ReadonlyMap<string, LiveBook> {
    return this.#books;
  }

  /** The book of a market, or the only book. Null until its first snapshot. */
  book(market?: string): LiveBook | null {
    const name = market?.toUpperCase();
    for (const book of this.#books.values()) if (name === undefined || book.market === name) return book;
    return null;
  }

  /** Ends the subscription, and every iterator of it. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#onClose();
    for (const { waiter } of this.#readers) waiter.wake();
  }

  /**
   * Events from now on, with a `snapshot` of each book that is there already. A slow reader gets merged changes: the newest
   * state of everything that changed. Ends with `close`.
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<BookEvent, void, undefined> {
    const reader = { backlog: new Backlog(), waiter: new Waiter() };
    for (const book of this.#books.values()) if (book.isCurrent) reader.backlog.snapshot(book);
    this.#readers.add(reader);
    try {
      while (!this.#isClosed) {
        const event = reader.backlog.take();
        if (event) yield event;
        else await reader.waiter.wait();
      }
    } finally {
      this.#readers.delete(reader);
    }
  }

  /** For the client: a message was applied to the keeper of a stream. */
  applied({ stream, marketType, keeper, message }: FeedEvents['book']): void {
    const known = this.#books.get(stream);
    const book = known ?? new LiveBook(stream, marketType, keeper);
    this.#books.set(stream, book);
    // Another subscription may follow this stream already: its book is whole.
    if (known && 'diff' in message) {
      this.emit('change', new MessageChange(book, message));
      for (const { backlog } of this.#readers) backlog.change(book, message);
    } else {
      LiveBook.setCurrent(book, true);
      this.emit('snapshot', { type: 'snapshot', book });
      for (const { backlog } of this.#readers) backlog.snapshot(book);
    }
    this.#wake();
  }

  /** For the client: a book continues without a loss. */
  continued(stream: string): void {
    const book = this.#books.get(stream);
    if (!book || book.isCurrent) return;
    LiveBook.setCurrent(book, true);
    this.emit('resumed', { type: 'resumed', book });
    for (const { backlog } of this.#readers) backlog.resumed(book);
    this.#wake();
  }

  /** For the client: a book, or without a name every book, may be behind or wrong. */
  outdated(reason: StaleReason, stream?: string): void {
    for (const book of this.#books.values()) {
      if (!book.isCurrent || (stream !== undefined && book.stream !== stream)) continue;
      LiveBook.setCurrent(book, false);
      this.emit('stale', { type: 'stale', book, reason });
      for (const { backlog } of this.#readers) backlog.stale(book, reason);
    }
    this.#wake();
  }

  /** For the client: the server rejected the request. */
  refuse(message: BookErrorMessage): void {
    this.emit('refused', message);
  }

  #wake(): void {
    for (const { waiter } of this.#readers) waiter.wake();
  }
}
