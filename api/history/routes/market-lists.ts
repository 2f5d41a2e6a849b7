// /market/{symbol}/...: lists of one market.

import type { FastifyInstance } from 'fastify';
import type { MarketType } from '../../../schemas/index.ts';
import { type ListFamily, listRoutes } from '../list-routes.ts';
import { marketParameters, type RowSource } from '../lists.ts';
import { SYMBOL } from '../route-schemas.ts';
import { MARKET_DEPOSITS, MARKET_REWARDS, MARKET_SWAPS } from '../rows/balances.ts';
import { INSURANCE_FUND, MARKET_INSURANCE_FUND_STAKES } from '../rows/insurance.ts';
import { FUNDING_RATES, TRADES } from '../rows/market.ts';
import { type HistoryServices, marketOf } from '../services.ts';

interface MarketList {
  readonly name: string;
  readonly summary: string;
  readonly source: RowSource;
  readonly only?: MarketType;
  /** Whether the archive accepts markets of any type. */
  readonly archiveOfAny?: boolean;
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
  {
    name: 'deposits',
    summary: 'Deposits, withdrawals and transfers of a spot market',
    source: MARKET_DEPOSITS,
    only: 'spot',
  },
  {
    name: 'rewards',
    summary: 'Rewards paid in a spot market',
    source: MARKET_REWARDS,
    only: 'spot',
    archiveOfAny: true,
  },
  { name: 'swaps', summary: 'Swaps out of or into a spot market', source: MARKET_SWAPS, only: 'spot' },
  {
    name: 'insuranceFund',
    summary: "Movements of a spot market's insurance vault",
    source: INSURANCE_FUND,
    only: 'spot',
  },
  {
    name: 'insuranceFundStake',
    summary: "Stakes in a spot market's insurance fund",
    source: MARKET_INSURANCE_FUND_STAKES,
    only: 'spot',
  },
];

export function marketListRoutes(app: FastifyInstance, services: HistoryServices): void {
  listRoutes(app, services, LISTS.map(family));
}

function family({ name, summary, source, only, archiveOfAny, limit }: MarketList): ListFamily {
  return {
    path: `/market/:symbol/${name}`,
    tag: 'Market',
    summary,
    params: { symbol: SYMBOL },
    source,
    scope: (services, params) => {
      const dated = params.year !== undefined;
      const market = marketOf(services, String(params.symbol), dated && archiveOfAny ? undefined : only);
      return { parameters: marketParameters(market), path: `/market/${market.symbol}/${name}` };
    },
    ...(limit ? { limit } : {}),
    archive: 'day',
  };
}
