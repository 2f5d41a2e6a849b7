// GET /priorityFees and /batchPriorityFees: the newest fee levels of one or several markets.

import type { FastifyInstance } from 'fastify';
import type { FeeLevels } from '../../../schemas/index.ts';
import { answers, json } from '../../http/contract/answers.ts';
import { FEE_LEVELS, FEE_MEMBERS, MARKET_TYPES, marketIndex, marketType } from '../../http/contract/books.ts';
import { type Given, givenParameters } from '../../http/contract/inputs.ts';
import { list, nullable, number, object, text } from '../../http/contract/json-schema.ts';
import type { RouteContract } from '../../http/contract/openapi.ts';
import { OrderbookError } from '../../http/errors.ts';
import { levelsOf } from '../../views/fees.ts';
import { batchQueries, listParameter, MAX_MARKETS, textParameter } from '../parameters.ts';
import { serve } from '../route.ts';
import type { OrderbookServices } from '../services.ts';

const TAGS = ['fees'];

/** Exact spelling only: `perp` and `0`, not `PERP` or `00`. */
const FEE_MARKET = {
  marketType: textParameter({ enum: MARKET_TYPES, description: 'kind of market, exactly' }),
  marketIndex: textParameter({ pattern: '^\\d{1,5}$', description: 'index of the market, exactly' }),
};

const BATCH_FEE_MARKETS = {
  marketType: listParameter('kinds separated by commas, as many as indexes where both are given'),
  marketIndex: listParameter('indexes separated by commas'),
};

export const PRIORITY_FEES_CONTRACT = {
  summary: 'Priority fees of a market',
  description: 'The newest refresh; fees are refreshed every 5 s by default.',
  tags: TAGS,
  parameters: FEE_MARKET,
  answers: answers(json('the six levels', object({ ...FEE_MEMBERS, marketType, marketIndex })), [
    { codes: ['notFound'] },
  ]),
} satisfies RouteContract;

export const BATCH_PRIORITY_FEES_CONTRACT = {
  summary: 'Priority fees of several markets',
  description: `At most ${MAX_MARKETS} markets.`,
  tags: TAGS,
  parameters: BATCH_FEE_MARKETS,
  answers: answers(
    json(
      'in the order of the request',
      list(
        object(
          {
            ...FEE_MEMBERS,
            marketType: text('as requested'),
            marketIndex: nullable(number('as requested; null when it is not a number')),
          },
          {
            optional: [...FEE_LEVELS, 'marketType', 'marketIndex'],
            description: 'without levels when no fees are known',
          },
        ),
      ),
    ),
    [{ codes: ['batchLengths', 'batchTooLong', 'notFound'] }],
  ),
} satisfies RouteContract;

function feesJson(fees: FeeLevels): Record<string, unknown> {
  return { ...levelsOf(fees), marketType: fees.marketType, marketIndex: fees.marketIndex };
}

export function priorityFeesRoutes(app: FastifyInstance, { feeds, metrics }: OrderbookServices): void {
  const find = (given: Given<typeof FEE_MARKET>, path: string): FeeLevels | null => {
    const fees = feeds?.fees.get(`${given('marketType')}-${given('marketIndex')}`) ?? null;
    metrics?.countLookup(path, fees !== null);
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

/** The answer for a market without fees: only its type and index. An index that is not a number becomes NaN, JSON null. */
function unknownJson(given: Given<typeof FEE_MARKET>): Record<string, unknown> {
  const index = given('marketIndex');
  const marketType = given('marketType');
  return { marketType, marketIndex: index === undefined ? undefined : Number(index) };
}
