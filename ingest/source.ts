// The source port: the updates that ingest receives from a chain. Adapters: a Solana node (`rpc.ts`), with a gRPC stream beside
// it (`grpc/`), and a capture.

import type { LiveSource } from '../schemas/index.ts';
import type { ParkReason } from './dead-letter.ts';

export interface AccountUpdate {
  readonly kind: 'account';
  readonly slot: number;
  /** Order of the writes of this account inside a slot; null when the source does not know it. */
  readonly writeVersion: bigint | null;
  readonly pubkey: Uint8Array;
  readonly owner: Uint8Array;
  /** Empty for a closed account. */
  readonly data: Uint8Array;
  /** Signature (64 bytes) of the transaction that wrote this state; absent when the source does not know it. */
  readonly signature?: Uint8Array;
  /** Index of that transaction in its block; absent while it is not known. */
  readonly blockIndex?: number;
}

export interface TransactionLogs {
  readonly kind: 'transaction';
  readonly slot: number;
  /** base58 */
  readonly signature: string;
  /** The signature as 64 bytes, from sources that have read it already: decoding base58 takes time. */
  readonly signatureBytes?: Uint8Array;
  readonly failed: boolean;
  readonly logs: readonly string[];
  /** Index in its block; null when the source does not know it. */
  readonly blockIndex: number | null;
  /** Unix seconds; null when the source does not know it. */
  readonly blockTime: number | null;
}

export interface SlotUpdate {
  readonly kind: 'slot';
  readonly slot: number;
}

/** Block time of a slot. Comes every few slots and may lag. */
export interface TimeUpdate {
  readonly kind: 'time';
  readonly slot: number;
  /** Unix seconds. */
  readonly ts: number;
}

/** A block time whose slot the chain has finalized. */
export interface FinalUpdate {
  readonly kind: 'final';
  readonly slot: number;
  /** Unix seconds. */
  readonly ts: number;
}

/** Starts a complete read of the programs' accounts, which lasts until `snapshotEnd`. Accounts it lacks are closed. */
export interface SnapshotBegin {
  readonly kind: 'snapshotBegin';
  readonly slot: number;
}
export interface SnapshotEnd {
  readonly kind: 'snapshotEnd';
  readonly slot: number;
}

/** Transactions between the two slots may be missing. `filled` means that they have been found. */
export interface GapNotice {
  readonly kind: 'gap';
  readonly fromSlot: number;
  readonly toSlot: number;
  readonly filled: boolean;
  readonly reason: string;
  /** True when no source can return the transactions any more. */
  readonly isLasting?: boolean;
}

/** Unreadable data that the source received; `origin` names its place. */
export interface GarbageNotice {
  readonly kind: 'garbage';
  readonly reason: ParkReason;
  readonly detail: string;
  readonly origin: string;
  readonly bytes: Uint8Array;
}

/** The connection was lost or a new attempt failed. Repeated for each attempt; a snapshot or `continued` follows. */
export interface ReconnectNotice {
  readonly kind: 'reconnect';
  readonly reason: string;
}

/** A new connection continues the lost one without loss, so no snapshot follows. */
export interface ContinuedNotice {
  readonly kind: 'continued';
  readonly slot: number;
}

/** Every transaction up to this point has been delivered: a later run may begin here. */
export interface ProgressNotice {
  readonly kind: 'progress';
  readonly resume: ResumePoint;
}

export type SourceUpdate =
  | AccountUpdate
  | TransactionLogs
  | SlotUpdate
  | TimeUpdate
  | FinalUpdate
  | SnapshotBegin
  | SnapshotEnd
  | GapNotice
  | GarbageNotice
  | ReconnectNotice
  | ContinuedNotice
  | ProgressNotice;

/**
 * Slots before a resume point that a source delivers again. They cover transactions whose order inside a slot differed
 * between two answers, and nodes that lag behind.
 */
export const RESUME_MARGIN_SLOTS = 64;

/** Where to resume transactions. All transactions up to and including `slot` are known to be in the log. */
export interface ResumePoint {
  readonly slot: number;
  /** Program id (base58) to the newest signature (base58) at or before the slot. */
  readonly signatures: Readonly<Record<string, string>>;
  /** Genesis hash or capture file. A resume point is valid only for the same chain. */
  readonly chain: string;
  /** Line in a capture; only for sources that count lines. */
  readonly line?: number;
  /** Accounts of each program and kind in the last complete read; only for sources that read accounts. */
  readonly accounts?: Readonly<Record<string, number>>;
}

/** A complete read of accounts apart from the stream. Leaves out idle users. */
export interface AccountsRead {
  /** Oldest slot of the read's parts. */
  readonly slot: number;
  /** Newest slot of an update. */
  readonly newestSlot: number;
  /** Each update has the slot of the read, not of the account's last change. They may be gone through once. */
  readonly updates: Iterable<AccountUpdate>;
  /** False when only some accounts were read: the others stay unknown. */
  readonly isWhole: boolean;
}

/** The accounts that a partial read covers. */
export interface AccountsWanted {
  /** Accounts changed at this slot or later, where a node can list them. */
  readonly changedSince: number;
  /** Their keys, where no node can. Called at most once. */
  readonly keys: () => readonly Uint8Array[];
}

/** Slots of a range, both ends included. */
export interface SlotRange {
  readonly fromSlot: number;
  readonly toSlot: number;
}

/** The slots of a range: those with a block, and those that may have one which no node has. The others were skipped. */
export interface BlockSlots {
  /** Oldest first. */
  readonly slots: readonly number[];
  readonly missing: readonly SlotRange[];
}

/** Reads whole blocks within the background share of the node's budget. */
export interface BlockReader {
  /** Rejects when no node answers. */
  slots(range: SlotRange): Promise<BlockSlots>;
  /** Transactions of a block in order, and the number of those without logs. Null when no node has the block. */
  read(slot: number): Promise<{ readonly transactions: readonly TransactionLogs[]; readonly lacking: number } | null>;
}

/** A transaction in a slot. */
export interface TransactionPlace {
  readonly slot: number;
  /** base58 */
  readonly signature: string;
}

/** Asks for the finalized chain within the background share of the node's budget. */
export interface FinalityReader {
  /**
   * The transactions that the finalized chain does not have in their slots, or that failed there; it has passed all of these
   * slots. Rejects without an answer, and when no node proves the content of a slot.
   */
  lacking(places: readonly TransactionPlace[]): Promise<readonly TransactionPlace[]>;
  /** Where the finalized chain has transactions; nothing for one that it does not have. Rejects without an answer. */
  landed(signatures: readonly string[]): Promise<readonly TransactionPlace[]>;
}

export interface Source {
  /** Streams until the signal aborts or the source ends (a capture does). Throws only when it cannot continue. */
  updates(resume: ResumePoint | null, signal: AbortSignal): AsyncIterable<readonly SourceUpdate[]>;
  /** Logs of one transaction in full, or null when the chain no longer has it. */
  transaction(signature: string): Promise<TransactionLogs | null>;
  /** Blocks of a range of slots, for backfills. Absent for a recording. */
  blocks?(signal: AbortSignal): BlockReader;
  /** Reads all current accounts, or the wanted ones. Absent for a recording. Rejects when the read fails. */
  accounts?(signal: AbortSignal, wanted?: AccountsWanted): Promise<AccountsRead>;
  /** The finalized chain. Absent for a recording. */
  finality?(signal: AbortSignal): FinalityReader;
  /** State of the sources behind this one. Absent for a single source. */
  reports?(): readonly LiveSource[];
}
