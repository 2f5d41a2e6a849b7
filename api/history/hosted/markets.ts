// /hosted/stats/markets: market summaries in the shape of the hosted service.

import type { FastifyInstance } from 'fastify';
import {
  fundingPercent1e9,
  type MarketSummary,
  type MarketView,
  PRICE_DECIMALS,
  QUOTE_DECIMALS,
} from '../../../schemas/index.ts';
import { decimalText, wholeUnits } from '../../http/units.ts';
import {
  answerOf,
  decimal,
  listOf,
  MARKET_TYPE,
  objectOf,
  type Schema,
  SECONDS,
  TEXT,
  WHOLE,
} from '../answer-schemas.ts';
import { baseAssetOf, quoteAssetOf } from '../assets.ts';
import { baseDecimals } from '../lists.ts';
import { PreparedText } from '../prepared-text.ts';
import { described, errorResponses } from '../route-schemas.ts';
import { requireSummaries } from '../routes/stats-markets.ts';
import type { HistoryServices } from '../services.ts';
import { averageFunding, markPrice, openInterest, oraclePriceOf, PERCENT_DECIMALS, priceChange } from '../summaries.ts';

const PERCENT_OF_CHANGE_DECIMALS = 2;
const MIN_LEVERAGE = 1;

const price = decimal('6 places; empty when there is none');
const base = decimal('9 places in perp markets, in spot markets those of the mint');
const percent = decimal('percent per hour, 9 places');
const sides = (of: Schema, description: string) => objectOf({ long: of, short: of }, description);
const extreme = (description: string) => objectOf({ fill: price, oracle: price }, description);

const COMMON = {
  symbol: TEXT,
  marketIndex: WHOLE,
  marketType: MARKET_TYPE,
  status: { ...TEXT, description: 'lower camel case' },
  precision: { ...WHOLE, description: 'decimals of base amounts' },
  oraclePrice: price,
  price: { ...price, description: 'last fill, 6 places; empty before the first' },
  baseVolume: { ...base, description: `24 hours; ${base.description}` },
  quoteVolume: decimal('24 hours, 6 places'),
  priceHigh: extreme('highest of 24 hours'),
  priceLow: extreme('lowest of 24 hours'),
  priceChange24h: price,
  priceChange24hPercent: decimal('percent, 2 places; empty when there is none'),
};
const MARKET: Schema = {
  ...objectOf({
    ...COMMON,
    baseAsset: TEXT,
    quoteAsset: TEXT,
    limits: objectOf({
      leverage: objectOf({ min: { type: 'number' } }),
      amount: objectOf({ min: { type: 'number', description: 'smallest order, base' } }),
    }),
    markPrice: { ...price, description: 'middle of the AMM quotes, 6 places; empty without AMM' },
    openInterest: sides(base, 'base; short is zero or negative'),
    fundingRate: sides(percent, 'rate that the side receives; negative = it pays'),
    fundingRate24h: { ...percent, description: 'mean of the last 24 records, percent per hour; positive = longs pay' },
    fundingRateUpdateTs: { ...SECONDS, type: ['integer', 'null'] },
  }),
  required: Object.keys(COMMON),
  description: 'spot markets have the required members alone',
};

export function hostedMarketRoutes(app: FastifyInstance, services: HistoryServices): void {
  const { markets, summaries } = services;
  const prepared = new PreparedText('application/json; charset=utf-8');
  app.get(
    '/stats/markets',
    {
      compress: false, // prepared in every encoding
      schema: described({
        summary: 'Market summaries, decimal text',
        tags: ['Stats'],
        response: { 200: answerOf('by market index', { markets: listOf(MARKET) }), ...errorResponses },
      }),
    },
    (request, reply) => {
      requireSummaries(services);
      return prepared.send(request, reply, summaries.changes, () => {
        const quoteAsset = quoteAssetOf(markets);
        const list = markets.list().map((market) => hostedMarket(market, summaries.of(market), quoteAsset));
        return JSON.stringify({ success: true, markets: list.sort((a, b) => a.marketIndex - b.marketIndex) });
      });
    },
  );
}

/** One element of `markets`. */
export function hostedMarket(market: MarketView, summary: MarketSummary | null, quoteAsset: string) {
  const { symbol, marketIndex, marketType, status, minOrderSize } = market;
  const decimals = baseDecimals(market);
  const common = { symbol, marketIndex, marketType, status, precision: decimals, ...traded(market, summary) };
  if (marketType === 'spot') return common;
  const { openInterestLong, openInterestShort } = openInterest(market, summary);
  return {
    ...common,
    baseAsset: baseAssetOf(symbol),
    quoteAsset,
    limits: { leverage: { min: MIN_LEVERAGE }, amount: { min: wholeUnits(minOrderSize, decimals) } },
    markPrice: priceText(markPrice(summary)),
    openInterest: { long: decimalText(openInterestLong, decimals), short: decimalText(openInterestShort, decimals) },
    fundingRate: fundingSides(summary),
    fundingRate24h: decimalText(averageFunding(summary), PERCENT_DECIMALS),
    fundingRateUpdateTs: summary?.funding?.ts ?? null,
  };
}

function traded(market: MarketView, summary: MarketSummary | null) {
  const change = priceChange(summary);
  return {
    oraclePrice: priceText(oraclePriceOf(market, summary)),
    price: priceText(summary?.lastFillPrice),
    baseVolume: decimalText(summary?.baseVolume24h ?? 0n, baseDecimals(market)),
    quoteVolume: decimalText(summary?.quoteVolume24h ?? 0n, QUOTE_DECIMALS),
    priceHigh: { fill: priceText(summary?.fillHigh24h), oracle: priceText(summary?.oracleHigh24h) },
    priceLow: { fill: priceText(summary?.fillLow24h), oracle: priceText(summary?.oracleLow24h) },
    priceChange24h: priceText(change?.change),
    priceChange24hPercent: change ? decimalText(change.percent, PERCENT_OF_CHANGE_DECIMALS) : '',
  };
}

/** Cash flow of each side: the rate of the paying side is negative. */
function fundingSides(summary: MarketSummary | null) {
  const { fundingRateLong = 0n, fundingRateShort = 0n, oraclePriceTwap = 0n } = summary?.funding ?? {};
  const text = (rate: bigint) => decimalText(fundingPercent1e9(rate, oraclePriceTwap), PERCENT_DECIMALS);
  return { long: text(-fundingRateLong), short: text(fundingRateShort) };
}

const priceText = (value: bigint | null | undefined): string =>
  value === null || value === undefined ? '' : decimalText(value, PRICE_DECIMALS);
