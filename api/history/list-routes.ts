// Registers a list: its rolling path (31 days, JSON) and its dated archive (a day or a month, JSON or CSV).

import type { FastifyInstance, FastifyReply } from 'fastify';
import { attachment } from './attachment.ts';
import type { HistoryPart } from './built-parts.ts';
import { CSV_PATIENCE_MS, DOWNLOAD_END, DOWNLOADS_AT_ONCE } from './downloads.ts';
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
import {
  archiveQuery,
  archiveResponses,
  DAY_PARAMS,
  datedResponse,
  described,
  errorResponses,
  FINAL_HEADER,
  limitSchema,
  MONTH_PARAMS,
  PAGE,
  rollingResponse,
  TS_FILTERS,
} from './route-schemas.ts';
import { finalBeforeOf, type HistoryServices } from './services.ts';
import type { Parameters } from './store.ts';

/** Default and largest page (docs/internals/history-semantics.md, "Limits of lists"). */
const DEFAULT_LIMIT = { fallback: 20, maximum: 50 };
const ARCHIVE_PAGE_ROWS = 1000;

const CSV_DOWNLOADS =
  `A CSV is a download. ${DOWNLOADS_AT_ONCE} downloads run at once, bulk candles among them; a CSV waits up to ${CSV_PATIENCE_MS / 1000} ` +
  `seconds for a place before it is 503. ${DOWNLOAD_END}`;

type Values = Readonly<Record<string, unknown>>;

export interface ScopedRows {
  /** Values of the parameters in the source's SQL. */
  readonly parameters: Parameters;
  /** The path with canonical names. Cursors and file names contain it. */
  readonly path: string;
  /** Replaces the family's source where the rows depend on the request. */
  readonly source?: RowSource;
}

export interface ListFamily {
  /** Route of the rolling list, for example `/market/:symbol/trades`. */
  readonly path: string;
  readonly tag: string;
  /** One phrase for the contract: `Fills of a market`. */
  readonly summary: string;
  /** JSON Schemas of the path's parameters. */
  readonly params: Readonly<Record<string, object>>;
  /** JSON Schemas of extra query parameters of the rolling list. */
  readonly query?: Readonly<Record<string, object>>;
  readonly source: RowSource;
  /** Parts that must be built; events only when absent. */
  readonly needs?: readonly HistoryPart[];
  /** Throws a validation HistoryError for unknown names. */
  readonly scope: (services: HistoryServices, params: Values, query: Values) => ScopedRows;
  readonly limit?: { readonly fallback: number; readonly maximum: number };
  /** Runs when a whole list is empty; throws a HistoryError when its subject does not exist. */
  readonly confirmSubject?: (services: HistoryServices, parameters: Parameters) => Promise<void>;
  /** Further answers of the rolling list, by status. */
  readonly answers?: Readonly<Record<number, object>>;
  /** Period of an archive; absent: no archive. */
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
      // Asked before the rows are read: none of them has been taken back since.
      const finalBefore = finalBeforeOf(services, range.to);
      const { records, nextPage } = await listPage(services.store, { ...scope, range, path, page, limit });
      if (records.length === 0 && page === undefined) await family.confirmSubject?.(services, scope.parameters);
      return { success: true, records, meta: { nextPage, finalBefore } };
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
  period: 'day' | 'month',
): void {
  const dated = period === 'day' ? DAY_PARAMS : MONTH_PARAMS;
  app.get<{ Params: DatedParams; Querystring: { page?: string; format: 'json' | 'csv' } }>(
    [family.path, ...Object.keys(dated).map((name) => `:${name}`)].join('/'),
    {
      schema: described({
        summary: `${family.summary}, one ${period} (UTC)`,
        description: CSV_DOWNLOADS,
        tags: [family.tag],
        params: pathParams({ ...family.params, ...dated }),
        querystring: { type: 'object', properties: archiveQuery },
        response: { 200: datedResponse(family.source.fields), ...errorResponses, ...archiveResponses },
      }),
    },
    async ({ params, query, signal }, reply) => {
      const { year, month, day } = params;
      const whole = datedRange(year, month, day);
      const { path: listPath, ...found } = await scopeOf(services, family, params, {});
      const path = [listPath, year, month, ...(day === undefined ? [] : [day])].join('/');
      // Asked before the rows are read, so it can only be older. Newer rows may leave the chain again.
      const finalTs = services.finality()?.ts ?? null;
      const range = { ...whole, to: Math.min(whole.to, finalTs ?? whole.to) };
      const isFinal = finalTs !== null && finalTs >= whole.to;
      const archive = { scope: { ...found, range }, path, isFinal, isOver: whole.to <= services.now() };
      if (query.format === 'csv') return sendCsv(services, archive, reply, signal);
      return archivePage(services, archive, query.page);
    },
  );
}

/** The final rows of a period. */
interface Archive {
  readonly scope: ListScope;
  readonly path: string;
  /** Whether these are all rows of the period, for good. */
  readonly isFinal: boolean;
  readonly isOver: boolean;
}

interface DatedParams extends Values {
  readonly year: number;
  readonly month: number;
  readonly day?: number;
}

async function sendCsv(services: HistoryServices, archive: Archive, reply: FastifyReply, gone: AbortSignal) {
  const { store, downloads } = services;
  const { scope, path, isFinal } = archive;
  // Rejects here, so a failed query gets its status.
  const csv = await downloads.take(() => csvOf(store, scope, gone), CSV_PATIENCE_MS, gone);
  return reply
    .type('text/csv; charset=utf-8')
    .header('content-disposition', attachment(`${path.slice(1).replaceAll('/', '-')}.csv`))
    .header(FINAL_HEADER, String(isFinal))
    .send(csv);
}

async function archivePage({ store }: HistoryServices, archive: Archive, page: string | undefined) {
  const { scope, path, isFinal, isOver } = archive;
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
      isFinal,
      ...(isOver ? {} : { includesLatest: true }),
    },
  };
}

async function scopeOf(services: HistoryServices, family: ListFamily, params: Values, query: Values) {
  const { parameters, path, source = family.source } = family.scope(services, params, query);
  await services.builtParts.require(...(family.needs ?? ['events']));
  return { source, path, parameters: { ...registryParameters(services.markets), ...parameters } };
}

function pathParams(properties: Readonly<Record<string, object>>) {
  return { type: 'object', required: Object.keys(properties), properties };
}
