// Every failure a client can be told of: status or close code, exact text, and whether the same request may succeed later.
// The texts are the specification's; nothing else in this room writes one.

export interface TextError {
  readonly status: number;
  readonly text: string;
  /** True when the same request may succeed later. */
  readonly retry: boolean;
}

/** Order-book server: plain-text bodies. */
export const ORDERBOOK_ERRORS = {
  marketMissing: {
    status: 400,
    text: 'Bad Request: (marketName) or (marketIndex and marketType) must be supplied',
    retry: false,
  },
  marketTypeUnknown: { status: 400, text: 'Bad Request: marketType must be either "spot" or "perp"', retry: false },
  marketIndexUnknown: { status: 400, text: 'Bad Request: invalid marketIndex', retry: false },
  marketNameUnknown: { status: 400, text: 'Bad Request: unrecognized marketName', retry: false },
  sideUnknown: { status: 400, text: 'Bad Request: side must be either bid or ask', retry: false },
  limitNotANumber: { status: 400, text: 'Bad Request: limit must be a number if supplied', retry: false },
  batchLengths: {
    status: 400,
    text: 'Bad Request: all params for batch request must be the same length',
    retry: false,
  },
  batchTooLong: { status: 400, text: 'Bad Request: at most 200 markets per batch request', retry: false },
  auctionMissing: {
    status: 400,
    text: 'Bad Request: marketIndex, marketType, direction, amount, and assetType are required',
    retry: false,
  },
  auctionIndexNotANumber: { status: 400, text: 'Bad Request: marketIndex must be a valid number', retry: false },
  auctionDirectionUnknown: {
    status: 400,
    text: 'Bad Request: direction must be either "long" or "short"',
    retry: false,
  },
  auctionAssetTypeUnknown: {
    status: 400,
    text: 'Bad Request: assetType must be either "base" or "quote"',
    retry: false,
  },
  pnlMarketMissing: { status: 400, text: 'Bad Request: must include a marketIndex', retry: false },
  feedIdsMissing: { status: 400, text: 'Bad Request: must include a feedIds', retry: false },
  feedIdsUnusable: { status: 400, text: 'Bad Request: feedIds must be numbers, at most 100', retry: false },
  slotMalformed: { status: 400, text: 'Bad Request: slot must be a whole number', retry: false },
  slotAhead: { status: 400, text: 'Bad Request: this slot is not complete yet', retry: true },
  slotGone: { status: 404, text: 'Not found: no book of this slot is kept', retry: false },
  slotIndicative: {
    status: 400,
    text: 'Bad Request: slot cannot be combined with includeIndicative, indicative quotes are not kept',
    retry: false,
  },
  slotBusy: { status: 503, text: 'Too many books of earlier slots are asked for', retry: true },
  noL3: { status: 500, text: 'No L3 found', retry: true },
  stalled: { status: 500, text: 'NOK', retry: true },
  notReady: { status: 500, text: 'Not ready', retry: true },
  notFound: { status: 404, text: 'Not found', retry: false },
  malformedPath: { status: 400, text: 'Bad Request: the path does not decode', retry: false },
  malformedHttp: { status: 400, text: 'Bad Request: this is not HTTP', retry: false },
  requestTimeout: { status: 408, text: 'Request timeout', retry: true },
  headersTooLarge: { status: 431, text: 'Request line and headers must be at most 64 KiB', retry: false },
  internal: { status: 500, text: 'Internal error', retry: true },
} as const satisfies Record<string, TextError>;

export type OrderbookErrorCode = keyof typeof ORDERBOOK_ERRORS;

/** A failure of the order-book server; answered with the status and text of its code, and a detail where one helps. */
export class OrderbookError extends Error {
  override readonly name = 'OrderbookError';
  readonly code: OrderbookErrorCode;

  constructor(code: OrderbookErrorCode, detail = '') {
    super(ORDERBOOK_ERRORS[code].text + detail);
    this.code = code;
  }
}

/** `/auctionParams`: a request that leads to no order. Bodies `{error}`, status 400. */
export const AUCTION_ERRORS = {
  noPrices: {
    status: 400,
    text: 'Cannot create valid auction parameters: could not fetch prices',
    retry: true,
  },
  unknownReference: {
    status: 400,
    text: 'Cannot create valid auction parameters: unknown reference price',
    retry: false,
  },
  outOfRange: { status: 400, text: 'Cannot create valid auction parameters: value out of range', retry: false },
  unknownMarket: { status: 400, text: 'Cannot create valid auction parameters: unknown market', retry: false },
  notAnInteger: {
    status: 400,
    text: 'Cannot create valid auction parameters: amounts must be raw integers',
    retry: false,
  },
} as const satisfies Record<string, TextError>;

export type AuctionFailure = keyof typeof AUCTION_ERRORS;

/** `/oracleLazer` without the secret or an allowed page: body `{error}`. */
export const FORBIDDEN_ORIGIN = { status: 403, error: 'Forbidden: Invalid origin', retry: false } as const;

export interface JsonError {
  readonly status: number;
  /** The `error` member of the body. */
  readonly error: string;
  /** The `message` member; null where the thrower supplies it. */
  readonly message: string | null;
  readonly retry: boolean;
  /** The body is `{success: false, error}` instead. */
  readonly bare?: true;
}

