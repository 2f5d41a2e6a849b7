// /market/{symbol}/...: what happened in one market.

import type { FastifyInstance } from 'fastify';
import type { MarketType } from '../../../schemas/index.ts';
import { type ListFamily, listRoutes } from '../list-routes.ts';
import { marketParameters, type RowSource } from '../lists.ts';
import { SYMBOL } from '../route-schemas.ts';
import { FUNDING_RATES, TRADES } from '../rows/market.ts';
import { type HistoryServices, marketOf } from '../services.ts';

interface MarketList {
  readonly name: string;
  readonly summary: string;
  readonly source: RowSource;
  readonly only?: MarketType;
  readonly limit?: ListFamily['limit'];
}

const LISTS: readonly MarketList[] = [
  { name: 'trades', summary: 'Fills of a market', source: TRADES },
  {
    name: 'fundingRates',
    summary: 'Funding rates of a perp market',
    source: FUNDING_RATES,
    only: 'perp',
    limit: { fallback: 20, maximum: 750 },
  },
];

export function marketListRoutes(app: FastifyInstance, services: HistoryServices): void {
  listRoutes(app, services, LISTS.map(family));
}

function family({ name, summary, source, only, limit }: MarketList): ListFamily {
  return {
    path: `/market/:symbol/${name}`,
    tag: 'Market',
    summary,
    params: { symbol: SYMBOL },
    source,
    scope: (services, params) => {
      const market = marketOf(services, String(params.symbol), only);
      return { parameters: marketParameters(market), path: `/market/${market.symbol}/${name}` };
    },
    ...(limit ? { limit } : {}),
    archive: 'day',
  };
}
