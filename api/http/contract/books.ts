// Bodies that REST answers and WebSocket messages share: levels, oracles, whole books, fee levels.

import {
  amountText,
  choice,
  count,
  flag,
  integerText,
  key,
  list,
  nullable,
  number,
  object,
  ref,
  text,
} from './json-schema.ts';

export const PRICE = 'quote per base, integer of 1e-6';
export const BASE = 'base, integer of 1e-9 (spot: of the token’s decimals)';

export const MARKET_TYPES = ['perp', 'spot'] as const;
export const marketType = choice(MARKET_TYPES, 'kind of market');
export const MARKET_INDEX_MAX = 0xffff;
export const marketIndex = {
  type: 'integer',
  minimum: 0,
  maximum: MARKET_INDEX_MAX,
  description: 'index of the market in its kind',
};
export const slot = count('slot of the chain');

const levelSources = object(
  {
    indicative: amountText(`size of indicative quotes; ${BASE}`),
    dlob: amountText(`size of resting orders; ${BASE}`),
    vamm: amountText(`size the AMM offers; ${BASE}`),
  },
  { optional: ['indicative', 'dlob', 'vamm'], description: 'only sources that are present' },
);

const level = object({
  price: amountText(PRICE),
  size: amountText(`sum of the sources; ${BASE}`),
  sources: levelSources,
});

const oracleMembers = {
  price: integerText(PRICE),
  slot: integerText('slot of the price'),
  confidence: integerText(`half-width; ${PRICE}`),
  hasSufficientNumberOfDataPoints: flag('false when too few publishers contribute to the price'),
  twap: integerText(`time-weighted mean, or the price when the oracle account has none; ${PRICE}`),
  twapConfidence: integerText(`time-weighted mean of the half-width, or the price when there is none; ${PRICE}`),
  maxPrice: integerText(`highest price the market allows; ${PRICE}`),
};
const OPTIONAL_ORACLE = ['twap', 'twapConfidence', 'maxPrice'];

const bookHead = {
  marketName: text('symbol in upper case, for example SOL-PERP'),
  marketType,
  marketIndex,
  ts: nullable(
    count('Unix milliseconds at which the server received this book; null for an earlier slot of unknown time'),
  ),
  slot: count('newest slot the book includes; judge staleness by it'),
};

const oracleOfBook = {
  oracle: { type: 'integer', description: `price of the exchange oracle; ${PRICE}, as a number` },
  oracleData: ref('OracleData'),
  mmOracleData: ref('MarketMakerOracleData'),
};

const marketSlot = count('slot of the market account in the book');

const ORDER_MEMBERS = {
  price: amountText(PRICE),
  size: amountText(`remaining size; ${BASE}`),
  maker: key('user account of the maker; one fixed key for all indicative quotes'),
  orderId: count('order id of the maker, or a running number of an indicative quote'),
};

const cause = object(
  {
    slot: count('slot of the transaction'),
    signature: text('signature of the transaction, base58'),
    index: nullable(count('index of the transaction in its block; null where unknown')),
  },
  { description: 'the transaction that last wrote an order, or removed it' },
);

const feeLevels = {
  min: number('micro-lamports per compute unit'),
  low: number('micro-lamports per compute unit'),
  medium: number('micro-lamports per compute unit'),
  high: number('micro-lamports per compute unit'),
  veryHigh: number('micro-lamports per compute unit'),
  unsafeMax: number('micro-lamports per compute unit'),
};
export const FEE_LEVELS = Object.keys(feeLevels);

/** Components of every document with books or fees. */
export const BOOK_SCHEMAS = {
  Level: level,
  OracleData: object(oracleMembers, { optional: OPTIONAL_ORACLE, description: 'the exchange oracle' }),
  MarketMakerOracleData: object(
    { ...oracleMembers, isMMOracleActive: flag('whether the exchange uses it') },
    { optional: OPTIONAL_ORACLE, description: 'the market-maker oracle; absent while unknown' },
  ),
  L2Book: object(
    {
      bids: list(ref('Level'), 'highest price first'),
      asks: list(ref('Level'), 'lowest price first'),
      ...bookHead,
      markPrice: integerText(`middle of the best prices, or the oracle when a side is empty; ${PRICE}`),
      bestBidPrice: integerText(PRICE),
      bestAskPrice: integerText(PRICE),
      spreadPct: integerText('spread over mark price, in percent, integer of 1e-6'),
      spreadQuote: integerText(PRICE),
      ...oracleOfBook,
      marketSlot,
    },
    {
      optional: [
        'markPrice',
        'bestBidPrice',
        'bestAskPrice',
        'spreadPct',
        'spreadQuote',
        'oracle',
        'oracleData',
        'mmOracleData',
      ],
      description:
        'price levels; all other members describe the whole book. Best prices and spreads are absent when a side is empty, ' +
        'oracle members while the oracle is unknown',
    },
  ),
  L3Order: object(
    { ...ORDER_MEMBERS, cause: nullable(ref('OrderCause')) },
    { optional: ['cause'], description: 'cause with cause=true' },
  ),
  OrderCause: cause,
  L3Book: object(
    {
      bids: list(ref('L3Order'), 'best first'),
      asks: list(ref('L3Order'), 'best first'),
      ...bookHead,
      ...oracleOfBook,
      marketSlot,
    },
    {
      optional: ['oracle', 'oracleData', 'mmOracleData'],
      description: 'every visible resting order; the AMM has none',
    },
  ),
  FeeLevels: object(feeLevels, { description: 'priority fees, micro-lamports per compute unit' }),
  PublicKey: key('32 bytes in base58'),
} as const;

export const FEE_MEMBERS = feeLevels;
