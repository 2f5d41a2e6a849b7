// GET /l2: the newest published book of one market, cut to `depth` levels.

import type { FastifyInstance } from 'fastify';
import { OrderbookError } from '../../errors.ts';
import { lenientFlag, lenientInteger, parameter, type Query } from '../../lenient.ts';
import { requestedSlot } from '../../views/slot-history.ts';
import { L2_CONTRACT } from '../contracts/books.ts';
import { MAX_DEPTH } from '../limits.ts';
import { selectMarket } from '../selection.ts';
import type { OrderbookServices } from '../services.ts';

/** Levels asked for: absent or not a number means 100, capped at 100, negative means none. */
export function requestedDepth(value: string | undefined): number {
  const depth = value === undefined ? null : lenientInteger(value);
  return Math.min(Math.max(depth ?? MAX_DEPTH, 0), MAX_DEPTH);
}

/**
 * Gives the body for one market: with indicative quotes only when `includeIndicative` is `true` in any letter case.
 * Renderings are shared by every route of the process.
 */
export function l2Renderer(): (services: OrderbookServices, query: Query) => string {
  return ({ reader }, query) => {
    const market = selectMarket(reader.markets, query);
    const depth = requestedDepth(parameter(query, 'depth'));
    return reader.bodies.l2(market, depth, lenientFlag(parameter(query, 'includeIndicative')));
  };
}

export function l2Route(app: FastifyInstance, services: OrderbookServices): void {
  const render = l2Renderer();
  app.get<{ Querystring: Query }>('/l2', { config: { contract: L2_CONTRACT } }, async ({ query }, reply) => {
    const slot = parameter(query, 'slot');
    const json = slot === undefined ? render(services, query) : await earlier(services, query, slot);
    return reply.type('application/json; charset=utf-8').send(json);
  });
}

/** The book as it was published at a slot. */
async function earlier({ reader, slotHistory }: OrderbookServices, query: Query, slot: string): Promise<string> {
  const market = selectMarket(reader.markets, query);
  const at = requestedSlot(slot, lenientFlag(parameter(query, 'includeIndicative')));
  if (!slotHistory) throw new OrderbookError('slotGone');
  return slotHistory.l2(market, at, requestedDepth(parameter(query, 'depth')));
}
