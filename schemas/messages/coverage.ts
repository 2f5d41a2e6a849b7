// Completeness of numbered records, and requests to read blocks again. The chain numbers its records without a hole, so the
// numbers prove what the log has.

/** Streams of a market; `bookOrders` are those of its market-level book, `liquidations` those of an account. */
export type NumberedStream = 'fills' | 'funding' | 'deposits' | 'bookOrders' | 'liquidations';

/** The chain's own count of a stream. */
export interface StreamCounter {
  /** Market (`perp-0`), or account in base58. */
  readonly subject: string;
  readonly stream: string;
  readonly slot: number;
  /** Number of the newest record; 0 before the first. */
  readonly lastId: number;
}

/** Records that the log lacks: numbers `fromId` to `toId`, between two slots. */
export interface CoverageHole {
  readonly fromId: number;
  readonly toId: number;
  /** Slot of the stored record before the hole. */
  readonly fromSlot: number;
  /** Slot of the stored record after it, or of the chain's count. */
  readonly toSlot: number;
  /** A backfill read these slots and did not find them: no node has them. */
  readonly isLost: boolean;
}

/** What the log has of one stream. Without holes it is complete from `firstId` to `lastId`. */
export interface StreamCoverage {
  readonly subject: string;
  readonly stream: string;
  /** Newest slot of a record or count of the stream. */
  readonly slot: number;
  /** Null before the first record. */
  readonly firstId: number | null;
  readonly lastId: number | null;
  /** Newest number on the chain; null when unknown. */
  readonly chainId: number | null;
  /** Records in all holes. */
  readonly missing: number;
  /** Oldest first, at most `COVERAGE_HOLES_MAX`. */
  readonly holes: readonly CoverageHole[];
}

/** Holes in one message. */
export const COVERAGE_HOLES_MAX = 100;

export type BackfillState = 'asked' | 'running' | 'done' | 'failed' | 'cancelled';

/** A range of blocks to read again. The newest record of an id counts. */
export interface Backfill {
  readonly id: string;
  readonly fromSlot: number;
  readonly toSlot: number;
  /** All slots before it are read. */
  readonly nextSlot: number;
  readonly state: string;
  /** Events that the log lacked. */
  readonly found: number;
  /** Blocks that no node returned. */
  readonly lost: number;
  /** Why it was asked for; of a failed one, why it failed. */
  readonly reason: string;
  /** Unix milliseconds. */
  readonly atMs: number;
}

/** Key of a stream in its topics. */
export function streamKey({ subject, stream }: { readonly subject: string; readonly stream: string }): string {
  return `${subject}/${stream}`;
}
