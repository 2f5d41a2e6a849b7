// The source port: whatever watches a chain hands these to the ingester. Four adapters: RPC, capture file, Yellowstone, tests.

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
}

export type SourceUpdate = AccountUpdate | TransactionLogs | SlotUpdate | SnapshotBegin | SnapshotEnd | GapNotice;

/** Where to resume transactions: the newest signature per program known to be in the log. */
export interface ResumePoint {
  readonly slot: number;
  /** Program id (base58) to signature (base58). */
  readonly signatures: Readonly<Record<string, string>>;
}

export interface Source {
  /** Streams until the signal aborts or the source ends (a capture does). Throws only when it cannot go on. */
  updates(resume: ResumePoint | null, signal: AbortSignal): AsyncIterable<readonly SourceUpdate[]>;
  /** Logs of one transaction in full, or null when the chain no longer has it. */
  transaction(signature: string): Promise<TransactionLogs | null>;
}
