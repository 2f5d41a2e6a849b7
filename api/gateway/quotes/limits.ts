// Bounds of the quote socket, each with its reason.

/** Largest message; MAX_QUOTES full quotes take 10 KB. A larger message ends the connection. */
export const MAX_QUOTE_BYTES = 16 * 1024;
/** Quotes of one message: published makers send one to five per market. */
export const MAX_QUOTES = 64;
/** Connections of all makers; the predecessor has a handful of makers. */
export const MAX_QUOTE_CONNECTIONS = 512;
/** Authenticated connections of one key: a restarted maker leaves old connections behind for a while. */
export const MAX_CONNECTIONS_PER_MAKER = 4;
/** Messages per second of one connection: two in each of 100 markets. */
export const MESSAGES_PER_SECOND = 200;
/** Messages at once, such as the first ones of all markets. */
export const MESSAGE_BURST = 400;
/** Time for a connection to authenticate; it is closed afterwards. */
export const AUTH_TIMEOUT_MS = 10_000;
/** Makers give up a connection silent for 60 s. Half of it leaves room for one lost heartbeat. */
export const QUOTE_HEARTBEAT_MS = 30_000;
/** Interval of the checks for timeouts and heartbeats. */
export const SWEEP_MS = 1000;
/** A connection with more unread bytes is closed; makers are sent next to nothing. */
export const MAX_UNREAD_BYTES = 64 * 1024;
/** Quote sets waiting for the log: MAX_QUOTE_CONNECTIONS makers in 40 markets. */
export const MAX_WAITING_SETS = 20_480;
/** Quote sets of one append: at most 1.3 MB, below the largest append of a log. */
export const SETS_PER_APPEND = 1000;
