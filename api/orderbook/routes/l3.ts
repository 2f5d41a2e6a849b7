// GET /l3: every visible resting order of one market.

import type { FastifyInstance } from 'fastify';
import { OrderbookError } from '../../errors.ts';
import type { Query } from '../../lenient.ts';
import { l3Json } from '../../views/bodies.ts';
import { selectMarket } from '../selection.ts';
import type { OrderbookServices } from '../services.ts';

export function l3Route(app: FastifyInstance, { reader }: OrderbookServices): void {
  app.get<{ Querystring: Query }>('/l3', async (request, reply) => {
    const market = selectMarket(reader.markets, request.query);
    const book = reader.book(market);
    if (!book) throw new OrderbookError('noL3');
    return reply.type('application/json; charset=utf-8').send(l3Json(book, market));
  });
}
