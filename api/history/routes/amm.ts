// /amm/...: series of the AMM state and oracle of a perp market, in even steps.

import type { FastifyInstance } from 'fastify';
import { HISTORY_ERRORS, HistoryError } from '../../http/errors.ts';
import { answerOf, listOf } from '../answer-schemas.ts';
import { type SampleColumns, sampleSeries, stepsOf } from '../queries/amm.ts';
import { described, errorResponses, SYMBOL, TS } from '../route-schemas.ts';
import { DAY_S } from '../seconds.ts';
import { type HistoryServices, marketOf } from '../services.ts';

/** Default and cap of `samples` (docs/internals/history-semantics.md). */
const MAX_SAMPLES = 11_000;

interface Series {
  readonly name: string;
  readonly summary: string;
  readonly point: string;
  readonly columns: SampleColumns;
}

const SERIES: readonly Series[] = [
  {
    name: 'position',
    summary: "Users' net position against the AMM",
    point: '[ts, base 1e9], positive = users are long',
    columns: ['base_asset_amount_with_amm'],
  },
  {
    name: 'bidAskPrice',
    summary: 'What the AMM quotes',
    point: '[ts, bid 1e6, ask 1e6]',
    columns: ['bid_price', 'ask_price'],
  },
  { name: 'oraclePrice', summary: 'Oracle price', point: '[ts, price 1e6]', columns: ['oracle_price'] },
  {
    name: 'spreads',
    summary: 'Spreads of the AMM',
    point: '[ts, long, short], 1e6 = 100 %',
    columns: ['long_spread', 'short_spread'],
  },
  {
    name: 'openInterest',
    summary: 'Open interest, the larger side',
    point: '[ts, base 1e9]',
    columns: ['greatest(open_interest_long, -open_interest_short)'],
  },
];

/** The refusal of a reversed range contains `success` (docs/internals/history-semantics.md, "Limits of lists"). */
const REFUSAL = {
  type: 'object',
  required: ['error', 'message'],
  properties: { success: { type: 'boolean', const: false }, error: { type: 'string' }, message: { type: 'string' } },
  description: 'status 400',
};

interface AmmQuery {
  readonly marketName?: string;
  readonly symbol?: string;
  readonly start?: number;
  readonly end?: number;
  readonly samples: number;
}

export function ammRoutes(app: FastifyInstance, services: HistoryServices): void {
  for (const { name, summary, point, columns } of SERIES) {
    app.get<{ Querystring: AmmQuery }>(
      `/amm/${name}`,
      {
        schema: described({
          summary,
          tags: ['AMM'],
          querystring: {
            type: 'object',
            properties: {
              marketName: { ...SYMBOL, description: 'perp market; required' },
              symbol: { ...SYMBOL, description: 'another name of marketName' },
              start: { ...TS, description: 'unix seconds, inclusive; a day before the end unless given' },
              end: { ...TS, description: 'unix seconds, inclusive; now unless given' },
              samples: {
                type: 'integer',
                minimum: 1,
                maximum: MAX_SAMPLES,
                default: MAX_SAMPLES,
                description: 'most points; steps are at least 20 seconds',
              },
            },
          },
          response: {
            200: answerOf(
              'oldest first, in even steps back from the end; the value is the last one known at the time',
              {
                data: listOf(listOf({ type: ['integer', 'string'] }), `${point}, raw integers as text`),
              },
            ),
            ...errorResponses,
            [HISTORY_ERRORS.validation.status]: REFUSAL,
          },
        }),
      },
      async ({ query }, reply) => {
        const market = marketOf(services, marketName(query), 'perp');
        const { start, end } = rangeOf(query, services.now());
        if (start >= end) {
          const { status, error } = HISTORY_ERRORS.validation;
          return reply.code(status).send({ success: false, error, message: 'start must be before end' });
        }
        await services.builtParts.require('samples');
        const steps = stepsOf(start, end, query.samples);
        return { success: true, data: await sampleSeries(services.store, market.marketIndex, columns, steps) };
      },
    );
  }
}

function marketName({ marketName, symbol }: AmmQuery): string {
  const name = marketName ?? symbol;
  if (name === undefined) throw new HistoryError('validation', "querystring must have required property 'marketName'");
  return name;
}

function rangeOf({ start, end }: AmmQuery, now: number): { readonly start: number; readonly end: number } {
  const last = end ?? now;
  return { start: start ?? Math.max(0, last - DAY_S), end: last };
}
