// Completeness of numbered records, and requests to read blocks again. The chain numbers its records without a hole, so the
// numbers prove what the log has.

/** Streams of an account. */
export type AccountStream = 'orders' | 'liquidations';
/** Streams of an account and of a market; `bookOrders` are those of its market-level book. */
export type NumberedStream = AccountStream | 'fills' | 'funding' | 'deposits' | 'bookOrders';

/** The number of the newest record of a stream, by an account of the chain. */
export interface StreamCount {
  /** Market (`perp-0`), or account in base58. */
  readonly subject: string;
  readonly stream: string;
  readonly slot: number;
  /** Number of the newest record; 0 before the first. */
  readonly lastId: number;
  /** The count before; null at the first sight of the account. */
  readonly fromId: number | null;
}

/** The chain's own count of a stream, as the log has it. */
export interface StreamCounter extends StreamCount {
  /** The count before still stood in this slot; null when that is unknown. */
  readonly fromSlot: number | null;
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
  /** Of lost fills, what stored records and account states of their orders prove. */
  readonly reconstructed: readonly ReconstructedFills[];
  /** Of lost orders, those that account states showed. */
  readonly reconstructedOrders: readonly ReconstructedOrder[];
}

/** The sum of the lost fills of one order that is proven, exact. It is not part of any candle or volume. */
export interface ReconstructedFills {
  /** base58 */
  readonly user: string;
  readonly orderId: number;
  readonly direction: string;
  /** Decimal text, base 1e9 and quote 1e6. */
  readonly baseAssetAmount: string;
  /** Null where account states of older versions bound the sum. */
  readonly quoteAssetAmount: string | null;
}

/** An order whose record is lost, as its account had it. */
export interface ReconstructedOrder {
  readonly orderId: number;
  /** `perp-0` */
  readonly market: string;
  readonly direction: string;
  readonly orderType: string;
  /** Decimal text, price 1e6 and base 1e9. */
  readonly price: string;
  readonly baseAssetAmount: string;
  readonly placedSlot: number;
}

/** The records of one stream in the log. Without holes it is complete from `firstId` to `lastId`. */
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

/** The records in the log of one stream of all accounts. */
export interface AccountsCoverage {
  readonly stream: string;
  /** Newest slot of all records and counts. */
  readonly slot: number;
  /** Accounts with a record or a count. */
  readonly accounts: number;
  readonly withHoles: number;
  /** Records in all holes, and how many of them no node has. */
  readonly missing: number;
  readonly lost: number;
  /** Accounts that were forgotten since the first start, because there were too many. */
  readonly forgotten: number;
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
  readonly state: BackfillState;
  /** Events that the log lacked. */
  readonly found: number;
  /** Slots whose block no node returned whole, except those that a later block proves skipped. */
  readonly lost: number;
  /** Why it was asked for; of a failed one, why it failed. */
  readonly reason: string;
  /** Unix milliseconds. */
  readonly atMs: number;
}

/** Stored transactions that the chain dropped after it had confirmed them: they never happened in this slot. */
export interface SlotRetraction {
  readonly slot: number;
  /** 64 bytes each. */
  readonly signatures: readonly Uint8Array[];
}

/** Key of a stream in its topics. */
export function streamKey({ subject, stream }: { readonly subject: string; readonly stream: string }): string {
  return `${subject}/${stream}`;
}

/** Key of the totals of a stream of accounts. */
export function accountsKey({ stream }: { readonly stream: string }): string {
  return streamKey({ subject: 'accounts', stream });
}

/** Whether a missing number proves a missing record. The program also numbers a liquidation that only marks an account. */
export function provesRecord({ stream }: { readonly stream: string }): boolean {
  return stream !== 'liquidations';
}

export function isAccountStream(stream: string): boolean {
  return stream === 'orders' || stream === 'liquidations';
}
