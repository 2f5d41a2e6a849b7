// GET /l2: the newest published book of one market, cut to `depth` levels.

import type { FastifyInstance } from 'fastify';
import { lenientInteger, parameter, type Query } from '../../lenient.ts';
import { emptyBookJson, l2Json } from '../../views/bodies.ts';
import type { PublishedBook } from '../../views/published-book.ts';
import { selectMarket } from '../selection.ts';
import type { OrderbookServices } from '../services.ts';

/** Default and cap of `depth` (specification, Limits). */
export const MAX_DEPTH = 100;

/** Levels asked for: absent or not a number means 100, capped at 100, negative means none. */
export function requestedDepth(value: string | undefined): number {
  const depth = value === undefined ? null : lenientInteger(value);
  return Math.min(Math.max(depth ?? MAX_DEPTH, 0), MAX_DEPTH);
}

interface RenderedBook {
  readonly version: number;
  readonly symbol: string;
  readonly byDepth: Map<number, string>;
}

/** Answers are kept until their book changes, so that a crowd of pollers costs one rendering per change and depth. */
export function l2Renderer(): (services: OrderbookServices, query: Query) => string {
  const rendered = new WeakMap<PublishedBook, RenderedBook>();
  return ({ reader }, query) => {
    const market = selectMarket(reader.markets, query);
    const depth = requestedDepth(parameter(query, 'depth'));
    const book = reader.book(market);
    if (!book) return emptyBookJson(market, reader.newestSlot, reader.now());
    let entry = rendered.get(book);
    if (!entry || entry.version !== book.version || entry.symbol !== market.symbol) {
      entry = { version: book.version, symbol: market.symbol, byDepth: new Map() };
      rendered.set(book, entry);
    }
    let json = entry.byDepth.get(depth);
    if (json === undefined) {
      json = l2Json(book, market, book.view.l2(depth));
      entry.byDepth.set(depth, json);
    }
    return json;
  };
}

export function l2Route(app: FastifyInstance, services: OrderbookServices): void {
  const render = l2Renderer();
  app.get<{ Querystring: Query }>('/l2', async (request, reply) =>
    reply.type('application/json; charset=utf-8').send(render(services, request.query)),
  );
}
