// How sources stand, what fees compete, what could not be read, and who writes. Units: see ../messages.ts.

import type { MarketRef } from '../market.ts';

/** What is known of one source of one market; the newest counts. A count goes on over restarts. */
export interface FeedQuality extends MarketRef {
  /** `user`, `clob`, `market`, `oracle`, `trades`: what comes in. `shadow`: accounts against the chain. `book`: the book itself. */
  readonly source: string;
  /** Newest slot of the source, 0 before the first. */
  readonly slot: number;
  /** Unix milliseconds at which the newest event was taken in, 0 before the first. */
  readonly atMs: number;
  readonly events: number;
  /** Outages, each once; of `trades`, stretches in which transactions were missing. */
  readonly gapsFound: number;
  /** Of these, those after which everything was read; never more. */
  readonly gapsFilled: number;
  /** Comparisons made, and how many of them found a difference. */
  readonly checks: number;
  readonly differences: number;
  /** Slot and result of the newest comparison: `none`, `equal`, `differs`. */
  readonly checkSlot: number;
  readonly checkResult: string;
  /** Epoch of the published book; 0 where it is not known. */
  readonly epoch: number;
}

/** Priority fees that compete for a market's accounts, micro-lamports per compute unit; may be fractional. */
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

/** Something that could not be read. Nothing is dropped without one of these. */
export interface DeadLetter {
  readonly reason: string;
  readonly detail: string;
  readonly slot: number;
  /** Where it came from: account key, transaction signature, or `topic/partition/offset`. */
  readonly origin: string;
  readonly bytes: Uint8Array;
}

/**
 * A process began to write for a role, or has ended and writes nothing more. Its epoch is the offset of the mark with
 * which it began: the log itself puts processes in order, and the newest is the one that writes.
 */
export interface WriterMark {
  readonly role: string;
  /** `began` or `ended`. */
  readonly mark: string;
  /** Epoch of the process that ended; null in the mark that makes the epoch. */
  readonly epoch: number | null;
  /** Where the process runs, for people. */
  readonly host: string;
  readonly pid: number;
}
