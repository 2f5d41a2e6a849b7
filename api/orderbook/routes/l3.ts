// GET /l3: every visible resting order of one market, on request with the indicative ones.

import type { FastifyInstance } from 'fastify';
import { OrderbookError } from '../../errors.ts';
import { lenientFlag, parameter, type Query } from '../../lenient.ts';
import { requestedSlot } from '../../views/slot-history.ts';
import { L3_CONTRACT } from '../contracts/books.ts';
import { selectMarket } from '../selection.ts';
import type { OrderbookServices } from '../services.ts';

export function l3Route(app: FastifyInstance, { reader, slotHistory }: OrderbookServices): void {
  app.get<{ Querystring: Query }>('/l3', { config: { contract: L3_CONTRACT } }, async (request, reply) => {
    const market = selectMarket(reader.markets, request.query);
    const slot = parameter(request.query, 'slot');
    if (slot !== undefined) {
      const at = requestedSlot(slot, lenientFlag(parameter(request.query, 'includeIndicative')));
      if (!slotHistory) throw new OrderbookError('slotGone');
      return reply.type('application/json; charset=utf-8').send(await slotHistory.l3(market, at));
    }
    const json = reader.bodies.l3(market, lenientFlag(parameter(request.query, 'includeIndicative')));
    if (json === null) throw new OrderbookError('noL3');
    return reply.type('application/json; charset=utf-8').send(json);
  });
}