/** History service: bodies `{error, message}`. */
export const HISTORY_ERRORS = {
  validation: { status: 400, error: 'ValidationError', message: null, retry: false },
  notFound: { status: 404, error: 'Not Found', message: null, retry: false },
  unknownOrder: { status: 404, error: 'Order not found', message: null, retry: true, bare: true },
  internal: { status: 500, error: 'InternalError', message: 'Internal Server Error', retry: true },
  storeAway: { status: 503, error: 'ServiceUnavailable', message: 'The history store cannot be reached', retry: true },
  notBuilt: { status: 503, error: 'ServiceUnavailable', message: 'This history is not built yet', retry: true },
  malformedHttp: { status: 400, error: 'ValidationError', message: 'This is not HTTP', retry: false },
  requestTimeout: { status: 408, error: 'RequestTimeout', message: 'Request timeout', retry: true },
  headersTooLarge: {
    status: 431,
    error: 'ValidationError',
    message: 'Request line and headers must be at most 64 KiB',
    retry: false,
  },
  paramsMissing: { status: 503, error: 'Params not found', message: null, retry: true, bare: true },
} as const satisfies Record<string, JsonError>;

export type HistoryErrorCode = keyof typeof HISTORY_ERRORS;

/** A failure of the history service; `detail` fills the message of codes that have none of their own. */
export class HistoryError extends Error {
  override readonly name = 'HistoryError';
  readonly code: HistoryErrorCode;

  constructor(code: HistoryErrorCode, detail?: string, options?: ErrorOptions) {
    super(HISTORY_ERRORS[code].message ?? detail ?? HISTORY_ERRORS[code].error, options);
    this.code = code;
  }
}

export interface SocketClose {
  readonly code: number;
  readonly reason: string;
  readonly retry: boolean;
}

/** Why the gateway ends a connection by itself. */
export const SOCKET_CLOSES = {
  unknownChannel: { code: 1003, reason: '{"error":"Error subscribing to channel"}', retry: false },
  overflow: { code: 1008, reason: 'Buffer overflow', retry: true },
  flood: { code: 1008, reason: 'Too many messages', retry: true },
  restart: { code: 1012, reason: 'Service restart', retry: true },
} as const satisfies Record<string, SocketClose>;

/** `error` members of gateway messages; the connection stays open. */
export const SOCKET_ERRORS = {
  subscribe: 'Error subscribing to channel',
  unsubscribe: 'Error unsubscribing from channel',
} as const;

/** Why the quote socket is not opened: HTTP status and text. */
export const QUOTE_REFUSALS = {
  badKey: { status: '400 Bad Request', text: 'Bad Request: pubkey must be a base58 public key', retry: false },
  notAllowed: { status: '403 Forbidden', text: 'Forbidden: this key may not quote', retry: false },
  full: { status: '503 Service Unavailable', text: 'Too many connections', retry: true },
} as const;

export type QuoteRefusal = keyof typeof QUOTE_REFUSALS;

/** Why the quote socket ends a connection by itself. */
export const QUOTE_CLOSES = {
  authTimeout: { code: 1008, reason: 'Authentication timeout', retry: true },
  unauthenticated: { code: 1008, reason: 'Not authenticated', retry: false },
  badSignature: { code: 1008, reason: 'Authentication failed', retry: false },
  tooManyConnections: { code: 1008, reason: 'Too many connections of this key', retry: true },
  tooManyMessages: { code: 1008, reason: 'Too many messages', retry: true },
  overflow: { code: 1008, reason: 'Buffer overflow', retry: true },
} as const satisfies Record<string, SocketClose>;

export type QuoteCloseReason = keyof typeof QUOTE_CLOSES;

/** `error` members of quote socket messages; the connection stays open and the message changes nothing else. */
export const QUOTE_ERRORS = {
  notAnObject: 'Quotes must be a JSON object',
  marketTypeUnknown: 'market_type must be perp',
  marketUnknown: 'Unknown market_index',
  quotesMissing: 'quotes must be a list',
  tooManyQuotes: 'At most 64 quotes per message',
  malformedQuote: 'Malformed quote; it and the quotes after it were left out',
  busy: 'Quotes cannot be taken now',
  full: 'This market has as many makers as it may have; try again later',
} as const;

export type QuoteErrorCode = keyof typeof QUOTE_ERRORS;

export interface BookFeedError {
  /** The `error` member. */
  readonly text: string;
  readonly retry: boolean;
}

/** `error` messages of the `book` channel, by their `code`; the connection stays open. */
export const BOOK_FEED_ERRORS = {
  market: { text: 'market and marketType name no listed market', retry: true },
  level: { text: 'level must be l2 or l3', retry: false },
  depth: { text: 'depth must be a whole number from 1 to 1000', retry: false },
  conflation: { text: 'conflation must be 0, 50, 100, 400 or 1000', retry: false },
  checksum: { text: 'checksum must be true, false or a whole number from 1 to 100', retry: false },
  resume: { text: 'resume must be {epoch, seq}, or with market * such positions by stream', retry: false },
  limit: { text: 'too many book subscriptions', retry: true },
} as const satisfies Record<string, BookFeedError>;

export type BookFeedErrorCode = keyof typeof BOOK_FEED_ERRORS;

/** `message` members of error messages on the history socket; the connection stays open (history reference 6.4). */
export const HISTORY_SOCKET_ERRORS = {
  json: 'Invalid JSON',
  type: 'Invalid message: type must be subscribe or unsubscribe',
  missing: 'Invalid subscription message: channelType, or symbol and resolution, are missing',
  unknownChannel: 'Unknown channel type',
  /** The channel type follows. */
  parameters: 'Invalid parameters for channel type: ',
  tooMany: 'Too many subscriptions',
  notBuilt: 'This channel is not built yet',
} as const;
