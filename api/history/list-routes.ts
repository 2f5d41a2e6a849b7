// Registers a list: its rolling path (31 days, JSON) and its dated archive (a day or a month, JSON or CSV).

import type { FastifyInstance, FastifyReply } from 'fastify';
import {
  countRows,
  csvOf,
  datedRange,
  type ListScope,
  listPage,
  type RowSource,
  registryParameters,
  rollingRange,
} from './lists.ts';
import type { ProjectionName } from './projections.ts';
import {
  archiveQuery,
  DAY_PARAMS,
  datedResponse,
  described,
  errorResponses,
  limitSchema,
  MONTH_PARAMS,
  PAGE,
  rollingResponse,
  TS_FILTERS,
} from './route-schemas.ts';
import type { HistoryServices } from './services.ts';
import type { Parameters } from './store.ts';

/** Rows per page of lists that name no limits of their own (history reference 2.4). */
const DEFAULT_LIMIT = { fallback: 20, maximum: 50 };
const ARCHIVE_PAGE_ROWS = 1000;

type Values = Readonly<Record<string, unknown>>;

export interface ScopedRows {
  /** Values that the source's SQL refers to. */
  readonly parameters: Parameters;
  /** The path with its names as the service spells them: cursors and file names belong to it. */
  readonly path: string;
  /** Where the rows depend on the request, the source for it. */
  readonly source?: RowSource;
}

export interface ListFamily {
  /** Route of the rolling list, for example `/market/:symbol/trades`. */
  readonly path: string;
  readonly tag: string;
  /** What the rows are: `Fills of a market`. */
  readonly summary: string;
  /** JSON Schemas of the path's parameters. */
  readonly params: Readonly<Record<string, object>>;
  /** JSON Schemas of query parameters of its own, rolling list only. */
  readonly query?: Readonly<Record<string, object>>;
  readonly source: RowSource;
  /** What must be built; events alone when absent. */
  readonly needs?: readonly ProjectionName[];
  /** Throws a validation HistoryError for names that mean nothing. */
  readonly scope: (services: HistoryServices, params: Values, query: Values) => ScopedRows;
  readonly limit?: { readonly fallback: number; readonly maximum: number };
  /** Asked when a whole list is empty: throws a HistoryError when it is a list of nothing. */
  readonly confirm?: (services: HistoryServices, parameters: Parameters) => Promise<void>;
  /** Further answers of the rolling list, by status. */
  readonly answers?: Readonly<Record<number, object>>;
  /** Length of an archive's slot; none: no archive. */
  readonly archive?: 'day' | 'month';
}

export function listRoutes(app: FastifyInstance, services: HistoryServices, families: readonly ListFamily[]): void {
  for (const family of families) {
    rollingRoute(app, services, family);
    if (family.archive) archiveRoute(app, services, family, family.archive);
  }
}

function rollingRoute(app: FastifyInstance, services: HistoryServices, family: ListFamily): void {
  const { fallback, maximum } = family.limit ?? DEFAULT_LIMIT;
  app.get<{ Params: Values; Querystring: Values }>(
    family.path,
    {
      schema: described({
        summary: `${family.summary}, last 31 days`,
        tags: [family.tag],
        params: pathParams(family.params),
        querystring: {
          type: 'object',
          properties: { page: PAGE, limit: limitSchema(fallback, maximum), ...TS_FILTERS, ...family.query },
        },
        response: { 200: rollingResponse(family.source.fields), ...family.answers, ...errorResponses },
      }),
    },
    async ({ params, query }) => {
      const { page, limit, startTs, endTs } = query as unknown as RollingQuery;
      const { path, ...scope } = await scopeOf(services, family, params, query);
      const range = rollingRange(services.now(), startTs, endTs);
      const { records, nextPage } = await listPage(services.store, { ...scope, range, path, page, limit });
      if (records.length === 0 && page === undefined) await family.confirm?.(services, scope.parameters);
      return { success: true, records, meta: { nextPage } };
    },
  );
}

interface RollingQuery {
  readonly page: string | undefined;
  readonly limit: number;
  readonly startTs: number | undefined;
  readonly endTs: number | undefined;
}

function archiveRoute(
  app: FastifyInstance,
  services: HistoryServices,
  family: ListFamily,
  slot: 'day' | 'month',
): void {
  const dated = slot === 'day' ? DAY_PARAMS : MONTH_PARAMS;
  app.get<{ Params: DatedParams; Querystring: { page?: string; format: 'json' | 'csv' } }>(
    [family.path, ...Object.keys(dated).map((name) => `:${name}`)].join('/'),
    {
      schema: described({
        summary: `${family.summary}, one ${slot} (UTC)`,
        tags: [family.tag],
        params: pathParams({ ...family.params, ...dated }),
        querystring: { type: 'object', properties: archiveQuery },
        response: { 200: datedResponse(family.source.fields), ...errorResponses },
      }),
    },
    async ({ params, query }, reply) => {
      const { year, month, day } = params;
      const range = datedRange(year, month, day);
      const { path: listPath, ...found } = await scopeOf(services, family, params, {});
      const path = [listPath, year, month, ...(day === undefined ? [] : [day])].join('/');
      const scope = { ...found, range };
      if (query.format === 'csv') return sendCsv(services, scope, path, reply);
      return archivePage(services, scope, path, query.page);
    },
  );
}

interface DatedParams extends Values {
  readonly year: number;
  readonly month: number;
  readonly day?: number;
}

async function sendCsv(services: HistoryServices, scope: ListScope, path: string, reply: FastifyReply) {
  const csv = await csvOf(services.store, scope); // a failing query must still be answered with its status
  const name = `${path.slice(1).replaceAll('/', '-')}.csv`;
  return reply.type('text/csv; charset=utf-8').header('content-disposition', `attachment; filename=${name}`).send(csv);
}

async function archivePage(
  { store, now }: HistoryServices,
  scope: ListScope & { readonly range: { readonly to: number } },
  path: string,
  page: string | undefined,
) {
  const [total, list] = await Promise.all([
    countRows(store, scope),
    listPage(store, { ...scope, path, page, limit: ARCHIVE_PAGE_ROWS, numbered: true }),
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
      ...(scope.range.to > now() ? { includesLatest: true } : {}),
    },
  };
}

async function scopeOf(services: HistoryServices, family: ListFamily, params: Values, query: Values) {
  const { parameters, path, source = family.source } = family.scope(services, params, query);
  await services.projections.require(...(family.needs ?? ['events']));
  return { source, path, parameters: { ...registryParameters(services.markets), ...parameters } };
}

function pathParams(properties: Readonly<Record<string, object>>) {
  return { type: 'object', required: Object.keys(properties), properties };
}
