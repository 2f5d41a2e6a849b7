// GET /market/{symbol}/trades: fills of the last 31 days; and the archive of one day, as JSON or CSV.

import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { HistoryError } from '../../errors.ts';
import { csvHeader, csvLine } from '../csv.ts';
import { allRows, countRows, listPage, ROLLING_WINDOW_S, type TimeRange } from '../lists.ts';
import {
  datedResponse,
  described,
  errorResponses,
  limitSchema,
  PAGE,
  rollingResponse,
  SYMBOL,
  symbolParams,
} from '../route-schemas.ts';
import { TRADES } from '../rows.ts';
import { type HistoryServices, marketOf } from '../services.ts';

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 50;
const ARCHIVE_PAGE_ROWS = 1000;
/** First year of the archive (specification, Limits). */
const FIRST_YEAR = 2022;
const LAST_YEAR = 2200;
const DAY_S = 86_400;

interface SymbolParams {
  readonly symbol: string;
}
interface PageQuery {
  readonly page?: string;
  readonly limit: number;
}
interface DayParams extends SymbolParams {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}
interface ArchiveQuery {
  readonly page?: string;
  readonly format: 'json' | 'csv';
}

export function tradeRoutes(app: FastifyInstance, services: HistoryServices): void {
  const { store, now } = services;
  app.get<{ Params: SymbolParams; Querystring: PageQuery }>(
    '/market/:symbol/trades',
    {
      schema: described({
        summary: 'Fills of a market, last 31 days',
        tags: ['Market'],
        params: symbolParams,
        querystring: { type: 'object', properties: { page: PAGE, limit: limitSchema(DEFAULT_LIMIT, MAX_LIMIT) } },
        response: { 200: rollingResponse(TRADES.fields), ...errorResponses },
      }),
    },
    async ({ params, query }) => {
      const market = marketOf(services, params.symbol);
      const path = `/market/${market.symbol}/trades`;
      const range = { from: now() - ROLLING_WINDOW_S, to: null };
      const { page, limit } = query;
      const { records, nextPage } = await listPage(store, { source: TRADES, market, range, path, page, limit });
      return { success: true, records, meta: { nextPage } };
    },
  );

  app.get<{ Params: DayParams; Querystring: ArchiveQuery }>(
    '/market/:symbol/trades/:year/:month/:day',
    {
      schema: described({
        summary: 'Fills of a market on one day, UTC',
        tags: ['Market'],
        params: {
          type: 'object',
          required: ['symbol', 'year', 'month', 'day'],
          properties: {
            symbol: SYMBOL,
            year: { type: 'integer', minimum: FIRST_YEAR, maximum: LAST_YEAR },
            month: { type: 'integer', minimum: 1, maximum: 12 },
            day: { type: 'integer', minimum: 1, maximum: 31 },
          },
        },
        querystring: {
          type: 'object',
          properties: { page: PAGE, format: { type: 'string', enum: ['json', 'csv'], default: 'json' } },
        },
        response: { 200: datedResponse(TRADES.fields), ...errorResponses },
      }),
    },
    async ({ params, query }, reply) => {
      const market = marketOf(services, params.symbol);
      const { year, month, day } = params;
      const range = dayRange(year, month, day);
      if (query.format === 'csv') {
        const name = `market-${market.symbol}-trades-${year}-${month}-${day}.csv`;
        const blocks = allRows(store, TRADES, market, range)[Symbol.asyncIterator]();
        const first = await blocks.next(); // a failing query must still be answered with its status
        reply.type('text/csv; charset=utf-8').header('content-disposition', `attachment; filename=${name}`);
        return reply.send(Readable.from(csvText(first, blocks)));
      }
      const path = `/market/${market.symbol}/trades/${year}/${month}/${day}`;
      const [total, list] = await Promise.all([
        countRows(store, TRADES, market, range),
        listPage(store, { source: TRADES, market, range, path, page: query.page, limit: ARCHIVE_PAGE_ROWS }),
      ]);
      return {
        success: true,
        records: list.records,
        meta: {
          records: list.records.length,
          totalRecords: total,
          totalPages: Math.ceil(total / ARCHIVE_PAGE_ROWS),
          currentPage: list.page,
          nextPage: list.nextPage,
          ...(range.to > now() ? { includesLatest: true } : {}),
        },
      };
    },
  );
}

/** The seconds of a UTC day. Throws a validation HistoryError for a day that its month does not have. */
function dayRange(year: number, month: number, day: number): TimeRange & { readonly to: number } {
  const date = new Date(Date.UTC(year, month - 1, day));
  if (date.getUTCMonth() !== month - 1) throw new HistoryError('validation', `no such day: ${year}-${month}-${day}`);
  const from = date.getTime() / 1000;
  return { from, to: from + DAY_S };
}

type Blocks = ReturnType<typeof allRows>;
type Block = IteratorResult<Blocks extends AsyncIterable<infer T> ? T : never, unknown>;

async function* csvText(first: Block, rest: AsyncIterator<Block['value']>): AsyncIterable<string> {
  yield csvHeader(TRADES.fields);
  for (let block = first; !block.done; block = (await rest.next()) as Block) {
    yield block.value.map((row: Parameters<typeof csvLine>[1]) => csvLine(TRADES.fields, row)).join('');
  }
}
