// The parameters of /auctionParams: how leniently each is read (reference 1.9), and what the contract says of it.

import { REFERENCES, U64_MAX } from '../../processors/book/index.ts';
import type { MarketType } from '../../schemas/index.ts';
import { MARKET_INDEX_MAX, PRICE } from '../contract/books.ts';
import type { Parameter } from '../contract/inputs.ts';
import type { JsonSchema } from '../contract/json-schema.ts';
import { type AuctionFailure, OrderbookError } from '../errors.ts';
import { lenientInteger } from '../lenient.ts';
import { BYTE_MAX } from './limits.ts';
import { wordParameter } from './parameters.ts';

/** A request that is well formed but leads to no order; answered as JSON. */
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

/** Absent where undefined is read. */
function optional<T>(schema: JsonSchema, read: (text: string | undefined) => T): Parameter<T> {
  return { isRequired: false, schema, read };
}

function flag(description: string): Parameter<boolean | undefined> {
  const schema = { type: 'string', description: `${description}; true and 1 mean true, any other text false` };
  return optional(schema, (text) => (text === undefined ? undefined : text === 'true' || text === '1'));
}

/** The number a text begins with; undefined when there is none, or none that is finite. */
function decimal(text: string | undefined): number | undefined {
  const value = Number.parseFloat(text ?? '');
  return Number.isFinite(value) ? value : undefined;
}

function percent(description: string, more: JsonSchema = {}): Parameter<number | undefined> {
  return optional({ type: 'string', ...more, description: `${PERCENT}${description}` }, decimal);
}

/** A member that an order carries as one byte. */
function byte(description: string, more: JsonSchema = {}): Parameter<number | undefined> {
  return optional({ type: 'integer', minimum: 0, maximum: BYTE_MAX, ...more, description }, (text) => {
    const value = decimal(text);
    if (value === undefined) return undefined;
    const cut = Math.trunc(value);
    if (cut < 0 || cut > BYTE_MAX) throw new AuctionRequestError('outOfRange');
    return cut === 0 ? 0 : cut; // never -0
  });
}

/** Raw integers; the empty text of an optional one is none. */
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

/** Which price an offset is counted from; names are looked up with the prices (processors/book). */
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
      'from 2 on recent taker fills count, from 3 on auctions are short and start at the touch in every market',
  },
  (text) => lenientInteger(text) ?? DEFAULT_VERSION,
);

export const AUCTION_PARAMETERS = {
  marketIndex,
  marketType,
  direction: wordParameter(DIRECTIONS, 'auctionDirectionUnknown', 'side of the order'),
  amount,
  assetType: wordParameter(ASSET_TYPES, 'auctionAssetTypeUnknown', 'what amount counts'),
  version,
  reduceOnly: flag('stamped on the order'),
  allowInfSlippage: flag('no limit price; the auction alone bounds the fill'),
  forceUpToSlippage: flag('the auction ends at the slippage limit itself'),
  isOracleOrder: flag('prices as offsets from the oracle; the default is true'),
  slippageTolerance: percent('; what is no number means dynamic: from spread, depth and tier of the market', {
    default: 'dynamic',
  }),
  auctionDuration: byte('length of the auction in units of 400 ms; 20 by default, 5 from version 3 on'),
  auctionStartPriceOffset: percent(', or marketBased: majors 0, others -0.1, from version 3 on -0.05'),
  auctionEndPriceOffset: percent('; 0.1 by default'),
  auctionStartPriceOffsetFrom: reference({
    enum: [MARKET_BASED, ...REFERENCES],
    default: MARKET_BASED,
    description: 'price an offset is counted from; marketBased: majors mark, others and from version 3 on bestOffer',
  }),
  auctionEndPriceOffsetFrom: optional(
    { type: 'string', enum: REFERENCES, default: 'worst', description: 'price the end is counted from' },
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
  userOrderId: byte('stamped on the order', { default: 0 }),
};
