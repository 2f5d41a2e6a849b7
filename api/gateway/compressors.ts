// Compression modes (permessage-deflate) of the WebSocket engine. The package exports its constants as types only, so their
// values stand here.

/** Modes by the names of the setting `gatewayDeflate`. */
export const COMPRESSORS = {
  off: 0,
  /** `SHARED_COMPRESSOR`: compresses each message by itself and needs no memory per client. */
  shared: 1,
  /** `DEDICATED_COMPRESSOR_8KB` per client: keeps the sliding window between messages. Measured: larger windows pack no better. */
  dedicated: 163,
} as const;

export type Compressor = keyof typeof COMPRESSORS;
