// How /auctionParams reads a request: its parameters, their lenient spellings, and the order of its checks.
// Source: docs/internals/auctions.md, "Request checks".

import { type AuctionRequest, REFERENCES, U64_MAX } from '../../../processors/book/index.ts';
import type { MarketRef, MarketType } from '../../../schemas/index.ts';
import { MARKET_INDEX_MAX, PRICE } from '../../http/contract/books.ts';
import type { Given, Parameter } from '../../http/contract/inputs.ts';
import type { JsonSchema } from '../../http/contract/json-schema.ts';
import { type AuctionFailure, OrderbookError } from '../../http/errors.ts';
import { lenientInteger } from '../../http/lenient.ts';
import { wordParameter } from '../parameters.ts';

/** Orders carry the auction's duration and the client's order id in one byte each. */
export const BYTE_MAX = 255;

/** A well-formed request that leads to no order. Its answer is JSON. */
export class AuctionRequestError extends Error {
  override readonly name = 'AuctionRequestError';
  readonly code: AuctionFailure;

  constructor(code: AuctionFailure) {
    super(code);
    this.code = code;
  }
}

export const DIRECTIONS = ['long', 'short'] as const;
const ASSET_TYPES = ['base', 'quote'] as const;
const DEFAULT_VERSION = 1;
const MARKET_BASED = 'marketBased';
const PERCENT = 'percent (0.5 is 0.5 %)';
const AMOUNT = /^\d{1,20}$/;
const SIGNED_AMOUNT = /^-?\d{1,19}$/;

function optional<T>(schema: JsonSchema, read: (text: string | undefined) => T): Parameter<T> {
  return { isRequired: false, schema, read };
}

function flag(description: string): Parameter<boolean | undefined> {
  const schema = { type: 'string', description: `${description}; true and 1 mean true, any other text false` };
  return optional(schema, (text) => (text === undefined ? undefined : text === 'true' || text === '1'));
}

/** The number at the start of a text; undefined when there is none or it is not finite. */
function decimal(text: string | undefined): number | undefined {
  const value = Number.parseFloat(text ?? '');
  return Number.isFinite(value) ? value : undefined;
}

function percent(description: string, more: JsonSchema = {}): Parameter<number | undefined> {
  return optional({ type: 'string', ...more, description: `${PERCENT}${description}` }, decimal);
}

/** A number that an order stores in one byte. Throws AuctionRequestError outside 0..255. */
function byte(description: string, more: JsonSchema = {}): Parameter<number | undefined> {
  return optional({ type: 'integer', minimum: 0, maximum: BYTE_MAX, ...more, description }, (text) => {
    const value = decimal(text);
    if (value === undefined) return undefined;
    const cut = Math.trunc(value);
    if (cut < 0 || cut > BYTE_MAX) throw new AuctionRequestError('outOfRange');
    return cut === 0 ? 0 : cut; // never -0
  });
}

/** Raw integer from 0 to 2^64 - 1. Throws AuctionRequestError. */
function orderSize(text: string): bigint {
  if (!AMOUNT.test(text)) throw new AuctionRequestError('notAnInteger');
  const value = BigInt(text);
  if (value > U64_MAX) throw new AuctionRequestError('outOfRange');
  return value;
}

function signedInteger(text: string): bigint {
  if (!SIGNED_AMOUNT.test(text)) throw new AuctionRequestError('notAnInteger');
  return BigInt(text);
}

/** Name of the price that an offset is added to. `deriveAuction` looks it up. */
function reference(schema: JsonSchema): Parameter<string | undefined> {
  return optional({ type: 'string', ...schema }, (text) => (text === '' || text === MARKET_BASED ? undefined : text));
}

const marketIndex: Parameter<number> = {
  isRequired: true,
  schema: {
    type: 'integer',
    minimum: 0,
    maximum: MARKET_INDEX_MAX,
    description: 'index of the market; leading digits count',
  },
  read: (text) => {
    const index = lenientInteger(text);
    if (index === null) throw new OrderbookError('auctionIndexNotANumber');
    return index;
  },
};

const marketType: Parameter<MarketType> = {
  isRequired: true,
  schema: { type: 'string', description: 'spot in any letter case; anything else is perp' },
  read: (text) => (text?.toLowerCase() === 'spot' ? 'spot' : 'perp'),
};

const amount: Parameter<bigint> = {
  isRequired: true,
  schema: {
    type: 'string',
    pattern: AMOUNT.source,
    description: 'size, raw integer from 0 to 2^64 - 1: base 1e9 or quote 1e6, as assetType says',
  },
  read: (text) => orderSize(text ?? ''),
};

