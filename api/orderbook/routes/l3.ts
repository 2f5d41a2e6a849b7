// GET /l3: every visible resting order of one market, on request with the indicative ones.

import type { FastifyInstance } from 'fastify';
import { OrderbookError } from '../../errors.ts';
import { L3_CONTRACT } from '../contracts/books.ts';
import { serve } from '../route.ts';
import { selectMarket } from '../selection.ts';
import { JSON_TYPE, sendBook } from '../send-book.ts';
import type { OrderbookServices } from '../services.ts';

export function l3Route(app: FastifyInstance, { reader, slotHistory, metrics }: OrderbookServices): void {
  serve(app, '/l3', L3_CONTRACT, async (given, request, reply) => {
    const market = selectMarket(reader.markets, given);
    const slot = given('slot');
    const isIndicative = given('includeIndicative');
    if (slot !== undefined) {
      if (isIndicative) throw new OrderbookError('slotIndicative');
      if (!slotHistory) throw new OrderbookError('slotGone');
      return reply.type(JSON_TYPE).send(await slotHistory.l3(market, slot));
    }
    const body = reader.bodies.l3(market, isIndicative);
    metrics?.lookedUp('/l3', body !== null);
    if (body === null) throw new OrderbookError('noL3');
    return sendBook(request, reply, body);
  });
}
