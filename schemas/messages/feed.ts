// Messages of the gateway's `book` channel, for server and client. Types only, so that a browser client imports nothing.
// Integers travel as decimal strings (prices 1e6, sizes 1e9); `epoch`, `seq` and `slot` are JSON numbers below 2^53.

import type { MarketType } from '../chain/market.ts';

export type BookLevelKind = 'l2' | 'l3';
export type BookSourceName = 'dlob' | 'vamm';

/** A book version: the state after `seq` of `epoch`. */
export interface BookVersion {
  readonly epoch: number;
  readonly seq: number;
}

/** Null means absent. */
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
  /** Length of a tick in milliseconds; a tick brings at most one message. Every change when absent. */
  readonly conflation?: number | null;
  /** `true` for the top 10 levels, or their number. */
  readonly checksum?: boolean | number | null;
  /** `true`: orders name the transaction that last wrote them. Only with level `l3` and without `depth`. */
  readonly cause?: boolean | null;
  /** `confirmed` when absent. */
  readonly commitment?: 'confirmed' | 'processed' | null;
  /** With `*`: versions by stream name, as in the heartbeat. */
  readonly resume?: BookVersion | Readonly<Record<string, BookVersion>> | null;
  /** Echoed in the answers to this request. */
  readonly id?: string | number | null;
}

/**
 * `[price, size, sources]`: the only source by name, or the size of each. Without it all size is of resting orders (`dlob`).
 * `[price, '0']`: the level is removed.
 */
export type BookLevelEntry =
  | readonly [price: string, size: string, sources: BookSourceName | Readonly<Partial<Record<BookSourceName, string>>>]
  | readonly [price: string, size: string];

/** A transaction that wrote an order. */
export interface BookCause {
  readonly slot: number;
  /** base58 */
  readonly signature: string;
  /** Index of the transaction in its block; null where unknown. */
  readonly index: number | null;
}

export interface BookOrderRef {
  /** Base58 of the maker's user account. */
  readonly maker: string;
  readonly orderId: number;
  readonly source: 'user' | 'clob';
  /**
   * The transaction that last wrote the order, or that removed it; null where unknown, and where no transaction removed it.
   * Only on streams with causes.
   */
  readonly cause?: BookCause | null;
}

/** One resting order. Orders of equal price follow `rank`, compared number by number. */
export interface BookOrderEntry extends BookOrderRef {
  readonly price: string;
  readonly size: string;
  readonly rank: readonly number[];
}

interface BookState extends BookVersion {
  readonly slot: number;
  /**
   * Unix milliseconds at which the server published this state. In the backfill of a resume: at which it made the message,
   * because the log does not record the first publication. No checksum covers it.
   */
  readonly ts: number;
  /** CRC32 of the top levels after this message; only when subscribed with `checksum`. */
  readonly checksum?: number;
}

interface BookSnapshotHead extends BookState {
  readonly channel: 'book';
  readonly type: 'snapshot';
  /** Names the market and every option of the subscription. Equal names are one stream. */
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
  /** `streamId` of the stream. Only diffs have this member, and they have no `channel` or `type`. */
  readonly diff: number;
  /** `seq` of the stream's previous message. */
  readonly prevSeq: number;
  /** First abandoned slot whose changes this one undoes; only at commitment processed. */
  readonly revert?: number;
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
  /** Streams that this request started or ended. More follow when a `*` subscription meets a new market. */
  readonly streams: readonly string[];
}

/**
 * Answer to `resume`; `seq` is the client's version. Recovered: diffs from there follow, or a snapshot when that is shorter.
 * Not recovered: a snapshot follows.
 */
export interface BookResumed extends BookVersion {
  readonly channel: 'book';
  readonly type: 'resumed';
  readonly stream: string;
  /** Names the stream in the diffs that follow on this connection. */
  readonly streamId: number;
  readonly recovered: boolean;
}

/** Last version sent to each stream of this connection. Split into several messages above a thousand streams. */
export interface BookHeartbeat {
  readonly channel: 'book';
  readonly type: 'heartbeat';
  /** Unix milliseconds of the server. */
  readonly ts: number;
  /** Newest chain slot that the server has read; null while unknown. */
  readonly headSlot: number | null;
  /** Slots between `headSlot` and the slowest book of this connection; null while no slot or no book is known. */
  readonly slotsBehind: number | null;
  readonly sequences: Readonly<Record<string, BookVersion>>;
}

export interface BookErrorMessage {
  readonly channel: 'book';
  readonly type: 'error';
  readonly code: string;
  readonly error: string;
  /** True when the same request may succeed later. */
  readonly retry: boolean;
  readonly id?: string | number;
  /** The stream of a later market that a `*` subscription cannot get. The message then has no `id`. */
  readonly stream?: string;
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
