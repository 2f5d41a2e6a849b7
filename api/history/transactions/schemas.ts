// The contract of `/tx/*`: bodies and answers for `/openapi.json`. The routes check bodies themselves, with texts of their own.

import { errorResponses } from '../route-schemas.ts';

/** The published groups have none for transactions; these act for an account. */
const TAGS = ['User'];
const BETA = 'BETA. ';
const KEY = { type: 'string', description: 'public key, base58' };
const ACCOUNT = { ...KEY, description: 'key of the user account, base58' };
const SIMULATE = { type: 'boolean', default: true, description: 'try the transaction on the node first' };
const TEXT = { type: 'string' };

const FAILURE = {
  description: 'the request is refused, or the transaction fails; code, name and details when the program says why',
  type: 'object',
  required: ['success', 'error'],
  properties: {
    success: { type: 'boolean', const: false },
    error: { ...TEXT, description: 'what is wrong; the text of the program for its own errors' },
    code: { type: 'integer', description: 'code of the program error' },
    name: { ...TEXT, description: 'name of the program error' },
    details: { ...TEXT, description: 'a hint, or the last lines of the log' },
    txSig: { ...TEXT, description: 'signature, base58, of a transaction that failed on the chain: its fee is paid' },
  },
};
const TX = {
  ...TEXT,
  description: 'base64 of an unsigned versioned transaction; its payer is the authority of the account',
};

function built(summary: string, description: string, required: readonly string[], properties: object, swift = false) {
  const answer = {
    description: 'the transaction to sign',
    type: 'object',
    required: ['success', 'tx', 'message'],
    properties: {
      success: { type: 'boolean', const: true },
      tx: swift ? { ...TX, type: ['string', 'null'] } : TX,
      ...(swift ? { swift: SWIFT } : {}),
      message: TEXT,
    },
  };
  return described(summary, description, required, properties, answer);
}

function described(
  summary: string,
  description: string,
  required: readonly string[],
  properties: object,
  answer: object,
) {
  return {
    summary,
    description: BETA + description,
    tags: TAGS,
    requestBody: { type: 'object', required, properties },
    response: { ...errorResponses, 200: answer, 400: FAILURE, 413: FAILURE },
  };
}

const SWIFT = {
  type: 'object',
  description: 'with useSwift',
  required: ['payload', 'meta'],
  properties: {
    payload: {
      type: 'object',
      required: ['market_index', 'market_type', 'message', 'signature', 'signing_authority', 'taker_authority'],
      properties: {
        market_index: { type: 'integer' },
        market_type: { type: 'string', const: 'perp' },
        message: { ...TEXT, description: 'hex text of the order message; its domain prefix is not part of it' },
        signature: { type: 'string', const: '', description: 'for the base64 signature of the wallet' },
        signing_authority: KEY,
        taker_authority: KEY,
      },
    },
    meta: {
      type: 'object',
      required: ['signedMsgOrderUuid', 'slotForSignedMsg', 'slotsTillAuctionEnd', 'expirationTimeMs'],
      properties: {
        signedMsgOrderUuid: { ...TEXT, description: 'base64' },
        slotForSignedMsg: { ...TEXT, description: 'slot in the message' },
        slotsTillAuctionEnd: { type: 'integer' },
        expirationTimeMs: { type: 'integer', description: 'time to sign, milliseconds' },
      },
    },
  },
};

const TOKENS = {
  accountId: ACCOUNT,
  amount: { ...TEXT, description: 'token units, a decimal text with at most the decimals of the token' },
  symbol: { ...TEXT, description: 'spot market, for example USDT' },
  simulate: SIMULATE,
};

