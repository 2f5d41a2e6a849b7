// Bounds of the `book` channel, each with its reason.

// Choices of a subscription.

/** Published conflations, milliseconds. */
export const CONFLATIONS_MS = [0, 50, 100, 400, 1000] as const;
/** Greatest depth, price levels per side: ten times the deepest L2 answer over REST. */
export const DEPTH_MAX = 1000;
/** Levels under a checksum of `true`, and the most that a client may request. */
export const CHECKSUM_LEVELS = 10;
export const CHECKSUM_LEVELS_MAX = 100;
/** Longest echoed request id. */
export const ID_LENGTH_MAX = 64;
/**
 * Wait of the first change after a quiet tick, milliseconds. Changes of many markets arrive in one batch per partition of the log;
 * the wait lets them leave together.
 */
export const FIRST_CHANGE_WAIT_MS = 2;

// Subscriptions.

/** Streams of one connection: two kinds of 2,000 markets. Each takes 90 bytes, once for all connections with equal streams. */
export const MAX_STREAMS = 4096;
/** Wildcard subscriptions of one connection. */
export const MAX_WILDCARDS = 16;
/** Different wildcards that connections share. */
export const WILDCARDS_SHARED = 256;
/** Kinds of stream of one market on one connection. */
export const MAX_KINDS_PER_CONNECTION = 8;
/**
 * Total cost of the kinds of stream of one market. Streams of unlimited depth with no or the usual checksum cost nothing. So
 * the choices of some cannot close a market's channel to others.
 */
export const KINDS_COST_MAX = 256;
/** Cost of a kind: `conflated`, or `unconflated` and one more for each `depthStep` levels of depth. */
export const KIND_COST = { conflated: 1, unconflated: 3, depthStep: 250 } as const;

// Changes in memory (ring.ts).

/**
 * Encoded changes of one market and of all markets: ten minutes of a dozen changes of 1.7 kB a second. At the second bound each
 * market still has its share. The log has older changes.
 */
export const RING_BYTES_MAX = 16 * 1024 * 1024;
export const RINGS_BYTES_MAX = 64 * 1024 * 1024;
export const RING_SHARE_BYTES = 1024 * 1024;
/** Approximate memory of a change beside its bytes. */
export const RING_ENTRY_BYTES = 300;
/** Extra room in a market's ring while a backfill uses it. */
export const RING_BACKFILL_BYTES = 4 * 1024 * 1024;

// Backfills.

/** Most missed changes that are sent singly; more are merged. */
export const RESUME_DIFFS_MAX = 1000;
/** The same in bytes of frames. With BACKPRESSURE_BYTES it stays below MAX_BUFFERED_BYTES. */
export const RESUME_BYTES_MAX = 200_000;
/** Least bytes of a level or order in a message. More entries than the snapshot has room for need no merging. */
export const ENTRY_BYTES_MIN = { l2: 10, l3: 72 } as const;
/** Approximate bytes of a snapshot: of its head, and of each level or order. */
export const SNAPSHOT_BYTES = { head: 200, l2: 38, l3: 150 } as const;
/** Missed changes that one turn of the loop gathers at once, 10 µs each, and that one step of a longer backfill gathers. */
export const BACKFILL_DIFFS_AT_ONCE = 64;
export const BACKFILL_STEP_DIFFS = 16;
/** Levels or orders that one step merges. */
export const MERGE_STEP_CHANGES = 512;
/** Longest duration of a resume. After it the client gets a snapshot. */
export const RESUME_WAIT_MS = 10_000;
/** Rendered backfills of one stream between two of its messages. */
export const BACKFILLS_KEPT = 64;

// Reading changes back from the log.

/**
 * How far a resume reads back: 3,000 slots, twice the promised ten minutes at 400 ms a slot. The first bound of bytes holds ten
 * minutes of 100 changes of 500 bytes a second. Beyond these slots a resume reads up to EXTRA bytes.
 */
export const RESUME_LOG_SLOTS = 3000;
export const RESUME_LOG_BYTES_MAX = 32 * 1024 * 1024;
export const RESUME_LOG_EXTRA_BYTES = 8 * 1024 * 1024;
/** Scanned bytes of one read, over the records of all markets in the partition. */
export const LOG_SCAN_BYTES_MAX = 512 * 1024 * 1024;
/** First and longest stride of the backward search, and records of one page. */
export const LOG_STRIDE_RECORDS = 2048;
export const LOG_STRIDE_RECORDS_MAX = 65_536;
export const LOG_PAGE_RECORDS = 128;
/** Time for reading the log in one turn of the loop, milliseconds. */
export const LOG_SLICE_MS = 1;
/** Markets read at the same time. */
export const LOG_READS_MAX = 2;
/** Cached reads of all markets: the oldest leave at the bound, all leave after the time. A returning crowd reads once. */
export const LOG_CACHE_BYTES_MAX = 64 * 1024 * 1024;
export const LOG_CACHE_MS = 15_000;
/** Approximate memory of a merged level or order. */
export const MERGED_CHANGE_BYTES = 400;
/** How long a market is not read again after a failed read, and for changes that the log lacks. */
export const LOG_FAILED_MS = 2000;
export const LOG_MISSING_MS = 600_000;
/**
 * Changes read back for one client, 10 µs each: ten minutes of 90 markets with three changes a second. A read costs at least the
 * minimum. A client beyond this rate gets snapshots.
 */
export const LOG_READ_RATE = { burst: 200_000, perSecond: 1000 } as const;
export const LOG_READ_COST_MIN = 100;

// Heartbeat and stop.

/** Interval of the `book` heartbeat. */
export const BOOK_HEARTBEAT_MS = 5000;
/** Streams of one heartbeat message, 60 bytes each. More streams take several messages, far below MAX_BUFFERED_BYTES. */
export const HEARTBEAT_STREAMS = 1000;
/** Time between the `serverShutdown` notice and the close. */
export const SHUTDOWN_GRACE_MS = 500;
