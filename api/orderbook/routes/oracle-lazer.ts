// GET /oracleLazer: prices of oracle feeds for the operator's own clients (reference 1.10, protocol 5.5).

import type { FastifyInstance } from 'fastify';
import { FORBIDDEN_ORIGIN, OrderbookError } from '../../errors.ts';
import { parameter, type Query } from '../../lenient.ts';
import { ORACLE_LAZER_CONTRACT } from '../contracts/feeds.ts';
import { FEED_ID_MAX, MAX_FEEDS } from '../limits.ts';
import type { OrderbookServices } from '../services.ts';

/** Ids of the comma-separated list, each once. Throws OrderbookError with the exact text. */
export function requestedFeeds(value: string | undefined): readonly number[] {
  if (value === undefined || value === '') throw new OrderbookError('feedIdsMissing');
  const ids = new Set<number>();
  for (const text of value.split(',')) {
    const id = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
    if (!(id <= FEED_ID_MAX)) throw new OrderbookError('feedIdsUnusable');
    ids.add(id);
  }
  if (ids.size > MAX_FEEDS) throw new OrderbookError('feedIdsUnusable');
  return [...ids];
}

export function oracleLazerRoute(app: FastifyInstance, { feeds }: OrderbookServices): void {
  app.get<{ Querystring: Query }>(
    '/oracleLazer',
    { config: { contract: ORACLE_LAZER_CONTRACT, hasWeakEtag: true } },
    async (request, reply) => {
      if (!feeds?.oracle.guard(request)) {
        return reply.code(FORBIDDEN_ORIGIN.status).send({ error: FORBIDDEN_ORIGIN.error });
      }
      const feedIds = requestedFeeds(parameter(request.query, 'feedIds'));
      const { feeds: prices, solana } = await feeds.oracle.latest(feedIds);
      if (prices.length === 0) throw new OrderbookError('notFound');
      return { data: prices, ...(solana === null ? {} : { solana }) };
    },
  );
}
