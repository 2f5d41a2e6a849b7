// The feed: books, trades, fees and the orders of accounts over one connection that repairs itself.

import { type AccountChoice, AccountStreams } from './account-streams.ts';
import { AccountSubscription } from './account-subscription.ts';
import { type BookChoice, BookStreams, matches } from './book-streams.ts';
import { BookSubscription } from './book-subscription.ts';
import { type BookSide, ChannelFeed, type ChannelFeedEvents } from './channel-feed.ts';
import type { ConnectionOptions } from './connection.ts';
import type { StaleReason } from './live-book.ts';
import { type NumberedTradesChoice, TradeStreams } from './numbered-trades.ts';
import { NumberedTradesSubscription } from './trades-subscription.ts';

export type FeedClientEvents = ChannelFeedEvents & {
  /** Every five seconds while books are subscribed: the server's clock, the newest chain slot, slots behind it. */
  heartbeat: { readonly ts: number; readonly headSlot: number | null; readonly slotsBehind: number | null };
};

/** Connects at the first subscription, and reconnects until `close`. */
export class FeedClient extends ChannelFeed<FeedClientEvents> {
  readonly #streams: BookStreams;
  readonly #trades: TradeStreams;
  readonly #accounts: AccountStreams;
  protected override readonly streams: BookSide;
  readonly #books = new Set<BookSubscription>();
  readonly #numberedTrades = new Set<NumberedTradesSubscription>();
  readonly #accountOrders = new Set<AccountSubscription>();
  #nextId = 0;

  constructor(options: ConnectionOptions) {
    super(options);
    const streams = this.#bookStreams();
    const trades = new TradeStreams((message) => this.send(message));
    const accounts = new AccountStreams((message) => this.send(message));
    this.#streams = streams;
    this.#trades = trades;
    this.#accounts = accounts;
    this.streams = {
      opened: () => {
        streams.opened();
        trades.opened();
        accounts.opened();
      },
      receive: (message) => streams.receive(message) || trades.receive(message) || accounts.receive(message),
      lost: () => {
        streams.lost();
        trades.lost();
        accounts.lost();
        for (const book of this.#books) book.outdated('disconnected');
        for (const fills of this.#numberedTrades) fills.outdated();
      },
    };
  }

  /** Subscribes to a book, or with market `*` to all. A checksum of the top 10 levels is on unless you choose another. */
  book(choice: BookChoice): BookSubscription {
    this.#nextId += 1;
    const whole: BookChoice = { checksum: true, ...choice, id: this.#nextId };
    const subscription: BookSubscription = new BookSubscription(whole, () => this.#closeBook(subscription));
    this.#books.add(subscription);
    this.#streams.subscribe(whole);
    this.connect();
    return subscription;
  }

  /** Each fill once and in order, over reconnects and restarts of the server; `missing` says so when that cannot be. */
  numberedTrades(choice: NumberedTradesChoice): NumberedTradesSubscription {
    this.#nextId += 1;
    const subscription: NumberedTradesSubscription = new NumberedTradesSubscription(
      { ...choice, id: this.#nextId },
      () => {
        this.#numberedTrades.delete(subscription);
        this.#trades.remove(subscription);
      },
    );
    this.#numberedTrades.add(subscription);
    this.#trades.add(subscription);
    this.connect();
    return subscription;
  }

  /** The open orders of an account, or of all accounts of a wallet, and every change of them, over reconnects and restarts. */
  accountOrders(choice: AccountChoice): AccountSubscription {
    this.#nextId += 1;
    const subscription: AccountSubscription = new AccountSubscription({ ...choice, id: this.#nextId }, () => {
      this.#accountOrders.delete(subscription);
      this.#accounts.remove(subscription);
    });
    this.#accountOrders.add(subscription);
    this.#accounts.add(subscription);
    this.connect();
    return subscription;
  }

  /** Closes the connection and ends every subscription. */
  override close(): void {
    super.close();
    for (const book of this.#books) book.close();
    for (const trades of this.#numberedTrades) trades.close();
    for (const orders of this.#accountOrders) orders.close();
  }

  #closeBook(subscription: BookSubscription): void {
    this.#books.delete(subscription);
    this.#streams.unsubscribe(subscription.choice);
  }

  #bookStreams(): BookStreams {
    return new BookStreams((message) => this.send(message), {
      book: (kept) => {
        for (const book of this.#books) if (matches(book.choice, kept.stream, kept.keeper.market)) book.applied(kept);
      },
      gap: ({ stream }) => this.#outdated('missing', stream),
      mismatch: ({ stream }) => this.#outdated('different', stream),
      resumed: ({ stream, recovered }) => {
        if (recovered) for (const book of this.#books) book.continued(stream);
      },
      heartbeat: ({ ts, headSlot, slotsBehind }) => this.emit('heartbeat', { ts, headSlot, slotsBehind }),
      refused: (message) => {
        for (const book of this.#books) {
          const isMeant = message.stream === undefined ? book.choice.id === message.id : book.choice.market === '*';
          if (isMeant) book.refuse(message);
        }
      },
      shutdown: () => {},
    });
  }

  #outdated(reason: StaleReason, stream: string): void {
    for (const book of this.#books) book.outdated(reason, stream);
  }
}
