// GET /topMakers: the owners of the best resting orders of one side, best first.

import type { FastifyInstance } from 'fastify';
import { base58 } from '../../base58.ts';
import { OrderbookError } from '../../errors.ts';
import { lenientFlag, lenientInteger, parameter, type Query } from '../../lenient.ts';
import { TOP_MAKERS_CONTRACT } from '../contracts/books.ts';
import { DEFAULT_MAKERS, MAX_ACCOUNTS, MAX_MAKERS } from '../limits.ts';
import { selectMarket } from '../selection.ts';
import type { OrderbookServices } from '../services.ts';

function requestedLimit(value: string | undefined): number {
  if (value === undefined || value === '') return DEFAULT_MAKERS;
  const limit = lenientInteger(value);
  if (limit === null) throw new OrderbookError('limitNotANumber');
  return Math.min(Math.max(limit, 0), MAX_MAKERS);
}

export function topMakersRoute(app: FastifyInstance, { reader, accounts, metrics }: OrderbookServices): void {
  app.get<{ Querystring: Query }>(
    '/topMakers',
    { config: { contract: TOP_MAKERS_CONTRACT } },
    async (request, reply) => {
      const { query } = request;
      const market = selectMarket(reader.markets, query);
      const side = parameter(query, 'side');
      if (side !== 'bid' && side !== 'ask') throw new OrderbookError('sideUnknown');
      const limit = requestedLimit(parameter(query, 'limit'));
      const withAccounts = lenientFlag(parameter(query, 'includeAccounts'));
      const book = reader.book(market);
      metrics?.lookedUp('/topMakers', book !== null);
      const makers = (book?.view.bestMakers(side, limit) ?? []).map(base58);
      reply.type('application/json; charset=utf-8');
      if (!withAccounts) return JSON.stringify(makers);
      const bytes = await accounts.read(makers.slice(0, MAX_ACCOUNTS));
      return JSON.stringify(
        makers.map((userAccountPubKey, index) => ({ userAccountPubKey, accountBase64: bytes[index] ?? null })),
      );
    },
  );
}
