// GET /auctionParams: concrete order parameters for a market order, and the estimates behind them (reference 1.9 and 4).

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
import { hasRequired } from '../../contract/inputs.ts';
import { AUCTION_ERRORS, OrderbookError } from '../../errors.ts';
import { AUCTION_PARAMETERS, AuctionRequestError } from '../auction-parameters.ts';
import { parseAuctionRequest } from '../auction-request.ts';
import { AUCTION_CONTRACT } from '../contracts/auction.ts';
import { serve } from '../route.ts';
import type { OrderbookServices } from '../services.ts';

/** Levels per side that estimates look at (reference 4.2). */
const ESTIMATE_DEPTH = 100;

/** What is known of the market now. Throws AuctionRequestError when it does not exist. */
function auctionMarket({ reader, fillQuality }: OrderbookServices, ref: MarketRef): AuctionMarket {
  const market = reader.markets.get(ref);
  if (!market) throw new AuctionRequestError('unknownMarket');
  const book = reader.book(market);
  const oracle = book?.head.mmOracle ?? book?.head.oracle;
  return {
    marketType: market.marketType,
    marketIndex: market.marketIndex,
    book: book?.view.l2(ESTIMATE_DEPTH) ?? { bids: [], asks: [] },
    quotes: book?.view.quotes() ?? null,
    oracle: oracle?.price ?? market.oraclePrice,
    recentFills: fillQuality?.recent(market) ?? null,
  };
}

/** Digits a double surely holds; the rest of `percent / 100` is noise of the division. */
const FRACTION_DIGITS = 15;
/** Decimals enough for the smallest tolerance that has any effect. */
const FRACTION_DECIMALS = 20;

/** `0.5` percent is the fraction `0.005`, as text without an exponent. */
function fractionText(percent: number): string {
  const fraction = Number((percent / 100).toPrecision(FRACTION_DIGITS));
  const text = String(fraction);
  if (!text.includes('e')) return text;
  if (Math.abs(fraction) > 1) return BigInt(fraction).toString();
  return fraction.toFixed(FRACTION_DECIMALS).replace(/\.?0+$/, '');
}

/** The full order-parameter record with the protocol's defaults filled in; `price` only where there is one. */
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
        const wanted = order();
        const auction = deriveAuction(wanted, market, settings);
        return JSON.stringify(auctionBody(market, wanted, auction, services.reader.now()));
      } catch (error) {
        if (!(error instanceof AuctionError) && !(error instanceof AuctionRequestError)) throw error;
        const { status, text } = AUCTION_ERRORS[error.code];
        return reply.code(status).send(JSON.stringify({ error: text }));
      }
    },
    { hasWeakEtag: true },
  );
}
