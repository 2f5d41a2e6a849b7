// GET /auctionParams: concrete order parameters for a market order, and the estimates behind them.
// The derivation is processors/book/auction/, its source docs/internals/auctions.md.

import type { FastifyInstance } from 'fastify';
import {
  type Auction,
  AuctionError,
  type AuctionMarket,
  type AuctionRequest,
  DEFAULT_AUCTION_SETTINGS,
  deriveAuction,
} from '../../../processors/book/index.ts';
import type { MarketRef } from '../../../schemas/index.ts';
import { answers, JSON_TYPE, json } from '../../http/contract/answers.ts';
import { BASE, marketIndex, marketType, PRICE } from '../../http/contract/books.ts';
import { hasRequired } from '../../http/contract/inputs.ts';
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
} from '../../http/contract/json-schema.ts';
import type { RouteContract } from '../../http/contract/openapi.ts';
import { AUCTION_ERRORS, OrderbookError } from '../../http/errors.ts';
import { serve } from '../route.ts';
import type { OrderbookServices } from '../services.ts';
import { AUCTION_PARAMETERS, AuctionRequestError, BYTE_MAX, DIRECTIONS, parseAuctionRequest } from './request.ts';

/** Depth of the book that the estimates use. Source: docs/internals/auctions.md, "Estimates". */
const ESTIMATE_DEPTH_LEVELS = 100;

const byte = { type: 'integer', minimum: 0, maximum: BYTE_MAX };

const params = object(
  {
    orderType: choice(['oracle', 'market']),
    marketType,
    userOrderId: { ...byte, description: 'as requested, else 0' },
    direction: choice(DIRECTIONS),
    baseAssetAmount: amountText(BASE),
    price: integerText(`limit; ${PRICE}; absent for oracle orders and with allowInfSlippage`),
    marketIndex,
    reduceOnly: flag('as requested, else false'),
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
  entryPrice: integerText(`mean price of the estimated fill, 0 without one; ${PRICE}`),
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

/** The present state of the market. Throws AuctionRequestError when it does not exist. */
function auctionMarket({ reader, fillQuality }: OrderbookServices, ref: MarketRef): AuctionMarket {
  const market = reader.markets.get(ref);
  if (!market) throw new AuctionRequestError('unknownMarket');
  const book = reader.book(market);
  const oracle = book?.head.mmOracle ?? book?.head.oracle;
  return {
    marketType: market.marketType,
    marketIndex: market.marketIndex,
    book: book?.view.l2(ESTIMATE_DEPTH_LEVELS) ?? { bids: [], asks: [] },
    quotes: book?.view.quotes() ?? null,
    oracle: oracle?.price ?? market.oraclePrice,
    recentFills: fillQuality?.recent(market) ?? null,
  };
}

/** A double holds at least this many decimal digits. Further digits of `percent / 100` are rounding errors. */
const FRACTION_DIGITS = 15;
/** Enough decimals for the smallest tolerance that has any effect. */
const FRACTION_DECIMALS = 20;

/** `0.5` percent is `0.005`, without an exponent. */
function fractionText(percent: number): string {
  const fraction = Number((percent / 100).toPrecision(FRACTION_DIGITS));
  const text = String(fraction);
  if (!text.includes('e')) return text;
  if (Math.abs(fraction) > 1) return BigInt(fraction).toString();
  return fraction.toFixed(FRACTION_DECIMALS).replace(/\.?0+$/, '');
}

/** The full order-parameter record with the protocol's defaults. `price` is absent when the order has none. */
function paramsBody(ref: MarketRef, request: AuctionRequest, { order, baseAssetAmount, auctionDuration }: Auction) {
  return {
    orderType: order.orderType,
    marketType: ref.marketType,
    userOrderId: request.userOrderId ?? 0,
    direction: request.direction,
    baseAssetAmount: baseAssetAmount.toString(),
    ...(order.price === null ? {} : { price: order.price.toString() }),
    marketIndex: ref.marketIndex,
    reduceOnly: request.reduceOnly ?? false,
    postOnly: 'none',
    bitFlags: 0,
    triggerPrice: null,
    triggerCondition: 'above',
    oraclePriceOffset: order.oraclePriceOffset?.toString() ?? null,
    auctionDuration,
    maxTs: null,
    auctionStartPrice: order.auctionStartPrice.toString(),
    auctionEndPrice: order.auctionEndPrice.toString(),
  };
}

function auctionBody(market: AuctionMarket, request: AuctionRequest, auction: Auction, nowMs: number) {
  const { prices } = auction;
  return {
    data: {
      params: paramsBody(market, request, auction),
      entryPrice: prices.entry.toString(),
      bestPrice: prices.best.toString(),
      worstPrice: prices.worst.toString(),
      oraclePrice: prices.oracle.toString(),
      markPrice: prices.mark.toString(),
      priceImpact: Number(prices.impact) / 1e6,
      slippageTolerance: fractionText(auction.slippagePercent),
      generatedAt: nowMs,
    },
  };
}

export function auctionParamsRoute(app: FastifyInstance, services: OrderbookServices): void {
  const settings = services.auction ?? DEFAULT_AUCTION_SETTINGS;
  serve(
    app,
    '/auctionParams',
    AUCTION_CONTRACT,
    async (given, request, reply) => {
      if (!hasRequired(AUCTION_PARAMETERS, request.query)) throw new OrderbookError('auctionMissing');
      const { market: ref, order } = parseAuctionRequest(given);
      reply.type('application/json; charset=utf-8');
      try {
        const market = auctionMarket(services, ref);
        const auctionRequest = order();
        const auction = deriveAuction(auctionRequest, market, settings);
        return JSON.stringify(auctionBody(market, auctionRequest, auction, services.reader.now()));
      } catch (error) {
        if (!(error instanceof AuctionError) && !(error instanceof AuctionRequestError)) throw error;
        const { status, text } = AUCTION_ERRORS[error.code];
        return reply.code(status).send(JSON.stringify({ error: text }));
      }
    },
    { hasWeakEtag: true },
  );
}
