// Messages of the gateway's `trades.v2` channel, for server and client. Types only, so that a browser client imports nothing.

import type { MarketType } from '../chain/market.ts';
import type { BookVersion } from './feed.ts';

/** Null means absent. */
export interface TradesSubscribe {
  readonly type: 'subscribe';
  readonly channel: 'trades.v2';
  /** Symbol in any letter case, or `*` for every market, present and future. */
  readonly market: string;
  /** `perp` when absent; with `*` both kinds when absent. */
  readonly marketType?: MarketType | null;
  /** `confirmed` when absent. */
  readonly commitment?: 'confirmed' | 'processed' | null;
  /** The last fill or withdrawal that the client has; with `*` by stream name. */
  readonly resume?: BookVersion | Readonly<Record<string, BookVersion>> | null;
  /** Echoed in the answers to this request. */
  readonly id?: string | number | null;
}

/** Where a stream stands. `last` is the newest fill, with the members of the `trades` channel; null after a withdrawal. */
export interface TradesSnapshot<T> extends BookVersion {
  readonly channel: 'trades.v2';
  readonly type: 'snapshot';
  readonly stream: string;
  /** Names the stream in the fills that follow on this connection. */
  readonly streamId: number;
  readonly market: string;
  /** Absent: confirmed. */
  readonly commitment?: 'processed';
  readonly marketType: MarketType;
  readonly marketIndex: number;
  /** Slot of the newest fill or withdrawal; 0 before the first. */
  readonly slot: number;
  readonly last: T | null;
}

/** One fill. Only fills have the member `trade`, the `streamId`; they have no `channel` or `type`. */
export interface NumberedTradeMessage<T> extends BookVersion {
  readonly trade: number;
  readonly prevSeq: number;
  readonly slot: number;
  /** Absent: confirmed. */
  readonly commitment?: 'processed';
  /** Index of the transaction in its block; null where unknown. With `slot` and `txSigIndex` the place in the chain. */
  readonly txIndex: number | null;
  /** Index of the fill among the events of its transaction. */
  readonly txSigIndex: number;
  readonly data: T;
}

/** A published fill at processed does not count. Only withdrawals have the member `withdraw`, the `streamId`. */
export interface TradeWithdrawalMessage extends BookVersion {
  readonly withdraw: number;
  readonly prevSeq: number;
  /** Slot of the withdrawn fill. */
  readonly slot: number;
  readonly commitment: 'processed';
  /** Number of the withdrawn fill, in the same epoch. */
  readonly tradeSeq: number;
  readonly txSig: string;
  readonly txSigIndex: number;
  /** Text beyond 2^53. */
  readonly fillRecordId: number | string;
}

export interface TradesSubscribed {
  readonly channel: 'trades.v2';
  readonly type: 'subscribed' | 'unsubscribed';
  readonly id?: string | number;
  readonly market: string;
  readonly marketType: MarketType | '*';
  readonly streams: readonly string[];
}

/** Answer to `resume`. Recovered: all fills after `seq` follow. Not recovered: a snapshot follows, and fills are missing. */
export interface TradesResumed extends BookVersion {
  readonly channel: 'trades.v2';
  readonly type: 'resumed';
  readonly stream: string;
  readonly streamId: number;
  readonly recovered: boolean;
}

export interface TradesHeartbeat {
  readonly channel: 'trades.v2';
  readonly type: 'heartbeat';
  readonly ts: number;
  readonly headSlot: number | null;
  readonly sequences: Readonly<Record<string, BookVersion>>;
}

export interface TradesErrorMessage {
  readonly channel: 'trades.v2';
  readonly type: 'error';
  readonly code: string;
  readonly error: string;
  /** True when the same request may succeed later. */
  readonly retry: boolean;
  readonly id?: string | number;
  readonly stream?: string;
}

export type TradeFeedMessage<T> =
  | TradesSnapshot<T>
  | NumberedTradeMessage<T>
  | TradeWithdrawalMessage
  | TradesSubscribed
  | TradesResumed
  | TradesHeartbeat
  | TradesErrorMessage;
