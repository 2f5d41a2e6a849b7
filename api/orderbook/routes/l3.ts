// GET /l3: every visible resting order of one market, on request with the indicative ones.

import type { FastifyInstance } from 'fastify';
import { OrderbookError } from '../../errors.ts';
import { lenientFlag, parameter, type Query } from '../../lenient.ts';
import { requestedSlot } from '../../views/slot-history.ts';
import { L3_CONTRACT } from '../contracts/books.ts';
import { selectMarket } from '../selection.ts';
import { JSON_TYPE, sendBook } from '../send-book.ts';
import type { OrderbookServices } from '../services.ts';

export function l3Route(app: FastifyInstance, { reader, slotHistory, metrics }: OrderbookServices): void {
  app.get<{ Querystring: Query }>('/l3', { config: { contract: L3_CONTRACT } }, async (request, reply) => {
    const market = selectMarket(reader.markets, request.query);
    const slot = parameter(request.query, 'slot');
    if (slot !== undefined) {
      const at = requestedSlot(slot, lenientFlag(parameter(request.query, 'includeIndicative')));
      if (!slotHistory) throw new OrderbookError('slotGone');
      return reply.type(JSON_TYPE).send(await slotHistory.l3(market, at));
    }
    const body = reader.bodies.l3(market, lenientFlag(parameter(request.query, 'includeIndicative')));
    metrics?.lookedUp('/l3', body !== null);
    if (body === null) throw new OrderbookError('noL3');
    return sendBook(request, reply, body);
  });
}
