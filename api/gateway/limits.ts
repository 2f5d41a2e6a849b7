// Bounds of the gateway and where they come from.

/** A client lagging by more is closed with 1008 (specification, Limits). */
export const MAX_BUFFERED_BYTES = 300_000;
/**
 * Larger messages are not deflated, which takes some 15 µs a KB in the one loop: snapshots of books that hardly anybody has so deep.
 */
export const MAX_DEFLATED_BYTES = 64 * 1024;
/** Interval of `{channel:"heartbeat"}` and delay of the first one (specification, Limits). */
export const HEARTBEAT_MS = 5000;
/**
 * Largest client message: a resume of all book streams a connection may hold has up to 46,000 bytes, others about 150. A larger one
 * ends the connection.
 */
export const MAX_PAYLOAD_BYTES = 64 * 1024;
/** Channels one connection may hold: all twelve of each of 83 markets. The next one is answered as not subscribable. */
export const MAX_SUBSCRIPTIONS = 1000;
/**
 * Messages one connection may send at once, and each second for ever, whatever they say: five times what it takes to subscribe to
 * all it may hold. More closes it with 1008, because the engine cannot leave a socket unread.
 */
export const FLOOD = { burst: 5 * MAX_SUBSCRIPTIONS, perSecond: 2_000 } as const;
/**
 * Messages that cannot be a request are dropped at the door, under 1 µs each, measured. One connection may send so many, and all
 * connections so many beyond that; who goes on while these are used up is closed. So one that says anything is left alone, and a
 * thousand at once are not.
 */
export const NOISE = { burst: 10, perSecond: 10 } as const;
export const NOISE_OF_ALL = { burst: 10_000, perSecond: FLOOD.perSecond } as const;
/** What a client may have answered at once and for ever before it has to wait for those that say less. */
export const BRISK = { burst: 100, perSecond: 50 } as const;
/**
 * The same by what it costs the server: a replay is a whole book, no answer is next to nothing, and who leaves may come
 * again for another replay.
 */
export const BRISK_COST = { plain: 1, leave: 5, book: 5, repeated: 25, unresolved: 1, ignored: 1 } as const;
/**
 * How long whole books, or heartbeats, are written in one turn of the loop, milliseconds: what is more urgent waits for it. Some
 * 120 small books at 8 µs each; with half of it the fan-out of whole books was a tenth dearer, measured.
 */
export const WRITING_SLICE_MS = 1;
/** The clock is read once in so many writes: it takes 0.1 µs, and the largest book some 50. */
export const WRITES_A_LOOK = 4;
/** How long clients are heard in a turn of the loop, milliseconds: a published change may wait for it. */
export const TURN_SLICE_MS = 0.5;
/** The same for clients that say much, and the pause between two slices: a twentieth of one core, however many they are. */
export const BULK_SLICE_MS = 0.25;
export const BULK_PAUSE_MS = 5;
/** So few of them are heard without the pause, and for longer, unless others came lately: what they may say is soon over. */
export const BULK_WITHOUT_PAUSE = 4;
export const BULK_FEW_SLICE_MS = 1;
/**
 * A client with more unread bytes waits for its next answer, so that books it asked for all at once do not make it a lagging one
 * (MAX_BUFFERED_BYTES). How often that is looked at, and of how many clients at a time: under 0.1 ms.
 */
export const ANSWER_BUFFER_BYTES = 64 * 1024;
export const BEHIND_LOOK_MS = 20;
export const BEHIND_A_LOOK = 256;
/** Messages of one client that may wait for their answers; with more it is closed. */
export const WAITING_MESSAGES_MAX = 4 * MAX_SUBSCRIPTIONS;
/**
 * Messages of all clients that may begin to wait at once and each second. While more come, one client may have only so few
 * waiting: taking them in costs time too, and the engine cannot leave a socket unread.
 */
export const WAITING_RATE = { burst: 2 * WAITING_MESSAGES_MAX, perSecond: 4_000 } as const;
export const WAITING_MESSAGES_SCARCE = 100;
/** The same for one that says over again what it said last. */
export const WAITING_REPEATS_SCARCE = 10;
/** Bytes of all waiting messages; when they are reached each client has an equal share. */
export const WAITING_BYTES_MAX = 64 * 1024 * 1024;
/**
 * A gateway that starts before anything was published holds what asks for markets it does not know: until the registry has not
 * grown for this long, and no longer than the second.
 */
export const REGISTRY_SETTLES_MS = 250;
export const REGISTRY_WAIT_MS = 10_000;
/** How often it looks, while something is held. */
export const REGISTRY_LOOK_MS = 50;
/** Fills remembered to suppress a second sighting (reference 3.8); far more than any batch that is sent again. */
export const REMEMBERED_FILLS = 10_000;
/** Between the last close frame of a planned stop and the end of the servers. */
export const CLOSE_LINGER_MS = 100;
