// The source port: whatever watches a chain hands these to the ingester. Four adapters: RPC, capture file, Yellowstone, tests.

import type { ParkReason } from './park-reasons.ts';

export interface AccountUpdate {
  readonly kind: 'account';
  readonly slot: number;
  /** Order inside a slot where the source knows it. */
  readonly writeVersion: bigint | null;
  readonly pubkey: Uint8Array;
  readonly owner: Uint8Array;
  /** Empty when the account was closed. */
  readonly data: Uint8Array;
}

export interface TransactionLogs {
  readonly kind: 'transaction';
  readonly slot: number;
  /** base58 */
  readonly signature: string;
  readonly failed: boolean;
  readonly logs: readonly string[];
  /** Position in its block where the source knows it. */
  readonly blockIndex: number | null;
  /** Unix seconds where the source knows it. */
  readonly blockTime: number | null;
}

export interface SlotUpdate {
  readonly kind: 'slot';
  readonly slot: number;
}

/** When the block of a slot was made; now and then, possibly some slots late. */
export interface TimeUpdate {
  readonly kind: 'time';
  readonly slot: number;
  /** Unix seconds. */
  readonly ts: number;
}

/** A complete read of all accounts of the programs follows, up to `snapshotEnd`; accounts it lacks are gone. */
export interface SnapshotBegin {
  readonly kind: 'snapshotBegin';
  readonly slot: number;
}
export interface SnapshotEnd {
  readonly kind: 'snapshotEnd';
  readonly slot: number;
}

/** Transactions between the two slots may be missing and are being looked for; filled says whether they were found. */
export interface GapNotice {
  readonly kind: 'gap';
  readonly fromSlot: number;
  readonly toSlot: number;
  readonly filled: boolean;
  readonly reason: string;
  /** True when nothing that can still be asked would bring them. */
  readonly isLasting?: boolean;
}

/** Something the source received and could not read; `origin` says where. */
export interface GarbageNotice {
  readonly kind: 'garbage';
  readonly reason: ParkReason;
  readonly detail: string;
  readonly origin: string;
  readonly bytes: Uint8Array;
}

/** The connection was lost or could not be made, told at each attempt; a snapshot follows once it is made. */
export interface ReconnectNotice {
  readonly kind: 'reconnect';
  readonly reason: string;
}

/** Every transaction up to this point has been handed over: a later run may begin here. */
export interface ProgressNotice {
  readonly kind: 'progress';
  readonly resume: ResumePoint;
}

export type SourceUpdate =
  | AccountUpdate
  | TransactionLogs
  | SlotUpdate
  | TimeUpdate
  | SnapshotBegin
  | SnapshotEnd
  | GapNotice
  | GarbageNotice
  | ReconnectNotice
  | ProgressNotice;

/**
 * A source that is given a resume point hands over transactions of this many slots before it again: nothing is missed
 * when the order of signatures inside a slot, or the tip of a lagging node, was not what it seemed.
 */
export const RESUME_MARGIN_SLOTS = 64;

/** Where to resume transactions. All transactions up to and including `slot` are known to be in the log. */
export interface ResumePoint {
  readonly slot: number;
  /** Program id (base58) to the newest signature (base58) at or before the slot. */
  readonly signatures: Readonly<Record<string, string>>;
  /** Which chain or recording this is a point of (genesis hash, file name); a point of another one means nothing. */
  readonly chain: string;
  /** Where in a recording, for sources that count lines. */
  readonly line?: number;
}

/** A complete read of the wanted accounts, made apart from the stream; idle users are left out. */
export interface AccountsRead {
  /** Oldest slot that one of its parts was read at. */
  readonly slot: number;
  /** Each with the slot at which it was read, which is not that of its newest change. */
  readonly updates: readonly AccountUpdate[];
}

export interface Source {
  /** Streams until the signal aborts or the source ends (a capture does). Throws only when it cannot go on. */
  updates(resume: ResumePoint | null, signal: AbortSignal): AsyncIterable<readonly SourceUpdate[]>;
  /** Logs of one transaction in full, or null when the chain no longer has it. */
  transaction(signature: string): Promise<TransactionLogs | null>;
  /** All accounts as they are now. Absent where the source cannot say (a recording). Rejects when they cannot be read. */
  accounts?(signal: AbortSignal): Promise<AccountsRead>;
}
