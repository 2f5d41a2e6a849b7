// /external/coingecko/contracts, and /contracts for older clients: the feed for market-data aggregators.

import type { FastifyInstance } from 'fastify';
import {
  fundingPercent1e9,
  type MarketSummary,
  type MarketView,
  PRICE_DECIMALS,
  QUOTE_DECIMALS,
} from '../../../schemas/index.ts';
import { HistoryError } from '../../http/errors.ts';
import { decimalText } from '../../http/units.ts';
import { listOf, objectOf, TEXT } from '../answer-schemas.ts';
import { baseAssetOf, quoteAssetOf } from '../assets.ts';
import { baseDecimals } from '../lists.ts';
import { described, errorResponses } from '../route-schemas.ts';
import { HOUR_S } from '../seconds.ts';
import type { HistoryServices } from '../services.ts';
import { largerOpenInterest, oraclePriceOf } from '../summaries.ts';

/** Decimals of a percentage 1e9, as a fraction or as the percentage of the hosted service. */
const RATE_DECIMALS = { fraction: 11, percent: 9 } as const;
type RateUnit = keyof typeof RATE_DECIMALS;

const MEMBERS = [
  'contract_index',
  'ticker_id',
  'base_currency',
  'quote_currency',
  'last_price',
  'base_volume',
  'quote_volume',
  'high',
  'low',
  'product_type',
  'open_interest',
  'open_interest_usd',
  'index_price',
  'index_name',
  'index_currency',
  'funding_rate',
  'next_funding_rate',
  'next_funding_rate_timestamp',
  'contract_type',
  'contract_price_currency',
] as const;

type Contract = Readonly<Record<(typeof MEMBERS)[number], string>>;

export function listingRoutes(app: FastifyInstance, services: HistoryServices): void {
  listing(app, services, 'fraction');
}

/** The same routes with funding in percent per hour. */
export function percentListingRoutes(app: FastifyInstance, services: HistoryServices): void {
  listing(app, services, 'percent');
}

function listing(app: FastifyInstance, services: HistoryServices, rateUnit: RateUnit): void {
  const { markets, summaries, now } = services;
  const schema = described({
    summary: 'Perp markets for market-data aggregators',
    tags: ['Stats'],
    response: {
      200: objectOf(
        {
          contracts: listOf(
            objectOf(Object.fromEntries(MEMBERS.map((name) => [name, TEXT]))),
            `human units as text; empty where nothing is known. Funding: ${rateUnit} per hour, positive = longs pay; ` +
              'the next rate is the last one, due at the next full hour (unix seconds)',
          ),
        },
        'by market index',
      ),
      ...errorResponses,
    },
  });
  for (const path of ['/external/coingecko/contracts', '/contracts']) {
    app.get(path, { schema }, async () => {
      if (markets.size === 0 || !summaries.isBuilt) throw new HistoryError('notBuilt');
      const quote = quoteAssetOf(markets);
      const perps = markets.list().filter(({ marketType }) => marketType === 'perp');
      return {
        contracts: perps.map((market) => contract(market, summaries.of(market), { quote, now: now(), rateUnit })),
      };
    });
  }
}

interface Listing {
  readonly quote: string;
  /** Unix seconds. */
  readonly now: number;
  readonly rateUnit: RateUnit;
}

function contract(market: MarketView, summary: MarketSummary | null, { quote, now, rateUnit }: Listing): Contract {
  const { symbol, marketIndex } = market;
  const base = baseAssetOf(symbol);
  const price = (value: bigint | null | undefined) =>
    value === null || value === undefined ? '' : decimalText(value, PRICE_DECIMALS);
  const oracle = oraclePriceOf(market, summary);
  const interest = largerOpenInterest(market, summary);
  const decimals = baseDecimals(market);
  const rate = summary?.funding
    ? decimalText(
        fundingPercent1e9(summary.funding.fundingRate, summary.funding.oraclePriceTwap),
        RATE_DECIMALS[rateUnit],
      )
    : '';
  return {
    contract_index: String(marketIndex),
    ticker_id: symbol,
    base_currency: base,
    quote_currency: quote,
    last_price: price(summary?.lastFillPrice),
    base_volume: decimalText(summary?.baseVolume24h ?? 0n, decimals),
    quote_volume: decimalText(summary?.quoteVolume24h ?? 0n, QUOTE_DECIMALS),
    high: price(summary?.fillHigh24h),
    low: price(summary?.fillLow24h),
    product_type: 'PERP',
    open_interest: decimalText(interest, decimals),
    open_interest_usd: oracle === null ? '' : price((interest * oracle) / 10n ** BigInt(decimals)),
    index_price: price(oracle),
    index_name: base,
    index_currency: quote,
    funding_rate: rate,
    next_funding_rate: rate,
    next_funding_rate_timestamp: String((Math.floor(now / HOUR_S) + 1) * HOUR_S),
    contract_type: 'Vanilla',
    contract_price_currency: quote,
  };
}
