// Bounds of the channels of numbered records (`trades.v2`, `account`) beside those of limits.ts, each with its reason.

/** Missed records of the longest resume, 900 bytes each: an hour of three fills a second. History has older ones. */
export const RESUME_RECORDS_MAX = 10_000;
/** Missed records that one turn of the loop sends: 60 kB, below BACKPRESSURE_BYTES, rendered in 0.5 ms. */
export const BACKFILL_RECORDS_AT_ONCE = 64;
/** Rendered records of a stream that a crowd of returning clients shares, 900 bytes each. */
export const FRAMES_KEPT = 256;
/** Queue positions are looked at so often: a slot and a bit. */
export const QUEUE_INTERVAL_MS = 500;
/** Time of the loop that one look may take: below 1 % of it. */
export const QUEUE_SLICE_MS = 4;
/** Accounts of one connection whose queue positions it may follow: a wallet's sub-accounts, four times. */
export const MAX_QUEUE_ACCOUNTS = 32;
/** Streams of accounts of one connection: 256 accounts of four parts. */
export const MAX_ACCOUNT_STREAMS = 1024;
