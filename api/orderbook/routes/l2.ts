// GET /l2: the newest published book of one market, cut to `depth` levels.

import type { FastifyInstance } from 'fastify';
import type { MarketView } from '../../../schemas/index.ts';
import type { Given } from '../../contract/inputs.ts';
import { OrderbookError } from '../../errors.ts';
import type { PreparedBody } from '../../prepared-body.ts';
import { L2_CONTRACT } from '../contracts/books.ts';
import type { BOOK } from '../parameters.ts';
import { serve } from '../route.ts';
import { selectMarket } from '../selection.ts';
import { JSON_TYPE, sendBook } from '../send-book.ts';
import type { OrderbookServices } from '../services.ts';

/** The body for one market. `path` is the route's. */
export function l2Body(
  { reader, metrics }: OrderbookServices,
  market: MarketView,
  given: Given<typeof BOOK>,
  path: string,
): PreparedBody {
  metrics?.lookedUp(path, reader.book(market) !== null);
  return reader.bodies.l2(market, given('depth'), given('includeIndicative'));
}

export function l2Route(app: FastifyInstance, services: OrderbookServices): void {
  const { reader, slotHistory } = services;
  serve(app, '/l2', L2_CONTRACT, async (given, request, reply) => {
    const market = selectMarket(reader.markets, given);
    const slot = given('slot');
    if (slot === undefined) return sendBook(request, reply, l2Body(services, market, given, '/l2'));
    if (given('includeIndicative')) throw new OrderbookError('slotIndicative');
    if (!slotHistory) throw new OrderbookError('slotGone');
    return reply.type(JSON_TYPE).send(await slotHistory.l2(market, slot, given('depth')));
  });
}
