// Bounds of the `book` channel and where they come from.

/** Conflations a client may choose, milliseconds (issue: 0, 50, 100, 400, 1000). */
export const CONFLATIONS_MS = [0, 50, 100, 400, 1000] as const;
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
/** Kinds of stream of one market that a connection may hold. */
export const MAX_KINDS_PER_CONNECTION = 8;
/**
 * What all kinds of stream of one market may cost together. Those of unlimited depth with no or the usual checksum are always
 * served and cost nothing here: nobody's choices can close a market's channel to others.
 */
export const KINDS_COST_MAX = 256;
/** What a conflated kind costs; one that is told at every change costs so much and one for each step of its depth. */
export const KIND_COST = { conflated: 1, unconflated: 3, depthStep: 250 } as const;

/** Newest changes of a market kept in memory, encoded. Older ones are read from the log. */
export const RING_DIFFS_MAX = 4096;
export const RING_BYTES_MAX = 1024 * 1024;
/** Missed changes that are told one by one; more are told as one. */
export const RESUME_DIFFS_MAX = 1000;
/** The same bound in bytes of frames: with JOIN_BUFFER_BYTES below what closes a lagging client (300,000). */
export const RESUME_BYTES_MAX = 200_000;
/** Changes of one market read back from the log: ten minutes at 100 a second. */
export const RESUME_LOG_DIFFS_MAX = 60_000;
/** Records of all markets passed over for that; `views.book` lies in four partitions. */
export const RESUME_LOG_RECORDS_MAX = 1_000_000;
/** First stride of a search backwards in the log, and records in one page of it. */
export const LOG_STRIDE_RECORDS = 2048;
export const LOG_PAGE_RECORDS = 512;
/** Markets whose changes are read back at the same time. */
export const LOG_READS_MAX = 2;
/** Changes kept after reading, of all markets together; the oldest readings leave. */
export const LOG_KEPT_DIFFS_MAX = 200_000;
/** How long changes read back stay in memory: a crowd that returns together reads the log once. */
export const LOG_KEPT_MS = 15_000;
/** How long a client that is ahead of this gateway is waited for before it gets a snapshot. */
export const RESUME_WAIT_MS = 5000;
/** Fills rendered for equal positions of one stream between two changes. */
export const FILLS_KEPT = 64;

/** A connection with more unread bytes waits before it joins its next stream. */
export const JOIN_BUFFER_BYTES = 64 * 1024;
/** How often waiting joins look again when nothing else happens. */
export const JOIN_RETRY_MS = 20;
/** Interval of the `book` heartbeat (issue). */
export const BOOK_HEARTBEAT_MS = 5000;
/** Between the `serverShutdown` notice and the close. */
export const SHUTDOWN_GRACE_MS = 500;
