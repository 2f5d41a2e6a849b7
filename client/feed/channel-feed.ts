// The compatible channels over one connection. The clients of books build on it.

import {
  type ChannelChoice,
  type ChannelName,
  ChannelSubscription,
  type OrderbookChoice,
} from './channel-subscription.ts';
import type { FeeLevels, L2Book, Trade } from './channel-types.ts';
import { Channels } from './channels.ts';
import { Connection, type ConnectionOptions } from './connection.ts';
import { Events } from './events.ts';

export type ChannelFeedEvents = {
  connected: { readonly attempt: number };
  disconnected: { readonly code: number; readonly reason: string };
  /** A frame was skipped because it is not a JSON object. A book that misses it repairs itself. */
  malformed: object;
};

/** Parts that a client of books adds to the connection. */
export interface BookSide {
  opened(): void;
  /** False when the message belongs to another channel. */
  receive(message: object): boolean;
  lost(): void;
}

export abstract class ChannelFeed<T extends ChannelFeedEvents> extends Events<T> {
  readonly #connection: Connection;
  readonly #channels: Channels;

  constructor(options: ConnectionOptions) {
    super();
    const emit = <N extends keyof ChannelFeedEvents>(name: N, event: ChannelFeedEvents[N]): void =>
      this.emit(name, event as T[N]);
    this.#channels = new Channels((message) => this.send(message));
    this.#connection = new Connection(options, {
      opened: (attempt) => {
        this.streams.opened();
        this.#channels.opened();
        emit('connected', { attempt });
      },
      received: (message) => {
        if (!this.streams.receive(message)) this.#channels.receive(message);
      },
      malformed: () => emit('malformed', {}),
      lost: (code, reason) => {
        this.streams.lost();
        this.#channels.lost();
        emit('disconnected', { code, reason });
      },
    });
  }

  protected abstract readonly streams: BookSide;

  protected send(message: object): void {
    this.#connection.send(message);
  }

  /** Connects, and reconnects after every loss until `close`. The first subscription connects as well. */
  connect(): void {
    this.#connection.connect();
  }

  /** Whole grouped books, as the predecessor sends them. */
  orderbook(choice: OrderbookChoice): ChannelSubscription<L2Book> {
    return this.#channel(choice.indicative === true ? 'orderbook_indicative' : 'orderbook', choice);
  }

  /** Each fill once, as it occurs. Fills during a lost connection are not sent again: see `numberedTrades`. */
  trades(choice: ChannelChoice): ChannelSubscription<Trade> {
    return this.#channel('trades', choice);
  }

  priorityFees(choice: ChannelChoice): ChannelSubscription<FeeLevels> {
    return this.#channel('priorityfees', choice);
  }

  /** Closes the connection and ends every subscription. It does not reconnect. */
  close(): void {
    this.#connection.close();
    for (const channel of this.#channels.subscriptions) channel.close();
  }

  /** Drops the connection and resumes on a new one, as after a network failure. */
  reconnect(): void {
    this.#connection.reconnect();
  }

  #channel<D extends object>(name: ChannelName, choice: OrderbookChoice): ChannelSubscription<D> {
    const subscription: ChannelSubscription<D> = new ChannelSubscription<D>(name, choice, () =>
      this.#channels.remove(subscription),
    );
    this.#channels.add(subscription);
    this.connect();
    return subscription;
  }
}
