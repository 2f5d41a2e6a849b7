// /stats/markets...: market summaries, volumes and prices.

import type { FastifyInstance } from 'fastify';
import { PRICE_DECIMALS } from '../../../schemas/index.ts';
import { HistoryError } from '../../http/errors.ts';
import { decimalText } from '../../http/units.ts';
import {
  answerOf,
  decimal,
  listOf,
  MARKET_TYPE,
  objectOf,
  QUOTE,
  raw,
  SECONDS,
  TEXT,
  WHOLE,
} from '../answer-schemas.ts';
import { FRESH_S, MinuteCache } from '../minute-cache.ts';
import { PreparedText } from '../prepared-text.ts';
import { marketVolumes, type VolumeRow } from '../queries/volumes.ts';
import { described, errorResponses, TS } from '../route-schemas.ts';
import { HOUR_S } from '../seconds.ts';
import type { HistoryServices } from '../services.ts';
import { priceChange, SUMMARY_SCHEMA } from '../summaries.ts';

const MAX_RANGE_HOURS = 24;
const PERCENT_DECIMALS = 2;
const INTERVALS = { '1h': HOUR_S, '24h': 24 * HOUR_S, '30d': 30 * 24 * HOUR_S } as const;
type Interval = keyof typeof INTERVALS;

const MARKET = { symbol: TEXT, marketIndex: WHOLE, marketType: MARKET_TYPE };
const VOLUMES = {
  total: { ...QUOTE, description: 'raw integer, quote 1e6, of all markets' },
  markets: listOf(objectOf({ ...MARKET, baseVolume: raw('base units of the market'), quoteVolume: QUOTE })),
};

export function marketStatsRoutes(app: FastifyInstance, services: HistoryServices): void {
  volumeRoutes(app, services);
  priceRoute(app, services);
}

/** Throws a HistoryError while no market or no summary is known. */
export function requireSummaries({ markets, summaries }: HistoryServices): void {
  if (markets.size === 0 || !summaries.isBuilt) throw new HistoryError('notBuilt');
}

export function summaryRoute(app: FastifyInstance, services: HistoryServices): void {
  const { summaries } = services;
  const prepared = new PreparedText('application/json; charset=utf-8');
  app.get(
    '/stats/markets',
    {
      compress: false, // prepared in every encoding
      schema: described({
        summary: 'Market summaries: unlike records, JSON numbers in human units',
        tags: ['Stats'],
        response: { 200: { description: 'by type and index', ...listOf(SUMMARY_SCHEMA) }, ...errorResponses },
      }),
    },
    (request, reply) => {
      requireSummaries(services);
      return prepared.send(request, reply, summaries.changes, () => summaries.text());
    },
  );
}

function volumeRoutes(app: FastifyInstance, services: HistoryServices): void {
  const { store, now } = services;
  const cache = new MinuteCache<readonly VolumeRow[]>(now, FRESH_S);
  app.get<{ Params: { interval: Interval } }>(
    '/stats/markets/volume/:interval',
    {
      schema: described({
        summary: 'Volumes of the markets until now; liquidation fills count, position transfers do not',
        tags: ['Stats'],
        params: {
          type: 'object',
          required: ['interval'],
          properties: { interval: { type: 'string', enum: Object.keys(INTERVALS) } },
        },
        response: { 200: answerOf('by market index', VOLUMES), ...errorResponses },
      }),
    },
    async ({ params: { interval } }) => {
      await services.builtParts.require('events');
      const volumes = await cache.get(interval, () => marketVolumes(store, now() - INTERVALS[interval], now()));
      return { success: true, ...volumeBody(services, volumes) };
    },
  );
  app.get<{ Querystring: { startTs: number; endTs: number } }>(
    '/stats/markets/volume',
    {
      schema: described({
        summary: 'Volumes of the markets over 1 to 24 whole hours; liquidation fills count, position transfers do not',
        tags: ['Stats'],
        querystring: {
          type: 'object',
          required: ['startTs', 'endTs'],
          properties: {
            startTs: { ...TS, description: 'unix seconds, aligned down to the hour, inclusive' },
            endTs: { ...TS, description: 'unix seconds, aligned down to the hour, exclusive' },
          },
        },
        response: {
          200: answerOf('by market index', { ...VOLUMES, startTs: SECONDS, endTs: SECONDS }),
          ...errorResponses,
        },
      }),
    },
    async ({ query }) => {
      const { startTs, endTs } = alignedRange(query.startTs, query.endTs);
      await services.builtParts.require('events');
      // Fills may come until the end: an answer from before it does not serve the ended range.
      const key = `${startTs}-${endTs}${now() < endTs ? '-open' : ''}`;
      const volumes = await cache.get(key, () => marketVolumes(store, startTs, endTs));
      return { success: true, ...volumeBody(services, volumes), startTs, endTs };
    },
  );
}

