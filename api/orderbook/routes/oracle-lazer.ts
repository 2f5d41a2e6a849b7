// GET /oracleLazer: prices of oracle feeds for the operator's own clients (reference 1.10, protocol 5.5).

import type { FastifyInstance } from 'fastify';
import { FORBIDDEN_ORIGIN, OrderbookError } from '../../errors.ts';
import { ORACLE_LAZER_CONTRACT } from '../contracts/feeds.ts';
import { serve } from '../route.ts';
import type { OrderbookServices } from '../services.ts';

export function oracleLazerRoute(app: FastifyInstance, { feeds }: OrderbookServices): void {
  serve(
    app,
    '/oracleLazer',
    ORACLE_LAZER_CONTRACT,
    async (given, request, reply) => {
      if (!feeds?.oracle.guard(request)) {
        return reply.code(FORBIDDEN_ORIGIN.status).send({ error: FORBIDDEN_ORIGIN.error });
      }
      const { feeds: prices, solana } = await feeds.oracle.latest(given('feedIds'));
      if (prices.length === 0) throw new OrderbookError('notFound');
      return { data: prices, ...(solana === null ? {} : { solana }) };
    },
    { hasWeakEtag: true },
  );
}
