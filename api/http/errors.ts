// Every failure that clients can receive: status or close code, exact text, and whether the same request may succeed later.
// The texts are part of the published contract. No other file of this room writes one. Long, because it is one table.

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
  commitmentUnknown: {
    status: 400,
    text: 'Bad Request: commitment must be either confirmed or processed',
    retry: false,
  },
  noProcessedBooks: {
    status: 400,
    text: 'Bad Request: this server has no books at commitment processed',
    retry: false,
  },
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

/** A failure of the order-book server. The answer has the status and text of its code, and a detail where one helps. */
export class OrderbookError extends Error {
  override readonly name = 'OrderbookError';
  readonly code: OrderbookErrorCode;

  constructor(code: OrderbookErrorCode, detail = '') {
    super(ORDERBOOK_ERRORS[code].text + detail);
    this.code = code;
  }
}

/** `/auctionParams`: the request leads to no order. Bodies `{error}`, status 400. */
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
  /** The `message` member; null where the code that throws supplies it. */
  readonly message: string | null;
  readonly retry: boolean;
  /** The body is `{success: false, error}` instead. */
  readonly bare?: true;
  /** Only routes that read wallet signatures answer with it. */
  readonly signed?: true;
  /** Only routes with a body answer with it. */
  readonly hasBody?: true;
  /** Only the path of the WebSocket answers with it. */
  readonly socket?: true;
  /** Only routes of statement exports answer with it. */
  readonly ofExports?: true;
}

/** Wallet signatures, in the order of their checks: bodies `{success: false, error}`. */
const WALLET_ERRORS = {
  walletMissing: unauthorized('Missing authentication headers'),
  walletMalformed: unauthorized('Invalid wallet address'),
  walletMessage: unauthorized('Invalid message format'),
  walletMismatch: unauthorized('Wallet address mismatch'),
  walletTimestamp: unauthorized('Invalid timestamp - must be unix timestamp in seconds'),
  walletExpired: unauthorized('Signature expired'),
  walletEarly: { ...unauthorized('Timestamp too far in future'), retry: true },
  walletSignature: unauthorized('Invalid signature'),
  walletUndecodable: unauthorized('Signature verification failed'),
  walletAction: unauthorized('Invalid action - the message was signed for another one'),
  delegateAccountMissing: signed(400, 'velocityUserAccount is required when isDelegate is true'),
  delegateAccountMalformed: signed(400, 'velocityUserAccount must be a public key'),
  delegateAccountUnknown: { ...signed(404, 'Velocity user account not found'), retry: true },
  delegateRefused: signed(403, 'Not authorized as delegate for this account'),
  authorityForeign: signed(403, 'Signer is not authorized for this authority'),
  walletReplayed: unauthorized('Signature already used'),
  claimsAway: { ...signed(503, 'Signatures cannot be checked at the moment'), retry: true },
} as const satisfies Record<string, JsonError>;

/** `/notifications`: bodies `{success: false, error}`. */
const NOTIFICATION_ERRORS = {
  unknownNotification: signed(404, 'Notification not found'),
  unknownDevice: signed(404, 'Device not found'),
  tooManyDevices: signed(400, 'A wallet has at most 10 devices'),
  changeAway: { ...signed(503, 'Changes cannot be stored at the moment'), retry: true },
} as const satisfies Record<string, JsonError>;

function signed<E extends string>(status: number, error: E) {
  return { status, error, message: null, retry: false as boolean, bare: true, signed: true } as const;
}

function unauthorized<E extends string>(error: E) {
  return signed(401, error);
}

