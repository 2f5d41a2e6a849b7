// GET /l3: every visible resting order of one market.

import type { FastifyInstance } from 'fastify';
import { OrderbookError } from '../../errors.ts';
import type { Query } from '../../lenient.ts';
import { l3Json } from '../../views/bodies.ts';
import type { PublishedBook } from '../../views/published-book.ts';
import { selectMarket } from '../selection.ts';
import type { OrderbookServices } from '../services.ts';

/** An answer is kept until its book changes: a large book costs milliseconds to write. */
export function l3Route(app: FastifyInstance, { reader }: OrderbookServices): void {
  const newest = new WeakMap<
    PublishedBook,
    { readonly version: number; readonly symbol: string; readonly json: string }
  >();
  app.get<{ Querystring: Query }>('/l3', async (request, reply) => {
    const market = selectMarket(reader.markets, request.query);
    const book = reader.book(market);
    if (!book) throw new OrderbookError('noL3');
    const { version } = book;
    const { symbol } = market;
    let rendered = newest.get(book);
    if (rendered?.version !== version || rendered.symbol !== symbol) {
      rendered = { version, symbol, json: l3Json(book, market) };
      newest.set(book, rendered);
    }
    return reply.type('application/json; charset=utf-8').send(rendered.json);
  });
}
