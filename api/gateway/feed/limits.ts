// Bounds of the `book` channel and where they come from.

/** Conflations a client may choose, milliseconds (issue: 0, 50, 100, 400, 1000). */
export const CONFLATIONS_MS = [0, 50, 100, 400, 1000] as const;
/**
 * How long the first change after a quiet tick waits for others to leave with it, milliseconds: what is published of many markets at once
 * comes in a batch for each partition of the log.
 */
export const GATHER_MS = 2;
/** Price levels per side a client may ask for; ten times the deepest L2 answer over REST. */
export const DEPTH_MAX = 1000;
/** Levels of a checksum asked for with `true`, and the most that may be asked for. */
export const CHECKSUM_LEVELS = 10;
export const CHECKSUM_LEVELS_MAX = 100;
/** Longest request id that is echoed. */
export const ID_LENGTH_MAX = 64;

/** Streams of one connection: four kinds of stream of 90 markets, and some. */
export const MAX_STREAMS = 512;
/** Wildcard subscriptions of one connection. */
export const MAX_WILDCARDS = 16;
/** Choices of wildcards that are noted once for all who make them. */
export const WILDCARDS_SHARED = 256;
/** Kinds of stream of one market that a connection may hold. */
export const MAX_KINDS_PER_CONNECTION = 8;
/**
 * What all kinds of stream of one market may cost together. Those of unlimited depth with no or the usual checksum are always
 * served and cost nothing here: nobody's choices can close a market's channel to others.
 */
export const KINDS_COST_MAX = 256;
/** What a conflated kind costs; one that is told at every change costs so much and one for each step of its depth. */
export const KIND_COST = { conflated: 1, unconflated: 3, depthStep: 250 } as const;

/**
 * Newest changes of a market kept in memory, encoded: ten minutes of a dozen changes a second with 1.7 kB each. Older ones are read
 * from the log. All markets together keep so much, but each of them its share.
 */
export const RING_BYTES_MAX = 16 * 1024 * 1024;
export const RINGS_BYTES_MAX = 64 * 1024 * 1024;
export const RING_SHARE_BYTES = 1024 * 1024;
/** What a change takes in memory beside its bytes, about. */
export const RING_ENTRY_BYTES = 300;
/** More that is kept of a market while a client is filled from there, so that changes do not fall out under it. */
export const RING_HELD_BYTES = 4 * 1024 * 1024;
/** Missed changes that are told one by one; more are told as one. */
export const RESUME_DIFFS_MAX = 1000;
/** The same bound in bytes of frames: with JOIN_BUFFER_BYTES below what closes a lagging client (300,000). */
export const RESUME_BYTES_MAX = 200_000;
/** Least bytes of a changed level or order in a message: more of them than the snapshot has bytes need not be merged. */
export const ENTRY_BYTES_MIN = { l2: 10, l3: 72 } as const;
/** What a snapshot takes that was not made, about: with sizes of one source, and with ranks. */
export const SNAPSHOT_BYTES = { head: 200, l2: 38, l3: 150 } as const;
/**
 * How far a resume reads back in the log: so many slots, twice the ten minutes that are promised at 400 ms a slot, unless they have
 * more bytes than ten minutes of a hundred changes a second with 500 bytes each; and further as long as it is little.
 */
export const RESUME_LOG_SLOTS = 3000;
export const RESUME_LOG_BYTES_MAX = 32 * 1024 * 1024;
export const RESUME_LOG_SPARE_BYTES = 8 * 1024 * 1024;
/** And in bytes of all markets' records that lie between; `views.book` lies in four partitions. */
export const LOG_PASSED_BYTES_MAX = 512 * 1024 * 1024;
/** First and longest stride of a search backwards in the log, and records in one page of it. */
export const LOG_STRIDE_RECORDS = 2048;
export const LOG_STRIDE_RECORDS_MAX = 65_536;
export const LOG_PAGE_RECORDS = 128;
/** How long the log is read in a turn of the loop, milliseconds. */
export const LOG_SLICE_MS = 1;
/** Markets whose changes are read back at the same time. */
export const LOG_READS_MAX = 2;
/** Kept after reading, of all markets together; the oldest readings leave. */
export const LOG_KEPT_BYTES_MAX = 64 * 1024 * 1024;
/** What a merged change of a level or order takes in memory, about. */
export const MERGED_CHANGE_BYTES = 400;
/** How long changes read back stay in memory: a crowd that returns together reads the log once. */
export const LOG_KEPT_MS = 15_000;
/** How long a log that could not be read is not asked again for a market; and one that lacks what was wanted. */
export const LOG_FAILED_MS = 2000;
export const LOG_LACKS_MS = 600_000;
/**
 * Changes that one client may have read back for it at once and for ever, some 10 µs each: ten minutes of 90 markets with three
 * changes a second. A reading counts as so many at least. One that goes beyond gets snapshots instead.
 */
export const LOG_ALLOWANCE = { burst: 200_000, perSecond: 1000 } as const;
export const LOG_READ_COST_MIN = 100;
/** Missed changes that are gathered in one turn of the loop, some 10 µs each, and in one step where they are more. */
export const FILL_DIFFS_AT_ONCE = 64;
export const FILL_STEP_DIFFS = 16;
/** Changed levels or orders that are merged in one step. */
export const MERGE_STEP_CHANGES = 512;
/** How long a resume may take before it ends with a snapshot: what was missed is read, or the gateway is behind the client. */
export const RESUME_WAIT_MS = 10_000;
/** Fills rendered for equal positions of one stream between two changes. */
export const FILLS_KEPT = 64;

/** A connection with more unread bytes waits before it joins its next stream. */
export const JOIN_BUFFER_BYTES = 64 * 1024;
/** Interval of the `book` heartbeat (issue). */
export const BOOK_HEARTBEAT_MS = 5000;
/** Between the `serverShutdown` notice and the close. */
export const SHUTDOWN_GRACE_MS = 500;
