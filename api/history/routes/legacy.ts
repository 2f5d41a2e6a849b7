// /trades and /fundingRates: lists in the form of older clients (docs/internals/history-semantics.md, "Legacy paths").

import type { FastifyInstance } from 'fastify';
import { rowSchema } from '../fields.ts';
import { listSlice, marketParameters, registryParameters, rollingRange } from '../lists.ts';
import { described, errorResponses, FINAL_BEFORE, limitSchema, SYMBOL } from '../route-schemas.ts';
import { FUNDING_RATE_FIELDS, FUNDING_RATES, TRADE_FIELDS, TRADES } from '../rows/market.ts';
import { DAY_S } from '../seconds.ts';
import { finalBeforeOf, type HistoryServices, marketOf } from '../services.ts';

const TRADES_LIMIT = { fallback: 100, maximum: 1000 };
/** Keeps the number of skipped rows below 2^32. */
const MAX_PAGE_INDEX = 1_000_000;
const FUNDING_WINDOW_S = 30 * DAY_S;
/** More than the hours of the window. */
const FUNDING_ROWS_MAX = 750;

/** A market by `symbol`, or by `marketName`, the name in older clients. */
const MARKET_QUERY = {
  anyOf: [{ required: ['symbol'] }, { required: ['marketName'] }],
  properties: { symbol: SYMBOL, marketName: { ...SYMBOL, description: 'the same as symbol' } },
};

interface MarketQuery {
  readonly symbol?: string;
  readonly marketName?: string;
}

const symbolOf = ({ symbol, marketName }: MarketQuery): string => symbol ?? marketName ?? '';

export function legacyRoutes(app: FastifyInstance, services: HistoryServices): void {
  tradesRoute(app, services);
  fundingRatesRoute(app, services);
}

function tradesRoute(app: FastifyInstance, services: HistoryServices): void {
  app.get<{ Querystring: MarketQuery & { limit: number; pageIndex: number } }>(
    '/trades',
    {
      schema: described({
        summary: 'Fills of a market, last 31 days, by offset: new rows shift the pages',
        tags: ['Market'],
        querystring: {
          type: 'object',
          anyOf: MARKET_QUERY.anyOf,
          properties: {
            ...MARKET_QUERY.properties,
            limit: limitSchema(TRADES_LIMIT.fallback, TRADES_LIMIT.maximum),
            pageIndex: { type: 'integer', minimum: 0, maximum: MAX_PAGE_INDEX, default: 0, description: 'from 0' },
          },
        },
        response: { 200: tradesResponse, ...errorResponses },
      }),
    },
    async ({ query }) => {
      const market = marketOf(services, symbolOf(query));
      await services.builtParts.require('events');
      const { limit, pageIndex } = query;
      const finalBefore = finalBeforeOf(services, null);
      const { records, more } = await listSlice(services.store, {
        source: TRADES,
        parameters: { ...registryParameters(services.markets), ...marketParameters(market) },
        range: rollingRange(services.now(), undefined, undefined),
        limit,
        skipped: pageIndex * limit,
        name: `/market/${market.symbol}/trades`,
      });
      return { success: true, records, meta: { nextPage: more ? pageIndex + 1 : null, finalBefore } };
    },
  );
}

function fundingRatesRoute(app: FastifyInstance, services: HistoryServices): void {
  app.get<{ Querystring: MarketQuery & { limit?: number } }>(
    '/fundingRates',
    {
      schema: described({
        summary: 'The newest funding rates of a perp market within 30 days, oldest first',
        tags: ['Market'],
        querystring: {
          type: 'object',
          anyOf: MARKET_QUERY.anyOf,
          properties: {
            ...MARKET_QUERY.properties,
            limit: {
              type: 'integer',
              minimum: 1,
              maximum: FUNDING_ROWS_MAX,
              description: 'the newest rows alone; absent: all of the 30 days',
            },
          },
        },
        response: { 200: fundingResponse, ...errorResponses },
      }),
    },
    async ({ query }) => {
      const market = marketOf(services, symbolOf(query), 'perp');
      await services.builtParts.require('events');
      const { records } = await listSlice(services.store, {
        source: FUNDING_RATES,
        parameters: { ...registryParameters(services.markets), ...marketParameters(market) },
        range: { from: services.now() - FUNDING_WINDOW_S, to: null },
        limit: query.limit ?? FUNDING_ROWS_MAX,
        skipped: 0,
      });
      return { fundingRates: records.toReversed() };
    },
  );
}

const tradesResponse = {
  description: 'rows, newest first',
  type: 'object',
  required: ['success', 'records', 'meta'],
  properties: {
    success: { type: 'boolean', const: true },
    records: { type: 'array', items: rowSchema(TRADE_FIELDS) },
    meta: {
      type: 'object',
      required: ['nextPage', 'finalBefore'],
      properties: {
        nextPage: { type: ['integer', 'null'], description: 'the next pageIndex; null when no more rows' },
        finalBefore: FINAL_BEFORE,
      },
    },
  },
};

const fundingResponse = {
  description: 'rows, oldest first',
  type: 'object',
  required: ['fundingRates'],
  properties: { fundingRates: { type: 'array', items: rowSchema(FUNDING_RATE_FIELDS) } },
};
