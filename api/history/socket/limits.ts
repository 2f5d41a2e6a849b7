// Bounds of the history socket and where they come from.

/** Changes of a channel are collected this long (history reference 6.3). */
export const BATCH_MS = 300;
/** A client that leaves more unread is closed with 1008, as on the order-book server. */
export const MAX_BUFFERED_BYTES = 300_000;
/** Largest client message; real ones have about 100 bytes. A larger one ends the connection. */
export const MAX_PAYLOAD_BYTES = 16 * 1024;
/** Channels one connection may hold: every resolution of 100 markets. */
export const MAX_SUBSCRIPTIONS = 1000;
/** Messages one connection may send at once, and a second for ever; more close it with 1008. */
export const MESSAGE_BURST = 2 * MAX_SUBSCRIPTIONS;
export const MESSAGES_PER_SECOND = 100;
/**
 * Seconds of silence after which the engine ends a connection; it sends a ping 16 s before that. So a ping every 30 s, and
 * no pong before the next would be due ends the connection (history reference 6.5).
 */
export const IDLE_TIMEOUT_S = 46;
/** Fills held for a candle channel whose candle has not come yet. */
export const MAX_HELD_TRADES = 1000;
