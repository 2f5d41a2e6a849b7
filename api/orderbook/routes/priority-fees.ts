// GET /priorityFees and /batchPriorityFees: the newest fee levels of one or several markets (reference 1.7).

import type { FastifyInstance } from 'fastify';
import type { FeeLevels } from '../../../schemas/index.ts';
import { type Given, givenParameters } from '../../contract/inputs.ts';
import { OrderbookError } from '../../errors.ts';
import { levelsOf } from '../../views/fees.ts';
import { batchQueries } from '../batch.ts';
import { BATCH_PRIORITY_FEES_CONTRACT, PRIORITY_FEES_CONTRACT } from '../contracts/feeds.ts';
import { BATCH_FEE_MARKETS, FEE_MARKET } from '../parameters.ts';
import { serve } from '../route.ts';
import type { OrderbookServices } from '../services.ts';

function feesJson(fees: FeeLevels): Record<string, unknown> {
  return { ...levelsOf(fees), marketType: fees.marketType, marketIndex: fees.marketIndex };
}

export function priorityFeesRoutes(app: FastifyInstance, { feeds, metrics }: OrderbookServices): void {
  const find = (given: Given<typeof FEE_MARKET>, path: string): FeeLevels | null => {
    const fees = feeds?.fees.get(`${given('marketType')}-${given('marketIndex')}`) ?? null;
    metrics?.lookedUp(path, fees !== null);
    return fees;
  };

  serve(
    app,
    '/priorityFees',
    PRIORITY_FEES_CONTRACT,
    async (given) => {
      const fees = find(given, '/priorityFees');
      if (!fees) throw new OrderbookError('notFound');
      return feesJson(fees);
    },
    { hasWeakEtag: true },
  );

  serve(
    app,
    '/batchPriorityFees',
    BATCH_PRIORITY_FEES_CONTRACT,
    async (given) => {
      const queries = batchQueries(BATCH_FEE_MARKETS, given);
      if (queries.length === 0) throw new OrderbookError('notFound');
      return queries.map((query) => {
        const market = givenParameters(FEE_MARKET, query);
        const fees = find(market, '/batchPriorityFees');
        return fees ? feesJson(fees) : unknownJson(market);
      });
    },
    { hasWeakEtag: true },
  );
}

/** A market without fees has nothing but its name; an index that is no number is null. */
function unknownJson(given: Given<typeof FEE_MARKET>): Record<string, unknown> {
  const index = given('marketIndex');
  const marketType = given('marketType');
  return { marketType, marketIndex: index === undefined ? undefined : Number(index) };
}