/** History service: bodies `{error, message}`. */
export const HISTORY_ERRORS = {
  validation: { status: 400, error: 'ValidationError', message: null, retry: false },
  notFound: { status: 404, error: 'Not Found', message: null, retry: false },
  unknownOrder: { status: 404, error: 'Order not found', message: null, retry: true, bare: true },
  internal: { status: 500, error: 'InternalError', message: 'Internal Server Error', retry: true },
  storeAway: { status: 503, error: 'ServiceUnavailable', message: 'The history store cannot be reached', retry: true },
  notBuilt: { status: 503, error: 'ServiceUnavailable', message: 'This history is not built yet', retry: true },
  rpcBusy: { status: 503, error: 'RPCError', message: 'Too many calls to the chain at once', retry: true },
  exportsAway: {
    status: 503,
    error: 'ServiceUnavailable',
    message: 'Export jobs cannot be read at the moment',
    retry: true,
    ofExports: true,
  },
  exportsFull: {
    status: 409,
    error: 'Conflict',
    message: 'Too many exports of this wallet: wait until some are finished or have expired',
    retry: true,
    ofExports: true,
  },
  urlUnsigned: {
    status: 403,
    error: 'Forbidden',
    message: 'This URL is not signed by this service',
    retry: false,
    ofExports: true,
  },
  urlExpired: {
    status: 403,
    error: 'Forbidden',
    message: 'This URL has expired: the list of exports has a new one',
    retry: false,
    ofExports: true,
  },
  exportGone: { status: 404, error: 'Not Found', message: 'This file has expired', retry: false, ofExports: true },
  downloadsBusy: { status: 503, error: 'ServiceUnavailable', message: 'Too many bulk downloads at once', retry: true },
  malformedHttp: { status: 400, error: 'ValidationError', message: 'This is not HTTP', retry: false },
  requestTimeout: { status: 408, error: 'RequestTimeout', message: 'Request timeout', retry: true },
  tooManyRequests: { status: 429, error: 'Too many requests', message: null, retry: true, bare: true },
  headersTooLarge: {
    status: 431,
    error: 'ValidationError',
    message: 'Request line and headers must be at most 64 KiB',
    retry: false,
  },
  bodyTooLarge: { status: 413, error: 'PayloadTooLarge', message: null, retry: false, hasBody: true },
  rpcAway: { status: 503, error: 'RPCError', message: 'The chain cannot be read', retry: true },
  ...WALLET_ERRORS,
  upgradeRequired: {
    status: 426,
    error: 'UpgradeRequired',
    message: 'This path is a WebSocket',
    retry: false,
    socket: true,
  },
  ...NOTIFICATION_ERRORS,
  paramsMissing: { status: 503, error: 'Params not found', message: null, retry: true, bare: true },
} as const satisfies Record<string, JsonError>;

export type HistoryErrorCode = keyof typeof HISTORY_ERRORS;

/** A failure of the history service. `detail` is the message of codes without a message of their own. */
export class HistoryError extends Error {
  override readonly name = 'HistoryError';
  readonly code: HistoryErrorCode;
  /** Seconds for the header `Retry-After`; null without one. */
  readonly retryAfterS: number | null;

  constructor(code: HistoryErrorCode, detail?: string, options: ErrorOptions & { readonly retryAfterS?: number } = {}) {
    super(HISTORY_ERRORS[code].message ?? detail ?? HISTORY_ERRORS[code].error, options);
    this.code = code;
    this.retryAfterS = options.retryAfterS ?? null;
  }
}

export interface TxErrorEntry {
  readonly status: number;
  /** The `error` member. `$` stands for a detail. */
  readonly text: string;
  readonly retry: boolean;
}

