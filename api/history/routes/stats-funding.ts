// /stats/fundingRates, /stats/fundingRates/external, /stats/{symbol}/rateHistory/{type}: funding and interest rates.

import type { FastifyInstance } from 'fastify';
import { decimalText } from '../../http/units.ts';
import { answerOf, decimal, listOf, objectOf, SECONDS, TEXT, WHOLE } from '../answer-schemas.ts';
import { externalRates, readVenues } from '../external-funding.ts';
import { type Rates, ratesOf } from '../interest.ts';
import { baseDecimals, ROLLING_WINDOW_S } from '../lists.ts';
import { MinuteCache } from '../minute-cache.ts';
import { averageFunding, FUNDING_PERIODS, type FundingPeriod } from '../queries/funding.ts';
import { interestHistory } from '../queries/interest.ts';
import { described, errorResponses, SYMBOL } from '../route-schemas.ts';
import { type HistoryServices, marketOf } from '../services.ts';
import { PERCENT_DECIMALS } from '../summaries.ts';

const PERIODS = Object.keys(FUNDING_PERIODS) as readonly FundingPeriod[];

export function fundingStatsRoutes(app: FastifyInstance, services: HistoryServices): void {
  ownRates(app, services);
  foreignRates(app, services);
  rateHistory(app, services);
}

function ownRates(app: FastifyInstance, { store, markets, builtParts, now }: HistoryServices): void {
  const cache = new MinuteCache<Awaited<ReturnType<typeof averageFunding>>>(now);
  const percent = decimal('percent per hour, 9 decimals; positive = longs pay');
  app.get(
    '/stats/fundingRates',
    {
      schema: described({
        summary: 'Mean funding of the perp markets',
        tags: ['Stats'],
        response: {
          200: answerOf('mean of the last 24 records, and of those of 7 days, 30 days and a year; 0 without records', {
            markets: listOf(
              objectOf({
                marketIndex: WHOLE,
                symbol: TEXT,
                fundingRates: objectOf(Object.fromEntries(PERIODS.map((period) => [period, percent]))),
              }),
            ),
          }),
          ...errorResponses,
        },
      }),
    },
    async () => {
      await builtParts.require('events');
      const means = await cache.get('', () => averageFunding(store, now()));
      const perps = markets.list().filter(({ marketType }) => marketType === 'perp');
      return {
        success: true,
        markets: perps.map(({ marketIndex, symbol }) => ({
          marketIndex,
          symbol,
          fundingRates: Object.fromEntries(
            PERIODS.map((period) => [period, decimalText(means.get(marketIndex)?.[period] ?? 0n, PERCENT_DECIMALS)]),
          ),
        })),
      };
    },
  );
}

function foreignRates(app: FastifyInstance, { settings, now }: HistoryServices): void {
  const venues = readVenues(settings.fundingVenuesPath);
  const cache = new MinuteCache<Awaited<ReturnType<typeof externalRates>>>(now);
  const rate = { type: 'number', description: 'percent per interval; positive = longs pay' };
  app.get(
    '/stats/fundingRates/external',
    {
      schema: described({
        summary: 'Funding of other venues, as the deployment names them; a venue that cannot be reached is absent',
        tags: ['Stats'],
        response: {
          200: answerOf('by asset and venue', {
            records: listOf(
              objectOf({
                asset: TEXT,
                venue: TEXT,
                fundingRate: rate,
                intervalHours: { type: 'number' },
                annualisedPercent: { type: 'number' },
                ts: SECONDS,
              }),
            ),
          }),
          ...errorResponses,
        },
      }),
    },
    async () => ({ success: true, records: await cache.get('', () => externalRates(venues, now())) }),
  );
}

const RATE_TYPES = [
  'deposit',
  'borrow',
  'deposit_balance',
  'borrow_balance',
] as const satisfies readonly (keyof Rates)[];

function rateHistory(app: FastifyInstance, services: HistoryServices): void {
  app.get<{ Params: { symbol: string; type: keyof Rates } }>(
    '/stats/:symbol/rateHistory/:type',
    {
      schema: described({
        summary: 'Interest rates and balances of a spot market, the last of each hour of 31 days',
        tags: ['Stats'],
        params: {
          type: 'object',
          required: ['symbol', 'type'],
          properties: { symbol: SYMBOL, type: { type: 'string', enum: RATE_TYPES } },
        },
        response: {
          200: answerOf('oldest first', {
            rates: listOf(
              listOf({ type: ['integer', 'string'] }),
              '[ts, value]: rates are raw integers 1e6 = 100 % a year, balances tokens in mint decimals',
            ),
          }),
          ...errorResponses,
        },
      }),
    },
    async ({ params: { symbol, type } }) => {
      const market = marketOf(services, symbol, 'spot');
      await services.builtParts.require('events');
      const points = await interestHistory(services.store, market.marketIndex, services.now() - ROLLING_WINDOW_S);
      const decimals = baseDecimals(market);
      return {
        success: true,
        rates: points.map(({ ts, state, insuranceFactor }) => [
          ts,
          String(ratesOf(state, decimals, insuranceFactor)[type]),
        ]),
      };
    },
  );
}