const version: Parameter<number> = optional(
  {
    type: 'integer',
    default: DEFAULT_VERSION,
    description:
      'from 2 on, recent taker fills count; from 3 on, auctions are short and start at the touch in every market',
  },
  (text) => lenientInteger(text) ?? DEFAULT_VERSION,
);

export const AUCTION_PARAMETERS = {
  marketIndex,
  marketType,
  direction: wordParameter(DIRECTIONS, 'auctionDirectionUnknown', 'side of the order'),
  amount,
  assetType: wordParameter(ASSET_TYPES, 'auctionAssetTypeUnknown', 'unit of amount'),
  version,
  reduceOnly: flag('the order carries it'),
  allowInfSlippage: flag('no limit price; the auction alone bounds the fill'),
  forceUpToSlippage: flag('the auction ends at the slippage limit itself'),
  isOracleOrder: flag('prices as offsets from the oracle; the default is true'),
  slippageTolerance: percent('; any other text means dynamic: from spread, depth and tier of the market', {
    default: 'dynamic',
  }),
  auctionDuration: byte('length of the auction in units of 400 ms; 20 by default, 5 from version 3 on'),
  auctionStartPriceOffset: percent(', or marketBased: majors 0, others -0.1, from version 3 on -0.05'),
  auctionEndPriceOffset: percent('; 0.1 by default'),
  auctionStartPriceOffsetFrom: reference({
    enum: [MARKET_BASED, ...REFERENCES],
    default: MARKET_BASED,
    description: 'base price of the start offset; marketBased: majors mark, others and from version 3 on bestOffer',
  }),
  auctionEndPriceOffsetFrom: optional(
    { type: 'string', enum: REFERENCES, default: 'worst', description: 'base price of the end offset' },
    (text) => text || undefined,
  ),
  additionalEndPriceBuffer: optional(
    {
      type: 'string',
      pattern: SIGNED_AMOUNT.source,
      description: `moves limit and end of the auction away from the start, or towards it when negative; ${PRICE}`,
    },
    (text) => (text ? signedInteger(text) : undefined),
  ),
  maxLeverageSelected: flag('maxLeverageOrderSize replaces the size of the order'),
  maxLeverageOrderSize: optional(
    { type: 'string', pattern: AMOUNT.source, description: 'raw base integer from 0 to 2^64 - 1, 1e9' },
    (text) => (text ? orderSize(text) : undefined),
  ),
  userOrderId: byte('the order carries it', { default: 0 }),
};

export interface ParsedAuctionRequest {
  readonly market: MarketRef;
  /** Reads the amounts. Deferred, because an unknown market fails first. Throws AuctionRequestError. */
  readonly order: () => AuctionRequest;
}

/** Throws the OrderbookError of the first check that fails. */
export function parseAuctionRequest(given: Given<typeof AUCTION_PARAMETERS>): ParsedAuctionRequest {
  const marketIndex = given('marketIndex');
  const direction = given('direction');
  const assetType = given('assetType');
  return {
    market: { marketType: given('marketType'), marketIndex },
    order: () => ({
      version: given('version'),
      direction,
      amount: given('amount'),
      assetType,
      ...options(given),
    }),
  };
}

type Options = Omit<AuctionRequest, 'version' | 'direction' | 'amount' | 'assetType'>;

function options(given: Given<typeof AUCTION_PARAMETERS>): Options {
  return present({
    reduceOnly: given('reduceOnly'),
    allowInfSlippage: given('allowInfSlippage'),
    forceUpToSlippage: given('forceUpToSlippage'),
    isOracleOrder: given('isOracleOrder'),
    slippagePercent: given('slippageTolerance'), // `dynamic` is not a number and reads undefined
    auctionDuration: given('auctionDuration'),
    startOffset: given('auctionStartPriceOffset'),
    endOffset: given('auctionEndPriceOffset'),
    startFrom: given('auctionStartPriceOffsetFrom'),
    endFrom: given('auctionEndPriceOffsetFrom'),
    endBuffer: given('additionalEndPriceBuffer'),
    maxLeverageSize: given('maxLeverageSelected') ? given('maxLeverageOrderSize') : undefined,
    userOrderId: given('userOrderId'),
  });
}

/** Removes undefined members. */
function present(values: { readonly [K in keyof Options]: Options[K] | undefined }): Options {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
