// /user/{accountId}/...: lists of one account.

import type { FastifyInstance } from 'fastify';
import { type ListFamily, listRoutes } from '../list-routes.ts';
import { marketParameters, type RowSource } from '../lists.ts';
import { PUBLIC_KEY, SYMBOL } from '../route-schemas.ts';
import { CLOSED_POSITIONS, USER_MARKET_TRADES, USER_TRADES } from '../rows/account-fills.ts';
import { FUNDING_PAYMENTS, SETTLEMENTS, USER_DEPOSITS, USER_REWARDS, USER_SWAPS } from '../rows/balances.ts';
import { USER_LIQUIDATIONS } from '../rows/liquidations.ts';
import { type HistoryServices, keyOf, marketOf } from '../services.ts';

interface UserList {
  readonly name: string;
  readonly summary: string;
  readonly source: RowSource;
  /** Without a monthly archive. */
  readonly rollingOnly?: boolean;
}

const LISTS: readonly UserList[] = [
  { name: 'trades', summary: 'Fills with the account as taker or maker', source: USER_TRADES },
  {
    name: 'positions',
    summary: 'Fills that reduced, closed or flipped a position',
    source: CLOSED_POSITIONS,
    rollingOnly: true,
  },
  { name: 'fundingPayments', summary: 'Funding paid and received', source: FUNDING_PAYMENTS },
  { name: 'liquidations', summary: 'Liquidations and bankruptcies of the account', source: USER_LIQUIDATIONS },
  { name: 'settlePnl', summary: 'Settlements of profit and loss', source: SETTLEMENTS },
  { name: 'swaps', summary: 'Swaps', source: USER_SWAPS },
  { name: 'deposits', summary: 'Deposits, withdrawals and transfers', source: USER_DEPOSITS },
  { name: 'rewards', summary: 'Rewards', source: USER_REWARDS },
];

export const ACCOUNT_ID = { ...PUBLIC_KEY, description: 'sub-account, base58' };

export function userListRoutes(app: FastifyInstance, services: HistoryServices): void {
  listRoutes(app, services, [...LISTS.map(family), MARKET_TRADES]);
}

function family({ name, summary, source, rollingOnly }: UserList): ListFamily {
  return {
    path: `/user/:accountId/${name}`,
    tag: 'User',
    summary,
    params: { accountId: ACCOUNT_ID },
    source,
    scope: (_services, { accountId }) => {
      const user = keyOf(String(accountId));
      return { parameters: { user }, path: `/user/${user}/${name}` };
    },
    ...(rollingOnly ? {} : { archive: 'month' as const }),
  };
}

const MARKET_TRADES: ListFamily = {
  path: '/user/:accountId/trades/:symbol',
  tag: 'User',
  summary: 'Fills with the account as taker or maker, of one market',
  params: { accountId: ACCOUNT_ID, symbol: SYMBOL },
  source: USER_MARKET_TRADES,
  scope: (services, params) => {
    const user = keyOf(String(params.accountId));
    const market = marketOf(services, String(params.symbol));
    return { parameters: { user, ...marketParameters(market) }, path: `/user/${user}/trades/${market.symbol}` };
  },
};
