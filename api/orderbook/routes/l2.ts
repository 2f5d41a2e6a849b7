// GET /l2: the newest published book of one market, cut to `depth` levels.

import type { FastifyInstance } from 'fastify';
import { OrderbookError } from '../../errors.ts';
import { lenientFlag, lenientInteger, parameter, type Query } from '../../lenient.ts';
import type { PreparedBody } from '../../prepared-body.ts';
import { requestedSlot } from '../../views/slot-history.ts';
import { L2_CONTRACT } from '../contracts/books.ts';
import { MAX_DEPTH } from '../limits.ts';
import { selectMarket } from '../selection.ts';
import { JSON_TYPE, sendBook } from '../send-book.ts';
import type { OrderbookServices } from '../services.ts';

/** Levels asked for: absent or not a number means 100, capped at 100, negative means none. */
export function requestedDepth(value: string | undefined): number {
  const depth = value === undefined ? null : lenientInteger(value);
  return Math.min(Math.max(depth ?? MAX_DEPTH, 0), MAX_DEPTH);
}

/**
 * The body for one market: with indicative quotes only when `includeIndicative` is `true` in any letter case. `path` is the
 * route's. Throws OrderbookError.
 */
export function l2Body({ reader, metrics }: OrderbookServices, query: Query, path: string): PreparedBody {
  const market = selectMarket(reader.markets, query);
  const depth = requestedDepth(parameter(query, 'depth'));
  metrics?.lookedUp(path, reader.book(market) !== null);
  return reader.bodies.l2(market, depth, lenientFlag(parameter(query, 'includeIndicative')));
}

export function l2Route(app: FastifyInstance, services: OrderbookServices): void {
  app.get<{ Querystring: Query }>('/l2', { config: { contract: L2_CONTRACT } }, async (request, reply) => {
    const { query } = request;
    const slot = parameter(query, 'slot');
    if (slot === undefined) return sendBook(request, reply, l2Body(services, query, '/l2'));
    return reply.type(JSON_TYPE).send(await earlier(services, query, slot));
  });
}

/** The book as it was published at a slot. */
async function earlier({ reader, slotHistory }: OrderbookServices, query: Query, slot: string): Promise<string> {
  const market = selectMarket(reader.markets, query);
  const at = requestedSlot(slot, lenientFlag(parameter(query, 'includeIndicative')));
  if (!slotHistory) throw new OrderbookError('slotGone');
  return slotHistory.l2(market, at, requestedDepth(parameter(query, 'depth')));
}
