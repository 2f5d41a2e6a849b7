// Messages of the gateway's `account` channel, for clients. Types only, so that a browser client imports nothing.

import type { MarketRef } from '../chain/market.ts';
import type { AccountOrder, OrderCause } from './account-orders.ts';
import type { OrderSource } from './book.ts';
import type { BookVersion } from './feed.ts';

/** An order as it travels: amounts are integers as text. */
export type AccountOrderBody = {
  readonly [K in keyof AccountOrder]: AccountOrder[K] extends bigint
    ? K extends 'maxTs'
      ? number
      : string
    : AccountOrder[K];
};

export interface AccountSubscribed {
  readonly channel: 'account';
  readonly type: 'subscribed' | 'unsubscribed';
  readonly id?: string | number;
  readonly account?: string;
  readonly authority?: string;
  /** One for each account and part. */
  readonly streams: readonly string[];
}

/** All open orders of an account in the markets of a part. */
export interface AccountSnapshot extends BookVersion {
  readonly channel: 'account';
  readonly type: 'snapshot';
  readonly stream: string;
  /** Names the stream in the changes that follow on this connection. */
  readonly streamId: number;
  /** User account, base58. */
  readonly account: string;
  readonly part: number;
  /** Slot of the newest change; 0 before the first. */
  readonly slot: number;
  readonly orders: readonly AccountOrderBody[];
  readonly checksum: number;
}

/** One change. Only changes have the member `order`, the `streamId`; they have no `channel` or `type`. */
export interface OrderChangeMessage extends BookVersion {
  readonly order: number;
  readonly prevSeq: number;
  readonly slot: number;
  /** Block time, Unix seconds. */
  readonly ts: number;
  readonly txSig: string;
  readonly txSigIndex: number;
  readonly cause: OrderCause;
  readonly explanation: string;
  readonly fill: {
    readonly fillRecordId: string;
    readonly baseAssetAmount: string;
    readonly quoteAssetAmount: string;
  } | null;
  readonly isOpen: boolean;
  readonly data: AccountOrderBody;
  readonly checksum: number;
}

/** Where a resting order stands in the queue of its price. Amounts are integers as text. */
export interface QueuePositionBody {
  readonly marketType: MarketRef['marketType'];
  readonly marketIndex: number;
  readonly orderId: number;
  readonly source: OrderSource;
  readonly side: 'bids' | 'asks';
  readonly price: string;
  /** Unfilled size. */
  readonly size: string;
  /** Sizes of the orders before it at its price. */
  readonly sizeAhead: string;
  readonly ordersAhead: number;
  /** The book in which it stands so. */
  readonly book: BookVersion & { readonly slot: number };
}

/** Queue positions of all resting orders of an account. They replace the ones before. */
export interface AccountQueueMessage {
  readonly channel: 'account';
  readonly type: 'queue';
  readonly account: string;
  readonly positions: readonly QueuePositionBody[];
}

/** Answer to `resume`. Recovered: all changes after `seq` follow. Not recovered: a snapshot follows. */
export interface AccountResumed extends BookVersion {
  readonly channel: 'account';
  readonly type: 'resumed';
  readonly stream: string;
  readonly streamId: number;
  readonly recovered: boolean;
}

export interface AccountHeartbeat {
  readonly channel: 'account';
  readonly type: 'heartbeat';
  readonly ts: number;
  readonly headSlot: number | null;
  readonly sequences: Readonly<Record<string, BookVersion>>;
}

export interface AccountErrorMessage {
  readonly channel: 'account';
  readonly type: 'error';
  readonly code: string;
  readonly error: string;
  /** True when the same request may succeed later. */
  readonly retry: boolean;
  readonly id?: string | number;
}

export type AccountFeedMessage =
  | AccountSubscribed
  | AccountSnapshot
  | OrderChangeMessage
  | AccountQueueMessage
  | AccountResumed
  | AccountHeartbeat
  | AccountErrorMessage;
