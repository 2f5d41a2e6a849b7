// Contract of /auctionParams: the order that comes back, and how a request fails.

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
import { AUCTION_PARAMETERS, DIRECTIONS } from '../auction-parameters.ts';
import { BYTE_MAX } from '../limits.ts';

const byte = { type: 'integer', minimum: 0, maximum: BYTE_MAX };

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

export const AUCTION_CONTRACT = {
  summary: 'Order parameters for a market order, and the estimates behind them',
  tags: ['orders'],
  parameters: AUCTION_PARAMETERS,
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
} satisfies RouteContract;
