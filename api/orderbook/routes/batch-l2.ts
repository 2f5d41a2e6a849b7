// GET /batchL2 and /batchL2Cache: the newest published books of several markets, in request order (reference 1.4).

import type { FastifyInstance } from 'fastify';
import { OrderbookError } from '../../errors.ts';
import { parameter, type Query } from '../../lenient.ts';
import { PreparedBody } from '../../prepared-body.ts';
import { BATCH_L2_CONTRACT } from '../contracts/books.ts';
import { FAILURE_PREFIX, MAX_KEPT_BATCH_CHARS, MAX_KEPT_BATCHES, MAX_MARKETS } from '../limits.ts';
import { sendBook } from '../send-book.ts';
import type { OrderbookServices } from '../services.ts';
import { l2Body } from './l2.ts';

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

/** Answers to the same batches, for as long as none of their books changes: pollers ask for the same markets each second. */
class BatchBodies {
  readonly #kept = new Map<string, { readonly books: readonly PreparedBody[]; readonly body: PreparedBody }>();

  /** `request` names the batch. */
  of(request: string, books: readonly PreparedBody[]): PreparedBody {
    const known = this.#kept.get(request);
    if (known && isSame(known.books, books)) return known.body;
    const body = new PreparedBody(`{"l2s":[${books.map(({ text }) => text).join(',')}]}`);
    this.#kept.delete(request);
    if (body.text.length <= MAX_KEPT_BATCH_CHARS) this.#kept.set(request, { books, body });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_KEPT_BATCHES && oldest !== undefined) this.#kept.delete(oldest);
    return body;
  }
}

function isSame(known: readonly PreparedBody[], books: readonly PreparedBody[]): boolean {
  return known.length === books.length && books.every((book, at) => book === known[at]);
}

export function batchL2Routes(app: FastifyInstance, services: OrderbookServices): void {
  const bodies = new BatchBodies();
  /** Every market is looked at, so that of several failures the last one is told. */
  const books = (queries: readonly Query[], path: string): readonly PreparedBody[] | OrderbookError => {
    let failure: OrderbookError | null = null;
    const found: PreparedBody[] = [];
    for (const query of queries) {
      try {
        found.push(l2Body(services, asL2Query(query), path));
      } catch (error) {
        if (!(error instanceof OrderbookError)) throw error;
        failure = error;
      }
    }
    return failure ?? found;
  };
  for (const path of ['/batchL2', '/batchL2Cache']) {
    app.get<{ Querystring: Query }>(path, { config: { contract: BATCH_L2_CONTRACT } }, async (request, reply) => {
      const answer = books(batchQueries(request.query), path);
      if (answer instanceof OrderbookError) {
        return reply.code(400).type('text/plain; charset=utf-8').send(`${FAILURE_PREFIX}${answer.message}`);
      }
      return sendBook(request, reply, bodies.of(request.url, answer));
    });
  }
}
