// Quality of sources, priority fees, dead letters, final slots, writers of roles, and claims of wallet signatures. Units: see index.ts.

import { type MarketRef, marketKey } from '../chain/market.ts';

/** Quality of one source of one market; the newest record counts. Counters continue over restarts. */
export interface FeedQuality extends MarketRef {
  /** Input: `user`, `clob`, `market`, `oracle`, `trades`. Comparison of accounts with the chain: `shadow`. The book: `book`. */
  readonly source: string;
  /** Newest slot of the source, 0 before the first. */
  readonly slot: number;
  /** Unix milliseconds of the newest event's arrival, 0 before the first. */
  readonly atMs: number;
  readonly events: number;
  /** Number of outages; for `trades`, of slot ranges with missing transactions. */
  readonly gapsFound: number;
  /** How many of these were read completely afterwards. */
  readonly gapsFilled: number;
  /** Number of comparisons, and how many found a difference. */
  readonly checks: number;
  readonly differences: number;
  /** Slot and result of the newest comparison: `none`, `equal`, `differs`. */
  readonly checkSlot: number;
  readonly checkResult: string;
  /** Epoch of the published book; 0 where unknown. */
  readonly epoch: number;
}

/** The row of a source of which nothing is known yet. */
export function newQuality({ marketType, marketIndex }: MarketRef, source: string): FeedQuality {
  return {
    marketType,
    marketIndex,
    source,
    slot: 0,
    atMs: 0,
    events: 0,
    gapsFound: 0,
    gapsFilled: 0,
    checks: 0,
    differences: 0,
    checkSlot: 0,
    checkResult: 'none',
    epoch: 0,
  };
}

/** Record key of a row in `views.quality`. */
export function qualityKey(row: FeedQuality): string {
  return `${marketKey(row)}/${row.source}`;
}

/** One of several sources that run at once. */
export interface LiveSource {
  /** Host of the server, and its port. */
  readonly name: string;
  readonly kind: 'grpc' | 'pubsub';
  readonly role: 'leader' | 'follower' | 'down';
  /** Newest complete slot, 0 before the first. */
  readonly slot: number;
  /** Slots behind the first of all sources. */
  readonly lagSlots: number;
  /** Changes of accounts and transactions that other sources delivered and this one did not. */
  readonly missingAccounts: number;
  readonly missingTransactions: number;
  /** Accounts and blocks of a slot that differ from another source's; they count for both. */
  readonly contradictions: number;
  /** Faults that a read of the chain proved. */
  readonly faults: number;
  /** Whether there were so many faults that the source does not lead any more. */
  readonly isLying: boolean;
  /** The newest fault; empty without one. */
  readonly reason: string;
}

/** The live sources that run at once; the newest record counts. Empty while one source runs alone. */
export interface LiveSources {
  /** Unix milliseconds. */
  readonly atMs: number;
  readonly sources: readonly LiveSource[];
}

/** Priority fees that compete for a market's accounts, micro-lamports per compute unit; possibly fractional. */
export interface FeeLevels extends MarketRef {
  /** Wall-clock milliseconds at which the provider answered. */
  readonly atMs: number;
  readonly min: number;
  readonly low: number;
  readonly medium: number;
  readonly high: number;
  readonly veryHigh: number;
  readonly unsafeMax: number;
}

/** Input that no reader understands. A process drops nothing without writing one. */
export interface DeadLetter {
  readonly reason: string;
  readonly detail: string;
  readonly slot: number;
  /** Source of the bytes: account key, transaction signature, or `topic/partition/offset`. */
  readonly origin: string;
  readonly bytes: Uint8Array;
}

/** A block time whose slot the chain has finalized: no event up to it is taken back. */
export interface ChainFinality {
  readonly slot: number;
  /** Unix seconds. */
  readonly ts: number;
}

/**
 * A process asks to write for a role, refuses other processes, begins to write, or ends. The offset of its `began` mark is its
 * epoch: the log orders the processes, and the newest one that began is the writer.
 */
export interface WriterMark {
  readonly role: string;
  /** `asks`, `keeps`, `began` or `ended`. */
  readonly mark: string;
  /** In `ended`: the epoch. In `keeps`: the offset of the newest `asks` that it answers. Otherwise null. */
  readonly epoch: number | null;
  /** Host of the process, for operators. */
  readonly host: string;
  readonly pid: number;
  /** Package version. Null in marks of the oldest versions, which do not write it. */
  readonly version: string | null;
  /** Wall-clock milliseconds at which the process started. */
  readonly startedMs: number | null;
  /** Boot and process namespace in which `pid` identifies this process; null where unknown. */
  readonly machine: string | null;
}

/** A process claims a wallet signature for one write. The first claim of a digest in the log counts. */
export interface SignatureClaim {
  /** SHA-256 of the signature, which the log does not contain. */
  readonly digest: Uint8Array;
  /** Random name of this claim. */
  readonly claim: string;
  /** Unix seconds after which every process refuses the signature as expired. */
  readonly expiresS: number;
}
