// /user/{accountId}/orders/...: current state of an account's orders, and the actions of one order.

import type { FastifyInstance } from 'fastify';
import { HISTORY_ERRORS, HistoryError } from '../../http/errors.ts';
import { type Row, rowSchema } from '../fields.ts';
import { type ListFamily, listRoutes, type ScopedRows } from '../list-routes.ts';
import { listSlice, marketParameters, type RowSource, registryParameters } from '../lists.ts';
import { described, errorResponses, SYMBOL } from '../route-schemas.ts';
import { ORDER_ACTIONS } from '../rows/account-fills.ts';
import { ORDER_FIELDS, userOrder, userOrders } from '../rows/orders.ts';
import { type HistoryServices, keyOf, marketOf } from '../services.ts';
import type { Parameters } from '../store.ts';
import { ACCOUNT_ID } from './user-lists.ts';

const MARKET_FILTER = { type: 'string', enum: ['perp', 'spot'], description: 'type of market' };
const MAX_ORDER_ID = 2 ** 32 - 1;
const ORDER_ID = { type: 'integer', minimum: 0, maximum: MAX_ORDER_ID, description: "the account's order id" };
const QUERY = {
  hasFill: { type: 'boolean', default: false, description: 'only orders with a filled amount' },
};

type MarketFilter = 'perp' | 'spot';

const orderResponse = {
  description: 'the order in its current state',
  type: 'object',
  required: ['success', 'record'],
  properties: { success: { type: 'boolean', const: true }, record: rowSchema(ORDER_FIELDS) },
};

const unknownOrderResponse = {
  description: 'the account has no such order',
  type: 'object',
  required: ['success', 'error'],
  properties: {
    success: { type: 'boolean', const: false },
    error: { type: 'string', const: HISTORY_ERRORS.unknownOrder.error },
  },
};

export function userOrderRoutes(app: FastifyInstance, services: HistoryServices): void {
  listRoutes(app, services, [ORDERS, MARKET_ORDERS, ACTIONS]);
  orderRoute(app, services, '/user/:accountId/orders/id/:orderId', false);
  orderRoute(app, services, '/user/:accountId/orders/:marketFilter/id/:orderId', true);
}

const ORDERS: ListFamily = {
  path: '/user/:accountId/orders/:marketFilter',
  tag: 'User',
  summary: 'Orders of one market type, by when they were placed',
  params: { accountId: ACCOUNT_ID, marketFilter: MARKET_FILTER },
  query: QUERY,
  source: userOrders('type', false),
  scope: (_services, params, query): ScopedRows => {
    const user = keyOf(String(params.accountId));
    const marketType = String(params.marketFilter);
    return {
      source: userOrders('type', query.hasFill === true),
      parameters: { user, marketType },
      path: `/user/${user}/orders/${marketType}`,
    };
  },
};

const MARKET_ORDERS: ListFamily = {
  path: '/user/:accountId/orders/:marketFilter/:symbol',
  tag: 'User',
  summary: 'Orders of one market, by when they were placed',
  params: { accountId: ACCOUNT_ID, marketFilter: MARKET_FILTER, symbol: SYMBOL },
  query: QUERY,
  source: userOrders('market', false),
  scope: (services, params, query): ScopedRows => {
    const user = keyOf(String(params.accountId));
    const market = marketOf(services, String(params.symbol), params.marketFilter as MarketFilter);
    return {
      source: userOrders('market', query.hasFill === true),
      parameters: { user, ...marketParameters(market) },
      path: `/user/${user}/orders/${market.marketType}/${market.symbol}`,
    };
  },
};

const ACTIONS: ListFamily = {
  path: '/user/:accountId/orders/:orderId/actions',
  tag: 'User',
  summary: 'What happened to an order',
  params: { accountId: ACCOUNT_ID, orderId: ORDER_ID },
  source: ORDER_ACTIONS,
  scope: (_services, { accountId, orderId }) => {
    const user = keyOf(String(accountId));
    return { parameters: { user, orderId: Number(orderId) }, path: `/user/${user}/orders/${orderId}/actions` };
  },
  confirmSubject: async (services, parameters) => {
    for (const source of [userOrder(false), ORDER_ACTIONS]) {
      if ((await newestOf(services, source, parameters)) !== null) return;
    }
    throw new HistoryError('unknownOrder');
  },
  answers: { 404: unknownOrderResponse },
};

interface OrderParams {
  readonly accountId: string;
  readonly orderId: number;
  readonly marketFilter?: MarketFilter;
}

function orderRoute(app: FastifyInstance, services: HistoryServices, path: string, typed: boolean): void {
  const properties = { accountId: ACCOUNT_ID, ...(typed ? { marketFilter: MARKET_FILTER } : {}), orderId: ORDER_ID };
  const source = userOrder(typed);
  app.get<{ Params: OrderParams }>(
    path,
    {
      schema: described({
        summary: `One order, of any age${typed ? ', of one market type' : ''}`,
        tags: ['User'],
        params: { type: 'object', required: Object.keys(properties), properties },
        response: { 200: orderResponse, 404: unknownOrderResponse, ...errorResponses },
      }),
    },
    async ({ params: { accountId, orderId, marketFilter } }) => {
      const user = keyOf(accountId);
      await services.builtParts.require('events');
      const record = await newestOf(services, source, {
        ...registryParameters(services.markets),
        user,
        orderId,
        ...(marketFilter ? { marketType: marketFilter } : {}),
      });
      if (record === null) throw new HistoryError('unknownOrder');
      return { success: true, record };
    },
  );
}

async function newestOf({ store }: HistoryServices, source: RowSource, parameters: Parameters): Promise<Row | null> {
  const range = { from: 0, to: null };
  const { records } = await listSlice(store, { source, parameters, range, limit: 1, skipped: 0 });
  return records[0] ?? null;
}
