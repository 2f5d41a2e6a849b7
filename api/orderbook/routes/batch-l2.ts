// GET /batchL2 and /batchL2Cache: the newest published books of several markets, in request order (reference 1.4).

import type { FastifyInstance } from 'fastify';
import { OrderbookError } from '../../errors.ts';
import { parameter, type Query } from '../../lenient.ts';
import { BATCH_L2_CONTRACT } from '../contracts/books.ts';
import { FAILURE_PREFIX, MAX_MARKETS } from '../limits.ts';
import type { OrderbookServices } from '../services.ts';
import { l2Renderer } from './l2.ts';

/** Lists that take part in the length check; `grouping` and whatever else a client sends do not. */
const LISTS = [
  'marketName',
  'marketIndex',
  'marketType',
  'depth',
  'includeVamm',
  'includePhoenix',
  'includeOpenbook',
  'includeOracle',
  'includeIndicative',
] as const;

/**
 * The query of each market: lists are cut at commas, not trimmed, and read position by position. An absent list is
 * absent everywhere; there is no broadcasting. Throws OrderbookError when lengths differ.
 */
export function batchQueries(query: Query, names: readonly string[] = LISTS): readonly Query[] {
  const lists = new Map<string, readonly string[]>();
  for (const name of names) {
    const text = parameter(query, name);
    if (text !== undefined) lists.set(name, text.split(','));
  }
  const lengths = [...lists.values()].map((list) => list.length);
  const count = Math.max(0, ...lengths);
  if (lengths.some((length) => length !== count)) throw new OrderbookError('batchLengths');
  if (count > MAX_MARKETS) throw new OrderbookError('batchTooLong');
  return Array.from({ length: count }, (_, at) =>
    Object.fromEntries([...lists].map(([name, list]) => [name, list[at] ?? ''])),
  );
}

/** Unlike `/l2`, only the exact text `true` asks for indicative quotes. */
function asL2Query(query: Query): Query {
  return query.includeIndicative === 'true' ? query : { ...query, includeIndicative: undefined };
}

export function batchL2Routes(app: FastifyInstance, services: OrderbookServices): void {
  const render = l2Renderer();
  /** Every market is looked at, so that of several failures the last one is told. */
  const books = (queries: readonly Query[]): readonly string[] | OrderbookError => {
    let failure: OrderbookError | null = null;
    const bodies: string[] = [];
    for (const query of queries) {
      try {
        bodies.push(render(services, asL2Query(query)));
      } catch (error) {
        if (!(error instanceof OrderbookError)) throw error;
        failure = error;
      }
    }
    return failure ?? bodies;
  };
  for (const path of ['/batchL2', '/batchL2Cache']) {
    app.get<{ Querystring: Query }>(path, { config: { contract: BATCH_L2_CONTRACT } }, async (request, reply) => {
      const answer = books(batchQueries(request.query));
      if (answer instanceof OrderbookError) {
        return reply.code(400).type('text/plain; charset=utf-8').send(`${FAILURE_PREFIX}${answer.message}`);
      }
      return reply.type('application/json; charset=utf-8').send(`{"l2s":[${answer.join(',')}]}`);
    });
  }
}
