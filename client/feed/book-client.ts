// A client that shows everything that happens to books: gaps, mismatches, resumes. `FeedClient` hides them.

import { type BookChoice, BookStreams, type FeedEvents, type KeptBook } from './book-streams.ts';
import { ChannelFeed } from './channel-feed.ts';
import type { ConnectionOptions } from './connection.ts';
import type { BookKeeper } from './keeper.ts';

export type FeedOptions = ConnectionOptions;

export class BookFeedClient extends ChannelFeed<FeedEvents> {
  protected override readonly streams: BookStreams;

  constructor(options: FeedOptions) {
    super(options);
    this.streams = new BookStreams((message) => this.send(message), {
      book: (event) => this.emit('book', event),
      gap: (event) => this.emit('gap', event),
      mismatch: (event) => this.emit('mismatch', event),
      resumed: (event) => this.emit('resumed', event),
      heartbeat: (event) => this.emit('heartbeat', event),
      refused: (event) => this.emit('refused', event),
      shutdown: (event) => this.emit('shutdown', event),
    });
  }

  /** Subscribes to a book: at once, or at the next connection, and again after every loss. */
  subscribe(choice: BookChoice): void {
    this.streams.subscribe(choice);
  }

  /** Ends the subscription with the same choices. */
  unsubscribe(choice: BookChoice): void {
    this.streams.unsubscribe(choice);
  }

  /** Current books by stream name. */
  get books(): ReadonlyMap<string, KeptBook> {
    return this.streams.books;
  }

  /** The book of a market; the first one of several streams. */
  book(market: string): BookKeeper | null {
    const name = market.toUpperCase();
    for (const { keeper } of this.books.values()) if (keeper.market === name) return keeper;
    return null;
  }
}
