// /stats/liquidations and /stats/bankruptcies: rows and totals of the whole exchange.

import type { FastifyInstance } from 'fastify';
import { answerOf, objectOf, QUOTE, type Schema, WHOLE } from '../answer-schemas.ts';
import { listPage, type RowSource, registryParameters, rollingRange } from '../lists.ts';
import { FRESH_S, MinuteCache } from '../minute-cache.ts';
import { BANKRUPTCIES, type BankruptcyTotals, bankruptcyTotals, liquidationStats } from '../queries/losses.ts';
import { described, errorResponses, limitSchema, PAGE, rollingResponse, TS_FILTERS } from '../route-schemas.ts';
import { LIQUIDATION_FIELDS } from '../rows/liquidations.ts';
import { finalBeforeOf, type HistoryServices } from '../services.ts';
import type { Parameters } from '../store.ts';

const FALLBACK_ROWS = 20;
const MAX_ROWS = 50;

const losses = (filterSql: string): RowSource => ({
  from: '{db:Identifier}.liquidation_by_time',
  fields: LIQUIDATION_FIELDS,
  filterSql,
});

interface LossQuery {
  readonly page: string | undefined;
  readonly limit: number;
  readonly startTs: number | undefined;
  readonly endTs: number | undefined;
}

interface LossList {
  readonly path: string;
  readonly summary: string;
  readonly source: RowSource;
  readonly stats: Schema;
  readonly load: (services: HistoryServices) => Promise<object>;
}

const PERIOD = objectOf({ count: WHOLE, amount: QUOTE });

const LISTS: readonly LossList[] = [
  {
    path: '/stats/liquidations',
    summary: 'Liquidations, last 31 days, without bankruptcies; stats has their count and amounts',
    source: losses(`NOT ${BANKRUPTCIES}`),
    stats: objectOf({ '24h': PERIOD, '30d': PERIOD }),
    load: ({ store, markets, now }) => liquidationStats(store, now(), registryParameters(markets)),
  },
  {
    path: '/stats/bankruptcies',
    summary: 'Bankruptcies, last 31 days; stats are over all that are stored',
    source: losses(BANKRUPTCIES),
    stats: objectOf({ totalAmount: QUOTE, ifPayment: QUOTE, socialLoss: QUOTE, totalCount: WHOLE }),
    load: async (services) => totalsBody(await bankruptcyTotals(services.store, valueParameters(services))),
  },
];

/** Newest oracle prices by spot index, for markets without samples. */
function valueParameters({ markets }: HistoryServices): Parameters {
  const spots = markets.list().filter(({ marketType }) => marketType === 'spot');
  const prices = Object.fromEntries(
    spots.map(({ marketIndex, oraclePrice }) => [marketIndex, String(oraclePrice ?? 0n)]),
  );
  return { ...registryParameters(markets), prices };
}

function totalsBody({ totalAmount, ifPayment, socialLoss, totalCount }: BankruptcyTotals) {
  return {
    totalAmount: String(totalAmount),
    ifPayment: String(ifPayment),
    socialLoss: String(socialLoss),
    totalCount,
  };
}

export function lossRoutes(app: FastifyInstance, services: HistoryServices): void {
  for (const { path, summary, source, stats, load } of LISTS) {
    const cache = new MinuteCache<object>(services.now, FRESH_S);
    const { properties } = rollingResponse(source.fields);
    app.get<{ Querystring: LossQuery }>(
      path,
      {
        schema: described({
          summary,
          tags: ['Stats'],
          querystring: {
            type: 'object',
            properties: { page: PAGE, limit: limitSchema(FALLBACK_ROWS, MAX_ROWS), ...TS_FILTERS },
          },
          response: {
            200: answerOf('rows, newest first', { stats, records: properties.records, meta: properties.meta }),
            ...errorResponses,
          },
        }),
      },
      async ({ query: { page, limit, startTs, endTs } }) => {
        await services.builtParts.require('events');
        const range = rollingRange(services.now(), startTs, endTs);
        const finalBefore = finalBeforeOf(services, range.to);
        const parameters = registryParameters(services.markets);
        const [list, totals] = await Promise.all([
          listPage(services.store, { source, parameters, range, path, page, limit }),
          cache.get('', () => load(services)),
        ]);
        const { records, nextPage } = list;
        return { success: true, stats: totals, records, meta: { nextPage, finalBefore } };
      },
    );
  }
}
