// Limits of the history socket and their reasons.

/** A channel collects changes this long. */
export const BATCH_MS = 300;
/** A client with more unread bytes is closed with 1008, as on the order-book server. */
export const MAX_BUFFERED_BYTES = 300_000;
/** Largest client message; real messages have about 100 bytes. A larger one closes the connection. */
export const MAX_PAYLOAD_BYTES = 16 * 1024;
/** Channels per connection: every resolution of more than 100 markets. */
export const MAX_SUBSCRIPTIONS = 1000;
/** Messages per connection, as a burst and per second; more close it with 1008. */
export const MESSAGE_BURST = 2 * MAX_SUBSCRIPTIONS;
export const MESSAGES_PER_SECOND = 100;
/**
 * The engine closes a connection after this many silent seconds and sends a ping 16 s earlier. So it pings every 30 s and
 * closes a connection whose pong does not arrive before the next ping.
 */
export const IDLE_TIMEOUT_S = 46;
/** Buffered fills of a candle channel whose candle has not arrived. */
export const MAX_BUFFERED_FILLS = 1000;
/** Newest events kept to drop copies, which follow closely: about 3 MB. */
export const MAX_RECENT_EVENTS = 20_000;
