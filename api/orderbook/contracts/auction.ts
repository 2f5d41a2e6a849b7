// Contract of /auctionParams: every parameter with its reading and default, and the order that comes back.

import { REFERENCES } from '../../../processors/book/index.ts';
import { answers, JSON_TYPE, json } from '../../contract/answers.ts';
import { BASE, marketIndex, marketType, PRICE } from '../../contract/books.ts';
import {
  amountText,
  choice,
  count,
  flag,
  integerText,
  nullable,
  number,
  object,
  text,
} from '../../contract/json-schema.ts';
import type { RouteContract } from '../../contract/openapi.ts';
import { AUCTION_ERRORS } from '../../errors.ts';
import { BYTE_MAX } from '../limits.ts';

const DIRECTIONS = ['long', 'short'] as const;
const PERCENT = 'percent (0.5 is 0.5 %)';

function flagParameter(description: string): object {
  return { type: 'string', description: `${description}; true and 1 mean true, any other text false` };
}

function reference(fallback: string): object {
  return {
    type: 'string',
    enum: ['marketBased', ...REFERENCES],
    default: 'marketBased',
    description: `price an offset is counted from; marketBased: ${fallback}`,
  };
}

const byte = { type: 'integer', minimum: 0, maximum: BYTE_MAX };

const u64Text = (description: string): object => ({ type: 'string', pattern: '^\\d{1,20}$', description });

const QUERY = {
  marketIndex: {
    type: 'integer',
    minimum: 0,
    maximum: 0xffff,
    description: 'index of the market; leading digits count',
  },
  marketType: { type: 'string', description: 'spot in any letter case; anything else is perp' },
  direction: { type: 'string', enum: DIRECTIONS, description: 'side of the order' },
  amount: u64Text('size, raw integer from 0 to 2^64 - 1: base 1e9 or quote 1e6, as assetType says'),
  assetType: { type: 'string', enum: ['base', 'quote'], description: 'what amount counts' },
  version: {
    type: 'integer',
    default: 1,
    description:
      'from 2 on recent taker fills count, from 3 on auctions are short and start at the touch in every market',
  },
  reduceOnly: flagParameter('stamped on the order'),
  allowInfSlippage: flagParameter('no limit price; the auction alone bounds the fill'),
  forceUpToSlippage: flagParameter('the auction ends at the slippage limit itself'),
  isOracleOrder: flagParameter('prices as offsets from the oracle; the default is true'),
  slippageTolerance: {
    type: 'string',
    default: 'dynamic',
    description: `${PERCENT}; what is no number means dynamic: from spread, depth and tier of the market`,
  },
  auctionDuration: {
    ...byte,
    description: 'length of the auction in units of 400 ms; 20 by default, 5 from version 3 on',
  },
  auctionStartPriceOffset: {
    type: 'string',
    description: `${PERCENT}, or marketBased: majors 0, others -0.1, from version 3 on -0.05`,
  },
  auctionEndPriceOffset: { type: 'string', description: `${PERCENT}; 0.1 by default` },
  auctionStartPriceOffsetFrom: reference('majors mark, others and from version 3 on bestOffer'),
  auctionEndPriceOffsetFrom: {
    type: 'string',
    enum: REFERENCES,
    default: 'worst',
    description: 'price the end is counted from',
  },
  additionalEndPriceBuffer: {
    type: 'string',
    pattern: '^-?\\d{1,19}$',
    description: `moves limit and end of the auction away from the start, or towards it when negative; ${PRICE}`,
  },
  maxLeverageSelected: flagParameter('maxLeverageOrderSize replaces the size of the order'),
  maxLeverageOrderSize: u64Text('raw base integer from 0 to 2^64 - 1, 1e9'),
  userOrderId: { ...byte, default: 0, description: 'stamped on the order' },
};

const params = object(
  {
    orderType: choice(['oracle', 'market']),
    marketType,
    userOrderId: { ...byte, description: 'as asked for, else 0' },
    direction: choice(DIRECTIONS),
    baseAssetAmount: amountText(BASE),
    price: integerText(`limit; ${PRICE}; absent for oracle orders and with allowInfSlippage`),
    marketIndex,
    reduceOnly: flag('as asked for, else false'),
    postOnly: { const: 'none' },
    bitFlags: { const: 0 },
    triggerPrice: { type: 'null' },
    triggerCondition: { const: 'above' },
    oraclePriceOffset: nullable(integerText(`limit as an offset from the oracle, oracle orders only; ${PRICE}`)),
    auctionDuration: { ...byte, description: 'length of the auction in units of 400 ms' },
    maxTs: { type: 'null' },
    auctionStartPrice: integerText(`offset from the oracle for oracle orders; ${PRICE}`),
    auctionEndPrice: integerText(`offset from the oracle for oracle orders; ${PRICE}`),
  },
  { optional: ['price'], description: 'the full order-parameter record' },
);

const data = object({
  params,
  entryPrice: integerText(`mean price of the estimated fill, 0 where nothing would fill; ${PRICE}`),
  bestPrice: integerText(`first price of the needed side; ${PRICE}`),
  worstPrice: integerText(`last price of the estimated fill; ${PRICE}`),
  oraclePrice: integerText(PRICE),
  markPrice: integerText(PRICE),
  priceImpact: number('|entry - best| / best as a fraction (0.012 is 1.2 %)'),
  slippageTolerance: text(
    'the applied tolerance as a decimal fraction (0.005 is 0.5 %); 0.15 with allowInfSlippage, at most 0.99',
  ),
  generatedAt: count('Unix milliseconds'),
});

const failures = Object.values(AUCTION_ERRORS).map((entry) => ({
  const: entry.text,
  description: entry.retry ? 'the same request may succeed later' : 'the same request fails again',
}));

export const AUCTION_CONTRACT: RouteContract = {
  summary: 'Order parameters for a market order, and the estimates behind them',
  tags: ['orders'],
  query: { required: ['marketIndex', 'marketType', 'direction', 'amount', 'assetType'], properties: QUERY },
  answers: answers(
    json('the order', object({ data })),
    [{ codes: ['auctionMissing', 'auctionIndexNotANumber', 'auctionDirectionUnknown', 'auctionAssetTypeUnknown'] }],
    {
      '400': {
        description: 'a request that is not well formed (text), or that leads to no order (JSON)',
        content: { [JSON_TYPE]: object({ error: { type: 'string', anyOf: failures } }) },
      },
    },
  ),
};
