// Messages of the gateway's `book` channel as both ends see them. Types only, so that a browser client imports nothing.
// Integers travel as decimal strings (prices 1e6, sizes 1e9); `epoch`, `seq` and `slot` are JSON numbers below 2^53.

import type { MarketType } from '../market.ts';

export type BookLevelKind = 'l2' | 'l3';
export type BookSourceName = 'dlob' | 'vamm';

/** Where a subscriber stands: the state after `seq` of `epoch`. */
export interface BookPosition {
  readonly epoch: number;
  readonly seq: number;
}

/** Null is as good as absent. */
export interface BookSubscribe {
  readonly type: 'subscribe';
  readonly channel: 'book';
  /** Symbol in any letter case, or `*` for every market, present and future. */
  readonly market: string;
  /** `perp` when absent; with `*` both kinds when absent. */
  readonly marketType?: MarketType | null;
  readonly level?: BookLevelKind | null;
  /** Price levels per side; all when absent. */
  readonly depth?: number | null;
  /** Milliseconds of a tick, which brings at most one message; every change when absent. */
  readonly conflation?: number | null;
  /** `true` for the top 10 levels, or how many. */
  readonly checksum?: boolean | number | null;
  /** With `*`: positions by stream name, as the heartbeat tells them. */
  readonly resume?: BookPosition | Readonly<Record<string, BookPosition>> | null;
  /** Echoed in what answers this request. */
  readonly id?: string | number | null;
}

/**
 * `[price, size, sources]`: the only source by name, or the size of each; without it all is of resting orders (`dlob`).
 * `[price, '0']`: the level is gone.
 */
export type BookLevelEntry =
  | readonly [price: string, size: string, sources: BookSourceName | Readonly<Partial<Record<BookSourceName, string>>>]
  | readonly [price: string, size: string];

export interface BookOrderRef {
  /** Base58 of the maker's user account. */
  readonly maker: string;
  readonly orderId: number;
  readonly source: 'user' | 'clob';
}

/** One resting order. Orders of equal price stand in the order of `rank`, compared number by number. */
export interface BookOrderEntry extends BookOrderRef {
  readonly price: string;
  readonly size: string;
  readonly rank: readonly number[];
}

interface BookState extends BookPosition {
  readonly slot: number;
  /** CRC32 of the top levels after this message; only where it was asked for. */
  readonly checksum?: number;
}

interface BookSnapshotHead extends BookState {
  readonly channel: 'book';
  readonly type: 'snapshot';
  /** Names the market and every choice of the subscription; equal names are one stream. */
  readonly stream: string;
  /** Names the stream in the diffs that follow on this connection. */
  readonly streamId: number;
  readonly market: string;
  readonly marketType: MarketType;
  readonly marketIndex: number;
}

export interface BookL2Snapshot extends BookSnapshotHead {
  readonly level: 'l2';
  readonly bids: readonly BookLevelEntry[];
  readonly asks: readonly BookLevelEntry[];
}

export interface BookL3Snapshot extends BookSnapshotHead {
  readonly level: 'l3';
  readonly bids: readonly BookOrderEntry[];
  readonly asks: readonly BookOrderEntry[];
}

interface BookDiffHead extends BookState {
  /** `streamId` of the stream. The only messages with this member, which have no `channel` or `type`. */
  readonly diff: number;
  /** `seq` of the stream's message before this one. */
  readonly prevSeq: number;
}

/** Lists without entries are left out. */
export interface BookL2Diff extends BookDiffHead {
  readonly bids?: readonly BookLevelEntry[];
  readonly asks?: readonly BookLevelEntry[];
}

/** `gone` applies before `bids` and `asks`; lists without entries are left out. */
export interface BookL3Diff extends BookDiffHead {
  readonly gone?: readonly BookOrderRef[];
  readonly bids?: readonly BookOrderEntry[];
  readonly asks?: readonly BookOrderEntry[];
}

export interface BookSubscribed {
  readonly channel: 'book';
  readonly type: 'subscribed' | 'unsubscribed';
  readonly id?: string | number;
  readonly market: string;
  readonly marketType: MarketType | '*';
  /** Streams this request brought or ended. Further ones follow when a `*` meets a new market. */
  readonly streams: readonly string[];
}

/**
 * Answer to `resume`; `seq` is where the client stood. Recovered: diffs from there follow, or a snapshot where that is shorter. Not
 * recovered: a snapshot follows.
 */
export interface BookResumed extends BookPosition {
  readonly channel: 'book';
  readonly type: 'resumed';
  readonly stream: string;
  /** Names the stream in the diffs that follow on this connection. */
  readonly streamId: number;
  readonly recovered: boolean;
}

/** Last position sent to each stream that this connection holds. */
export interface BookHeartbeat {
  readonly channel: 'book';
  readonly type: 'heartbeat';
  readonly sequences: Readonly<Record<string, BookPosition>>;
}

export interface BookErrorMessage {
  readonly channel: 'book';
  readonly type: 'error';
  readonly code: string;
  readonly error: string;
  /** True when the same request may succeed later. */
  readonly retry: boolean;
  readonly id?: string | number;
}

export interface ServerShutdown {
  readonly channel: 'server';
  readonly type: 'serverShutdown';
  /** Milliseconds until the connection is closed with 1012. */
  readonly closesInMs: number;
}

export type BookSnapshotMessage = BookL2Snapshot | BookL3Snapshot;
export type BookDiffMessage = BookL2Diff | BookL3Diff;
export type BookFeedMessage =
  | BookSnapshotMessage
  | BookDiffMessage
  | BookSubscribed
  | BookResumed
  | BookHeartbeat
  | BookErrorMessage
  | ServerShutdown;
