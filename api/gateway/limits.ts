// Bounds of the gateway and where they come from.

/** A client lagging by more is closed with 1008 (specification, Limits). */
export const MAX_BUFFERED_BYTES = 300_000;
/** Interval of `{channel:"heartbeat"}` and delay of the first one (specification, Limits). */
export const HEARTBEAT_MS = 5000;
/** Largest client message; real ones have about 150 bytes. A larger one ends the connection. */
export const MAX_PAYLOAD_BYTES = 16 * 1024;
/** Channels one connection may hold: every channel of 90 markets. The next one is answered as not subscribable. */
export const MAX_SUBSCRIPTIONS = 1000;
/** Messages one connection may send at once: twice what it takes to subscribe to everything it may hold. */
export const MESSAGE_BURST = 2 * MAX_SUBSCRIPTIONS;
/** Messages a second one connection may send for ever; more than the burst and these closes it with 1008. */
export const MESSAGES_PER_SECOND = 100;
/** Fills remembered to suppress a second sighting (reference 3.8); far more than any batch that is sent again. */
export const REMEMBERED_FILLS = 10_000;
/** Between the last close frame of a planned stop and the end of the servers. */
export const CLOSE_LINGER_MS = 100;