/** Aligns to whole hours. Throws a validation HistoryError for an empty range or more than 24 hours. */
function alignedRange(start: number, end: number): { readonly startTs: number; readonly endTs: number } {
  if (start >= end) throw new HistoryError('validation', 'startTs must be before endTs');
  const [startTs, endTs] = [start, end].map((ts) => Math.floor(ts / HOUR_S) * HOUR_S);
  const hours = ((endTs ?? 0) - (startTs ?? 0)) / HOUR_S;
  if (startTs === undefined || endTs === undefined || hours < 1 || hours > MAX_RANGE_HOURS) {
    throw new HistoryError('validation', `the range must be 1 to ${MAX_RANGE_HOURS} whole hours`);
  }
  return { startTs, endTs };
}

function volumeBody({ markets }: HistoryServices, volumes: readonly VolumeRow[]) {
  if (markets.size === 0) throw new HistoryError('notBuilt');
  const byKey = new Map(volumes.map((row) => [`${row.marketType}-${row.marketIndex}`, row]));
  const total = volumes.reduce((sum, { quoteVolume }) => sum + BigInt(quoteVolume), 0n);
  const listed = markets.list().map(({ symbol, marketIndex, marketType }) => {
    const row = byKey.get(`${marketType}-${marketIndex}`);
    return {
      symbol,
      marketIndex,
      marketType,
      baseVolume: row?.baseVolume ?? '0',
      quoteVolume: row?.quoteVolume ?? '0',
    };
  });
  // The list has perps first and the sort is stable: of one index, the perp precedes the spot market.
  return { total: String(total), markets: listed.sort((a, b) => a.marketIndex - b.marketIndex) };
}

function priceRoute(app: FastifyInstance, services: HistoryServices): void {
  const { markets, summaries } = services;
  app.get(
    '/stats/markets/prices',
    {
      schema: described({
        summary: 'Fill prices of the markets, now and 24 hours ago',
        tags: ['Stats'],
        response: {
          200: answerOf('by type and index', {
            markets: listOf(
              objectOf({
                ...MARKET,
                currentPrice: decimal('last fill, human units, 6 decimals; empty before the first'),
                price24hAgo: decimal('last fill before the 24 hours, 6 decimals; empty when there is none'),
                priceChange: decimal('the difference, 6 decimals; empty when there is none'),
                priceChangePercent: decimal('percent of the earlier price, 2 decimals; empty when there is none'),
              }),
            ),
          }),
          ...errorResponses,
        },
      }),
    },
    async () => {
      requireSummaries(services);
      const text = (value: bigint | null | undefined, decimals = PRICE_DECIMALS) =>
        value === null || value === undefined ? '' : decimalText(value, decimals);
      return {
        success: true,
        markets: markets.list().map((market) => {
          const summary = summaries.of(market);
          const change = priceChange(summary);
          return {
            symbol: market.symbol,
            marketIndex: market.marketIndex,
            marketType: market.marketType,
            currentPrice: text(summary?.lastFillPrice),
            price24hAgo: text(summary?.fillPrice24hAgo),
            priceChange: text(change?.change),
            priceChangePercent: text(change?.percent, PERCENT_DECIMALS),
          };
        }),
      };
    },
  );
}
