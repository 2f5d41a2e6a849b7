// What the WebSocket engine compresses with, for clients that take it (permessage-deflate). The package's types know its
// constants as types only, so their values stand here.

/** How messages to clients are compressed; the names of the setting `gatewayDeflate`. */
export const COMPRESSORS = {
  off: 0,
  /** Each message by itself: `SHARED_COMPRESSOR`, no memory for a client. */
  shared: 1,
  /** With what the connection got before in mind: `DEDICATED_COMPRESSOR_8KB` for each client. Larger ones pack no better, measured. */
  dedicated: 163,
} as const;

export type Compressor = keyof typeof COMPRESSORS;
