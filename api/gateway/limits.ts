// Bounds of the gateway, each with its reason.

// Sending.

/** A client with more unread bytes is closed with 1008 (docs/internals/order-book-server.md). */
export const MAX_BUFFERED_BYTES = 300_000;
/** Larger messages go out uncompressed: deflating takes 15 µs a KB of the only loop. */
export const MAX_DEFLATED_BYTES = 64 * 1024;
/** Interval of `{channel:"heartbeat"}`, also the delay of the first one (docs/internals/order-book-server.md). */
export const HEARTBEAT_MS = 5000;
/**
 * Time for writing whole books or heartbeats in one turn of the loop, milliseconds: some 120 small books at 8 µs each. Measured:
 * with half of it the fan-out of whole books costs a tenth more.
 */
export const WRITE_SLICE_MS = 1;
/** Writes between two reads of the clock. A read takes 0.1 µs, the write of the largest book 50 µs. */
export const WRITES_PER_CLOCK_READ = 4;
/** Wait between the last close frame of a planned stop and the end of the servers. */
export const CLOSE_LINGER_MS = 100;

// Receiving: what one connection may send and subscribe to. Exceeding a rate closes it with 1008.

/** Largest client message. A resume of all book streams takes up to 360,000 bytes. A larger message ends the connection. */
export const MAX_PAYLOAD_BYTES = 384 * 1024;
/** Channels of one connection: all twelve of each of 83 markets. The next subscribe is answered with an error. */
export const MAX_SUBSCRIPTIONS = 1000;
/**
 * Messages of one connection, whatever their content: the burst is five times the subscribes for every channel it may hold. It
 * closes instead of pausing, because the engine cannot leave a socket unread.
 */
export const MESSAGE_RATE = { burst: 5 * MAX_SUBSCRIPTIONS, perSecond: 2_000 } as const;
/** A longer message counts as several messages of this length. */
export const MESSAGE_UNIT_BYTES = 64 * 1024;
/**
 * Malformed messages of one connection, and of all connections beyond their own budgets. Dropping one takes under 1 µs, so a
 * single babbling client stays connected, and a thousand do not.
 */
export const MALFORMED_RATE = { burst: 10, perSecond: 10 } as const;
export const MALFORMED_RATE_SHARED = { burst: 10_000, perSecond: MESSAGE_RATE.perSecond } as const;

// Handling order (inbox.ts): a client is light until its requests cost more than LIGHT_RATE, then heavy.

/** Request cost that a client may cause and stay light. */
export const LIGHT_RATE = { burst: 100, perSecond: 50 } as const;
/** Cost by kind of request. `repeated` and `leave` cost more because each can cause one more replay of a whole book. */
export const REQUEST_COST = { plain: 1, leave: 5, book: 5, repeated: 25, unresolved: 1, ignored: 1 } as const;
/** Time for light clients in one turn of the loop, milliseconds. A published change may wait that long. */
export const MESSAGE_SLICE_MS = 0.5;
/**
 * Slice of all heavy clients together, and the pause between slices: a twentieth of one core. A pause grows in proportion when
 * one long message outlasts its slice.
 */
export const HEAVY_SLICE_MS = 0.25;
export const HEAVY_PAUSE_MS = 5;
/** Up to so many heavy clients are served without a pause and in longer slices: their queues are soon empty. */
export const HEAVY_CLIENTS_WITHOUT_PAUSE = 4;
export const HEAVY_FEW_SLICE_MS = 1;
/**
 * A client with more unread bytes gets no next answer, so that many requested books do not push it over MAX_BUFFERED_BYTES.
 * Checked at this interval, for so many clients at a time (under 0.1 ms).
 */
export const BACKPRESSURE_BYTES = 64 * 1024;
export const BACKPRESSURE_CHECK_MS = 20;
export const BACKPRESSURE_CHECK_CLIENTS = 256;

// Queued messages (inbox.ts, startup-queue.ts): more of them close their client with 1008.

/** Queued messages of one client. */
export const QUEUED_MESSAGES_MAX = 4 * MAX_SUBSCRIPTIONS;
/** Bytes of all queued messages. At the bound each client has an equal share. */
export const QUEUED_BYTES_MAX = 64 * 1024 * 1024;
/**
 * Messages of all clients that may enter queues. Beyond this rate the gateway is crowded, and each client may have only few
 * queued: queueing costs time too, and the engine cannot leave a socket unread.
 */
export const QUEUE_RATE = { burst: 2 * QUEUED_MESSAGES_MAX, perSecond: 4_000 } as const;
export const CROWDED_MESSAGES_MAX = 100;
/** Equal messages in a row that one client may have queued while the gateway is crowded. */
export const CROWDED_REPEATS_MAX = 10;

// Start and memory.

/** Subscribes wait until the market registry has not grown for the first time, and no longer than the second. */
export const REGISTRY_SETTLES_MS = 250;
export const REGISTRY_WAIT_MS = 10_000;
/** Interval of the registry check while messages are held. */
export const REGISTRY_CHECK_MS = 50;
/** Remembered fills for suppressing duplicates: far more than any batch that is published again. */
export const REMEMBERED_FILLS = 10_000;
