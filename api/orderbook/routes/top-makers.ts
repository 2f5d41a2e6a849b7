// GET /topMakers: the owners of the best resting orders of one side, best first.

import type { FastifyInstance } from 'fastify';
import { base58 } from '../../base58.ts';
import { OrderbookError } from '../../errors.ts';
import { lenientFlag, lenientInteger, parameter, type Query } from '../../lenient.ts';
import { selectMarket } from '../selection.ts';
import type { OrderbookServices } from '../services.ts';

/** Default of `limit` (specification, Limits). */
const DEFAULT_LIMIT = 4;
/** No book holds more makers than this; keeps `limit` a sane number. */
const MAX_LIMIT = 100_000;
/** Most accounts read from the chain for one request, one getMultipleAccounts call; makers beyond have null. */
const MAX_ACCOUNTS = 100;

function requestedLimit(value: string | undefined): number {
  if (value === undefined || value === '') return DEFAULT_LIMIT;
  const limit = lenientInteger(value);
  if (limit === null) throw new OrderbookError('limitNotANumber');
  return Math.min(Math.max(limit, 0), MAX_LIMIT);
}

export function topMakersRoute(app: FastifyInstance, { reader, accounts }: OrderbookServices): void {
  app.get<{ Querystring: Query }>('/topMakers', async (request, reply) => {
    const { query } = request;
    const market = selectMarket(reader.markets, query);
    const side = parameter(query, 'side');
    if (side !== 'bid' && side !== 'ask') throw new OrderbookError('sideUnknown');
    const limit = requestedLimit(parameter(query, 'limit'));
    const withAccounts = lenientFlag(parameter(query, 'includeAccounts'));
    const makers = (reader.book(market)?.view.bestMakers(side, limit) ?? []).map(base58);
    reply.type('application/json; charset=utf-8');
    if (!withAccounts) return JSON.stringify(makers);
    const bytes = await accounts.read(makers.slice(0, MAX_ACCOUNTS));
    return JSON.stringify(
      makers.map((userAccountPubKey, index) => ({ userAccountPubKey, accountBase64: bytes[index] ?? null })),
    );
  });
}
