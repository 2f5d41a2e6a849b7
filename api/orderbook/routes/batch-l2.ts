// GET /batchL2 and /batchL2Cache: the newest published books of several markets, in request order (reference 1.4).

import type { FastifyInstance } from 'fastify';
import { type Given, givenParameters } from '../../contract/inputs.ts';
import { OrderbookError } from '../../errors.ts';
import { PreparedBody } from '../../prepared-body.ts';
import { batchQueries } from '../batch.ts';
import { BATCH_L2_CONTRACT } from '../contracts/books.ts';
import { FAILURE_PREFIX, MAX_KEPT_BATCH_CHARS, MAX_KEPT_BATCHES } from '../limits.ts';
import { BATCH_BOOK, BATCH_L2 } from '../parameters.ts';
import { serve } from '../route.ts';
import { selectMarket } from '../selection.ts';
import { sendBook } from '../send-book.ts';
import type { OrderbookServices } from '../services.ts';
import { l2Body } from './l2.ts';

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
  const books = (given: Given<typeof BATCH_L2>, path: string): readonly PreparedBody[] | OrderbookError => {
    let failure: OrderbookError | null = null;
    const found: PreparedBody[] = [];
    for (const query of batchQueries(BATCH_L2, given)) {
      try {
        const one = givenParameters(BATCH_BOOK, query);
        found.push(l2Body(services, selectMarket(services.reader.markets, one), one, path));
      } catch (error) {
        if (!(error instanceof OrderbookError)) throw error;
        failure = error;
      }
    }
    return failure ?? found;
  };
  for (const path of ['/batchL2', '/batchL2Cache']) {
    serve(app, path, BATCH_L2_CONTRACT, async (given, request, reply) => {
      const answer = books(given, path);
      if (answer instanceof OrderbookError) {
        return reply.code(400).type('text/plain; charset=utf-8').send(`${FAILURE_PREFIX}${answer.message}`);
      }
      return sendBook(request, reply, bodies.of(request.url, answer));
    });
  }
}
