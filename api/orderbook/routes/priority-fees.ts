// GET /priorityFees and /batchPriorityFees: the newest fee levels of one or several markets (reference 1.7).

import type { FastifyInstance } from 'fastify';
import type { FeeLevels } from '../../../schemas/index.ts';
import { OrderbookError } from '../../errors.ts';
import { parameter, type Query } from '../../lenient.ts';
import { levelsOf } from '../../views/fees.ts';
import { BATCH_PRIORITY_FEES_CONTRACT, PRIORITY_FEES_CONTRACT } from '../contracts/feeds.ts';
import type { OrderbookServices } from '../services.ts';
import { batchQueries } from './batch-l2.ts';

const LISTS = ['marketIndex', 'marketType'] as const;

function feesJson(fees: FeeLevels): Record<string, unknown> {
  return { ...levelsOf(fees), marketType: fees.marketType, marketIndex: fees.marketIndex };
}

export function priorityFeesRoutes(app: FastifyInstance, { feeds, metrics }: OrderbookServices): void {
  // The values are used as they came: no other spelling of a market is known.
  const find = (query: Query, path: string): FeeLevels | null => {
    const fees = feeds?.fees.get(`${parameter(query, 'marketType')}-${parameter(query, 'marketIndex')}`) ?? null;
    metrics?.lookedUp(path, fees !== null);
    return fees;
  };

  app.get<{ Querystring: Query }>(
    '/priorityFees',
    { config: { contract: PRIORITY_FEES_CONTRACT, hasWeakEtag: true } },
    async (request) => {
      const fees = find(request.query, '/priorityFees');
      if (!fees) throw new OrderbookError('notFound');
      return feesJson(fees);
    },
  );

  app.get<{ Querystring: Query }>(
    '/batchPriorityFees',
    { config: { contract: BATCH_PRIORITY_FEES_CONTRACT, hasWeakEtag: true } },
    async (request) => {
      const queries = batchQueries(request.query, LISTS);
      if (queries.length === 0) throw new OrderbookError('notFound');
      return queries.map((query) => {
        const fees = find(query, '/batchPriorityFees');
        return fees ? feesJson(fees) : unknownJson(query);
      });
    },
  );
}

/** A market without fees has nothing but its name; an index that is no number is null. */
function unknownJson(query: Query): Record<string, unknown> {
  const index = parameter(query, 'marketIndex');
  const marketType = parameter(query, 'marketType');
  return { marketType, marketIndex: index === undefined ? undefined : Number(index) };
}
