// A subscription to a compatible channel: whole grouped books, trades, fee levels.

import type { MarketType } from '../../schemas/portable.ts';
import { Events } from './events.ts';
import { WaitingReaders } from './waiting-readers.ts';

export type ChannelName = 'orderbook' | 'orderbook_indicative' | 'trades' | 'priorityfees';

export type Grouping = 1 | 10 | 100 | 500 | 1000;

export interface ChannelChoice {
  /** Symbol in any letter case. */
  readonly market: string;
  /** Default `perp`. */
  readonly marketType?: MarketType;
}

export interface OrderbookChoice extends ChannelChoice {
  /** Price levels are merged to multiples of so many ticks. Default 1. */
  readonly grouping?: Grouping;
  /** With the indicative quotes of makers. */
  readonly indicative?: boolean;
}

export type ChannelEvents<T> = {
  data: T;
  /** The connection is lost. Data continues after the reconnect; trades between are not sent again. */
  stale: { readonly reason: 'disconnected' };
  /** The server does not know the market. */
  refused: { readonly error: string };
};

/** Trades that one slow reader can have waiting. */
const WAITING_MAX = 10_000;

export class ChannelSubscription<T extends object> extends Events<ChannelEvents<T>> implements AsyncIterable<T> {
  readonly channel: ChannelName;
  readonly market: string;
  readonly marketType: MarketType;
  readonly grouping: Grouping;
  readonly #waitingMax: number;
  readonly #readers = new WaitingReaders<T>();
  readonly #onClose: () => void;
  #isClosed = false;
  #latest: T | null = null;
  #missed = 0;

  /** Made by `FeedClient`. */
  constructor(channel: ChannelName, choice: OrderbookChoice, onClose: () => void) {
    super();
    this.channel = channel;
    this.market = choice.market.toUpperCase();
    this.marketType = choice.marketType ?? 'perp';
    this.grouping = choice.grouping ?? 1;
    // Books and fees are whole: only the newest one counts.
    this.#waitingMax = channel === 'trades' ? WAITING_MAX : 1;
    this.#onClose = onClose;
  }

  /** The newest message; null before the first. */
  get latest(): T | null {
    return this.#latest;
  }

  /** Trades that slow readers did not get. Replaced books and fees do not count. */
  get missed(): number {
    return this.#missed;
  }

  /** Ends the subscription, and every iterator of it. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#onClose();
    this.#readers.close();
  }

  /** Messages from now on. A slow reader gets the newest book or fees, and the newest 10,000 trades. Ends with `close`. */
  [Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    return this.#readers.iterate(() => (this.#waitingMax === 1 && this.#latest !== null ? [this.#latest] : []));
  }

  /** For the client: takes data of this channel. A book of an earlier slot is dropped. */
  take(data: T): void {
    const isOlder = this.#latest !== null && slotOf(data) < slotOf(this.#latest);
    if (isOlder && this.channel !== 'trades') return;
    this.#latest = data;
    this.emit('data', data);
    this.#readers.put(data, this.#waitingMax, (waiting) => {
      if (this.channel === 'trades') this.#missed += waiting.length - this.#waitingMax;
      return waiting.slice(-this.#waitingMax);
    });
  }

  /** For the client: the connection is lost. */
  outdated(): void {
    this.emit('stale', { reason: 'disconnected' });
  }

  /** For the client: the server rejected the request. */
  refuse(error: string): void {
    this.emit('refused', { error });
  }
}

function slotOf(data: unknown): number {
  const { slot } = data as { readonly slot?: unknown };
  return typeof slot === 'number' ? slot : 0;
}