export const TX_SCHEMAS = {
  deposit: built(
    'Transaction that deposits tokens',
    'The tokens come from the associated token account of the authority.',
    ['accountId', 'amount', 'symbol'],
    TOKENS,
  ),
  withdraw: built(
    'Transaction that withdraws tokens',
    'The tokens go to the associated token account of the authority, which is created if absent. More than the deposit is borrowed.',
    ['accountId', 'amount', 'symbol'],
    TOKENS,
  ),
  place: built(
    'Transaction that places a perp order',
    'With `useSwift` the answer is a message to sign instead of a transaction.',
    ['accountId', 'symbol', 'direction', 'amount', 'orderType'],
    {
      accountId: ACCOUNT,
      symbol: { ...TEXT, description: 'perp market, for example SOL-PERP' },
      direction: { ...TEXT, enum: ['long', 'short'] },
      amount: { ...TEXT, description: 'base units, a decimal text with at most 9 decimals' },
      orderType: { ...TEXT, enum: ['market', 'limit', 'triggerMarket', 'triggerLimit', 'oracle'] },
      price: {
        ...TEXT,
        description:
          'a decimal text with at most 6 decimals; required for limit and triggerLimit orders, unless a limit order has an ' +
          'oraclePriceOffset; refused for others',
      },
      oraclePriceOffset: {
        ...TEXT,
        description: 'price less the oracle price, a decimal text with at most 6 decimals; required for oracle orders',
      },
      triggerPrice: { ...TEXT, description: 'oracle price that activates the order; required for trigger orders' },
      triggerCondition: { ...TEXT, enum: ['above', 'below'], description: 'required for trigger orders' },
      positionMaxLeverage: {
        ...TEXT,
        description:
          'largest leverage of the position from here on, from 1 to 1000, a decimal text with at most 2 decimals',
      },
      builderParams: {
        type: 'object',
        description: 'a builder that the authority has approved, and its fee',
        required: ['builderIdx', 'builderFeeTenthBps'],
        additionalProperties: false,
        properties: {
          builderIdx: { type: 'integer', minimum: 0, maximum: 127, description: 'place of the builder in the escrow' },
          builderFeeTenthBps: {
            type: 'integer',
            minimum: 1,
            maximum: 65_535,
            description: 'fee, tenths of a basis point; at most the approved one',
          },
        },
      },
      reduceOnly: { type: 'boolean', default: false },
      postOnly: { type: 'boolean', default: false, description: 'limit orders only; fails when the order would cross' },
      marginMode: {
        ...TEXT,
        enum: ['cross', 'isolated'],
        default: 'cross',
        description: 'isolated moves the initial margin of the order to the position, unless the order only reduces it',
      },
      useSwift: { type: 'boolean', default: false },
      simulate: SIMULATE,
    },
    true,
  ),
  cancel: built(
    'Transaction that cancels orders',
    'By id, by market, or, with neither, all orders of the account. An id without an open order is skipped.',
    ['accountId'],
    {
      accountId: ACCOUNT,
      orderId: { type: 'integer', minimum: 0 },
      orderIds: { type: 'array', items: { type: 'integer', minimum: 0 }, minItems: 1, maxItems: 32 },
      symbol: { ...TEXT, description: 'perp market' },
      simulate: SIMULATE,
    },
  ),
  settlePnl: built(
    'Transaction that settles P&L',
    'One market must settle; of several, those that cannot are skipped.',
    ['accountId'],
    {
      accountId: ACCOUNT,
      symbols: {
        type: 'array',
        items: TEXT,
        minItems: 1,
        maxItems: 32,
        description: 'perp markets; absent: all with a position',
      },
      simulate: SIMULATE,
    },
  ),
  builderInit: built(
    'Transaction that opens the revenue-share account of a builder',
    'The builder signs and pays.',
    ['builderId'],
    {
      builderId: { ...KEY, description: 'wallet of the builder, base58' },
      simulate: SIMULATE,
    },
  ),
  builderApprove: built(
    'Transaction that approves a builder',
    'Creates the revenue-share escrow of the authority when it has none.',
    ['authorityId', 'builderId', 'maxFeeTenthBps'],
    {
      authorityId: { ...KEY, description: 'wallet of the user, base58' },
      builderId: { ...KEY, description: 'wallet of the builder, base58' },
      maxFeeTenthBps: {
        type: 'integer',
        minimum: 1,
        maximum: 65_535,
        description: 'highest fee, tenths of a basis point',
      },
      numOrders: {
        type: 'integer',
        minimum: 1,
        maximum: 128,
        default: 16,
        description: 'orders that the escrow holds at once',
      },
      simulate: SIMULATE,
    },
  ),
  execute: described(
    'Send a signed transaction',
    'Takes a transaction with one signer that calls the exchange, and answers once the chain has it at the commitment, also when it failed there.',
    ['signedTx'],
    {
      signedTx: { ...TEXT, description: 'base64 of the signed transaction, at most 1232 bytes' },
      simulate: SIMULATE,
      commitment: { ...TEXT, enum: ['processed', 'confirmed', 'finalized'], default: 'confirmed' },
    },
    {
      description: 'the chain has the transaction',
      type: 'object',
      required: ['success', 'txSig'],
      properties: {
        success: { type: 'boolean', const: true },
        txSig: { ...TEXT, description: 'signature of the transaction, base58' },
      },
    },
  ),
} as const;
