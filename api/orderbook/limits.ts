// Bounds of the order-book REST and where they come from; the routes keep them and the contract tells them.

/** Default and cap of `depth` (specification, Limits). */
export const MAX_DEPTH = 100;
/** A client asks for each market once; this bounds one batch answer to a few megabytes. */
export const MAX_MARKETS = 200;
/** What the published service puts before the text of a batch market's own failure. */
export const FAILURE_PREFIX = 'Bad Request: ';
/** Default of `limit` of `/topMakers` (specification, Limits). */
export const DEFAULT_MAKERS = 4;
/** No book holds more makers than this; keeps `limit` a sane number. */
export const MAX_MAKERS = 100_000;
/** Most accounts read from the chain for one request, one getMultipleAccounts call; makers beyond have null. */
export const MAX_ACCOUNTS = 100;
/** Bounds one request to the oracle provider. */
export const MAX_FEEDS = 100;
export const FEED_ID_MAX = 0xffff_ffff;
/** Orders carry the auction's duration and the client's order id in one byte each. */
export const BYTE_MAX = 255;
/** Shorter bodies are not compressed (reference 1.1). */
export const COMPRESS_FROM_BYTES = 1024;
/** In order of preference (reference 1.1). */
export const ENCODINGS = ['gzip', 'deflate'] as const;
/** Batch answers whose bytes are kept while none of their books changes, and the longest that is. */
export const MAX_KEPT_BATCHES = 32;
export const MAX_KEPT_BATCH_CHARS = 500_000;