/** `/tx/*`: bodies `{success: false, error}`. A failure of the program itself has the program's text, code and name. */
export const TX_ERRORS = {
  body: { status: 400, text: 'Body must be a JSON object', retry: false },
  bodyTooLarge: { status: 413, text: 'Body must be at most 16 KiB', retry: false },
  missing: { status: 400, text: 'Missing required fields: $', retry: false },
  boolean: { status: 400, text: '$ must be true or false', retry: false },
  publicKey: { status: 400, text: 'Invalid public key format for $', retry: false },
  accountUnknown: { status: 400, text: 'Account not found: $', retry: true },
  symbol: { status: 400, text: 'Invalid symbol: $', retry: false },
  symbols: { status: 400, text: 'Invalid perp symbols: $', retry: false },
  symbolList: { status: 400, text: 'symbols must be a list of 1 to 32 texts', retry: false },
  nothingToSettle: { status: 400, text: 'No perp markets found to settle', retry: true },
  amount: { status: 400, text: 'Invalid amount: must be a positive number', retry: false },
  price: { status: 400, text: 'Invalid price: must be a positive number', retry: false },
  priceMissing: { status: 400, text: 'price is required for limit orders', retry: false },
  direction: { status: 400, text: 'direction must be long or short', retry: false },
  orderType: {
    status: 400,
    text: 'orderType must be market, limit, triggerMarket, triggerLimit or oracle',
    retry: false,
  },
  priceUnused: {
    status: 400,
    text: 'price is for limit orders only, and not together with oraclePriceOffset',
    retry: false,
  },
  triggerPrice: { status: 400, text: 'Invalid triggerPrice: must be a positive number', retry: false },
  triggerCondition: { status: 400, text: 'triggerCondition must be above or below', retry: false },
  triggerUnused: { status: 400, text: '$ is for trigger orders only', retry: false },
  oracleOffset: { status: 400, text: 'Invalid oraclePriceOffset: must be a number other than 0', retry: false },
  oracleOffsetMissing: { status: 400, text: 'oraclePriceOffset is required for oracle orders', retry: false },
  oracleOffsetUnused: { status: 400, text: 'oraclePriceOffset is for limit and oracle orders only', retry: false },
  maxLeverage: {
    status: 400,
    text: 'positionMaxLeverage must be a number from 1 to 1000 with at most 2 decimals',
    retry: false,
  },
  builderParams: {
    status: 400,
    text: 'builderParams must have builderIdx (0 to 127) and builderFeeTenthBps (1 to 65535), whole numbers',
    retry: false,
  },
  swiftOrderType: { status: 400, text: 'useSwift takes market, limit and oracle orders only', retry: false },
  unsupported: { status: 400, text: 'The program of this deployment does not have $', retry: false },
  marginMode: { status: 400, text: 'marginMode must be cross or isolated', retry: false },
  postOnlyMarket: { status: 400, text: 'postOnly needs a limit order', retry: false },
  orderId: { status: 400, text: 'orderId must be a whole number', retry: false },
  orderIds: { status: 400, text: 'orderIds must be a list of 1 to 32 whole numbers', retry: false },
  oneSelection: { status: 400, text: 'Only one of orderId, orderIds and symbol may be given', retry: false },
  maxFee: { status: 400, text: 'maxFeeTenthBps must be a positive integer', retry: false },
  numOrders: { status: 400, text: 'numOrders must be an integer between 1 and 128', retry: false },
  ownBuilder: { status: 400, text: 'builderId must not be authorityId', retry: false },
  tooLarge: { status: 400, text: 'The transaction is larger than a packet', retry: false },
  signedTxMissing: { status: 400, text: 'signedTx is required', retry: false },
  notBase64: { status: 400, text: 'signedTx must be base64', retry: false },
  signedTxTooLarge: { status: 400, text: 'signedTx must be at most 1232 bytes', retry: false },
  notATransaction: { status: 400, text: 'signedTx is not a transaction', retry: false },
  oneSigner: { status: 400, text: 'The transaction must have exactly one signer', retry: false },
  badSignature: { status: 400, text: 'The signature is not valid', retry: false },
  unknownTable: { status: 400, text: 'The transaction uses an unknown lookup table', retry: false },
  unexpectedProgram: { status: 400, text: 'The transaction calls an unexpected program: $', retry: false },
  notOurs: { status: 400, text: 'The transaction does not call the exchange', retry: false },
  commitment: { status: 400, text: 'commitment must be processed, confirmed or finalized', retry: false },
  refused: { status: 400, text: 'The node refused the transaction: $', retry: true },
  landed: { status: 400, text: 'The transaction failed on the chain: $', retry: false },
  expired: { status: 400, text: 'The transaction expired: its blockhash is too old', retry: false },
} as const satisfies Record<string, TxErrorEntry>;

export type TxErrorCode = keyof typeof TX_ERRORS;

/** A request of `/tx/*` that leads to no transaction. */
export class TxError extends Error {
  override readonly name = 'TxError';
  readonly code: TxErrorCode;

  constructor(code: TxErrorCode, detail = '', options?: ErrorOptions) {
    // A replacement text has patterns of its own.
    super(
      TX_ERRORS[code].text.replace('$', () => detail),
      options,
    );
    this.code = code;
  }
}

/** `errorReason` of a failed export job. */
export const EXPORT_FAILURES = {
  tooManyRows: 'More than 10,000,000 rows: request a shorter range',
  unknownMarket: 'The market is not known any more',
  storeAway: 'The history store cannot be reached',
  filesAway: 'The file store cannot be reached',
  notBuilt: 'This history is not built yet',
  gaveUp: 'Its workers ended too often',
  internal: 'Internal error',
} as const;

export type ExportFailureCode = keyof typeof EXPORT_FAILURES;

export interface SocketClose {
  readonly code: number;
  readonly reason: string;
  readonly retry: boolean;
}

/** Reasons for which the gateway closes a connection. */
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

/** Refusals of the quote socket's upgrade: HTTP status and text. */
export const QUOTE_REFUSALS = {
  badKey: { status: '400 Bad Request', text: 'Bad Request: pubkey must be a base58 public key', retry: false },
  notAllowed: { status: '403 Forbidden', text: 'Forbidden: this key may not quote', retry: false },
  full: { status: '503 Service Unavailable', text: 'Too many connections', retry: true },
} as const;

export type QuoteRefusal = keyof typeof QUOTE_REFUSALS;

