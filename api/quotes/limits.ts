// Bounds of the quote socket and where they come from.

/** Largest message; one with MAX_QUOTES full quotes has about 10 KB. A larger one ends the connection. */
export const MAX_QUOTE_BYTES = 16 * 1024;
/** Quotes of one message: published makers send one to five per market. */
export const MAX_QUOTES = 64;
/** Connections of all makers together; the published service has a handful of makers. */
export const MAX_QUOTE_CONNECTIONS = 512;
/** Authenticated connections of one maker key: a restart of its machines leaves old ones behind for a while. */
export const MAX_CONNECTIONS_PER_MAKER = 4;
/** Messages a connection may send per second: every market twice (reference 2.7) with 100 markets. */
export const MESSAGES_PER_SECOND = 200;
/** Messages that may come at once, such as the first of every market. */
export const MESSAGE_BURST = 400;
/** A connection that has not authenticated by then is closed. */
export const AUTH_TIMEOUT_MS = 10_000;
/** Makers give up a connection that says nothing for 60 s (reference 2.7); half of it leaves room for a lost one. */
export const QUOTE_HEARTBEAT_MS = 30_000;
/** How often timeouts and heartbeats are looked for. */
export const SWEEP_MS = 1000;
/** Unread bytes of one connection above which it is closed; a maker is told next to nothing. */
export const MAX_UNREAD_BYTES = 64 * 1024;
/** Sets waiting for the log: MAX_QUOTE_CONNECTIONS makers in 40 markets. */
export const MAX_WAITING_SETS = 20_480;
/** Sets written to the log together; at most 1.3 MB, below what a log takes at once. */
export const SETS_PER_APPEND = 1000;
