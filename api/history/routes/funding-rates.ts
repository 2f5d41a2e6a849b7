// GET /market/{symbol}/fundingRates: funding rate updates of a perp market, last 31 days.

import type { FastifyInstance } from 'fastify';
import { listPage, ROLLING_WINDOW_S } from '../lists.ts';
import { described, errorResponses, limitSchema, PAGE, rollingResponse, symbolParams } from '../route-schemas.ts';
import { FUNDING_RATES } from '../rows.ts';
import { type HistoryServices, marketOf } from '../services.ts';

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 750;

interface PageQuery {
  readonly page?: string;
  readonly limit: number;
}

export function fundingRateRoutes(app: FastifyInstance, services: HistoryServices): void {
  app.get<{ Params: { symbol: string }; Querystring: PageQuery }>(
    '/market/:symbol/fundingRates',
    {
      schema: described({
        summary: 'Funding rates of a perp market, last 31 days',
        tags: ['Market'],
        params: symbolParams,
        querystring: { type: 'object', properties: { page: PAGE, limit: limitSchema(DEFAULT_LIMIT, MAX_LIMIT) } },
        response: { 200: rollingResponse(FUNDING_RATES.fields), ...errorResponses },
      }),
    },
    async ({ params, query }) => {
      const market = marketOf(services, params.symbol, 'perp');
      const path = `/market/${market.symbol}/fundingRates`;
      const range = { from: services.now() - ROLLING_WINDOW_S, to: null };
      const { page, limit } = query;
      const request = { source: FUNDING_RATES, market, range, path, page, limit };
      const { records, nextPage } = await listPage(services.store, request);
      return { success: true, records, meta: { nextPage } };
    },
  );
}