/** Reasons for which the quote socket closes a connection. */
export const QUOTE_CLOSES = {
  authTimeout: { code: 1008, reason: 'Authentication timeout', retry: true },
  unauthenticated: { code: 1008, reason: 'Not authenticated', retry: false },
  badSignature: { code: 1008, reason: 'Authentication failed', retry: false },
  tooManyConnections: { code: 1008, reason: 'Too many connections of this key', retry: true },
  tooManyMessages: { code: 1008, reason: 'Too many messages', retry: true },
  overflow: { code: 1008, reason: 'Buffer overflow', retry: true },
} as const satisfies Record<string, SocketClose>;

export type QuoteCloseReason = keyof typeof QUOTE_CLOSES;

/** `error` members of quote socket messages. The connection stays open, and the message has no other effect. */
export const QUOTE_ERRORS = {
  notAnObject: 'Quotes must be a JSON object',
  marketTypeUnknown: 'market_type must be perp',
  marketUnknown: 'Unknown market_index',
  quotesMissing: 'quotes must be a list',
  tooManyQuotes: 'At most 64 quotes per message',
  malformedQuote: 'Malformed quote; it and the quotes after it were left out',
  busy: 'Quotes cannot be taken now',
  full: 'This market has as many makers as it may have; try again later',
  superseded: 'A newer message of this market took its place before it was stored',
  lapsed: 'The quotes could not be stored before they lapsed',
  notStored: 'The quotes could not be stored',
} as const;

export type QuoteErrorCode = keyof typeof QUOTE_ERRORS;

export interface BookFeedError {
  /** The `error` member. */
  readonly text: string;
  readonly retry: boolean;
}

/** `error` messages of the `book` channel, by `code`. The connection stays open. */
export const BOOK_FEED_ERRORS = {
  market: { text: 'market and marketType name no listed market', retry: true },
  level: { text: 'level must be l2 or l3', retry: false },
  depth: { text: 'depth must be a whole number from 1 to 1000', retry: false },
  conflation: { text: 'conflation must be 0, 50, 100, 400 or 1000', retry: false },
  checksum: { text: 'checksum must be true, false or a whole number from 1 to 100', retry: false },
  cause: { text: 'cause must be true or false, and true needs level l3 without depth', retry: false },
  resume: { text: 'resume must be {epoch, seq}, or with market * such versions by stream', retry: false },
  commitment: { text: 'commitment must be confirmed or processed', retry: false },
  processed: { text: 'this server has no books at commitment processed', retry: false },
  limit: { text: 'too many book subscriptions', retry: true },
} as const satisfies Record<string, BookFeedError>;

/** `error` messages of the `trades.v2` channel, by `code`. The connection stays open. */
export const TRADE_FEED_ERRORS = {
  market: BOOK_FEED_ERRORS.market,
  resume: BOOK_FEED_ERRORS.resume,
  commitment: BOOK_FEED_ERRORS.commitment,
  processed: { text: 'this server has no trades at commitment processed', retry: false },
  limit: { text: 'too many trade subscriptions', retry: true },
} as const satisfies Record<string, BookFeedError>;

/** `error` messages of the `account` channel, by `code`. The connection stays open. */
export const ACCOUNT_FEED_ERRORS = {
  account: { text: 'either account or authority must be a public key in base58', retry: false },
  resume: { text: 'resume must be {epoch, seq} by stream', retry: false },
  limit: { text: 'too many account subscriptions', retry: true },
} as const satisfies Record<string, BookFeedError>;

export type AccountFeedErrorCode = keyof typeof ACCOUNT_FEED_ERRORS;

export type BookFeedErrorCode = keyof typeof BOOK_FEED_ERRORS;

/** `message` members of error messages on the history socket. The connection stays open. */
export const HISTORY_SOCKET_ERRORS = {
  json: 'Invalid JSON',
  type: 'Invalid message: type must be subscribe or unsubscribe',
  missing: 'Invalid subscription message: channelType, or symbol and resolution, are missing',
  unknownChannel: 'Unknown channel type',
  /** The code appends the channel type. */
  parameters: 'Invalid parameters for channel type: ',
  tooMany: 'Too many subscriptions',
  notBuilt: 'This channel is not built yet',
} as const;

/** Of the errors that are a text alone, those whose request may succeed later. */
export const RETRY_HELPS = {
  socket: ['subscribe'],
  quote: ['marketUnknown', 'busy', 'full', 'lapsed', 'notStored'],
  export: ['storeAway', 'filesAway', 'notBuilt', 'gaveUp', 'internal'],
  historySocket: ['tooMany', 'notBuilt'],
} as const satisfies {
  readonly socket: readonly (keyof typeof SOCKET_ERRORS)[];
  readonly quote: readonly QuoteErrorCode[];
  readonly export: readonly ExportFailureCode[];
  readonly historySocket: readonly (keyof typeof HISTORY_SOCKET_ERRORS)[];
};
