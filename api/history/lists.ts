// Pages of rows, newest first, for rolling lists and dated archives.

import { BASE_DECIMALS, type MarketView } from '../../schemas/index.ts';
import { HistoryError } from '../http/errors.ts';
import type { MarketRegistry } from '../views/registry.ts';
import { decodeCursor, encodeCursor, type PageToken, type RowPlace } from './cursor.ts';
import { DOWNLOAD_SETTINGS } from './downloads.ts';
import { pageColumns, type Row, type RowField, selectList, toRow } from './fields.ts';
import {
  afterParameters,
  afterSql,
  hasBlockPlace,
  orderOf,
  type Sequenced,
  withoutUnplacedCopies,
} from './row-order.ts';
import { DAY_S } from './seconds.ts';
import { type HistoryStore, PAGE_SETTINGS, type Parameters } from './store.ts';

/** Decimals of a market's base amounts: 9 for perps, the token's own for spot. */
export function baseDecimals(market: MarketView): number {
  return market.marketType === 'perp' ? BASE_DECIMALS : market.decimals;
}

/** Parameters that select one market's rows. */
export function marketParameters(market: MarketView): Parameters {
  return { marketType: market.marketType, marketIndex: market.marketIndex };
}

/** Parameters of every list query: `symbols`, `baseScales` and `steps` (of base amounts) by `type-index`. */
export function registryParameters(markets: MarketRegistry): Parameters {
  return describingParameters(markets.list());
}

/** The same parameters for some markets. */
export function describingParameters(markets: readonly MarketView[]): Parameters {
  const all = markets.map((market) => [`${market.marketType}-${market.marketIndex}`, market] as const);
  return {
    symbols: Object.fromEntries(all.map(([name, { symbol }]) => [name, symbol])),
    steps: Object.fromEntries(all.map(([name, { stepSize }]) => [name, String(stepSize)])),
    baseScales: Object.fromEntries(all.map(([name, market]) => [name, String(10n ** BigInt(baseDecimals(market)))])),
  };
}

/** A list with pages that continue after a row. */
export interface RowSource extends Sequenced {
  /** SQL after FROM: a table as `{db:Identifier}.name`, or a subquery with the columns of the order. */
  readonly from: string;
  readonly fields: readonly RowField[];
  /** SQL that selects the rows of one scope; its parameters come from the scope. */
  readonly filterSql: string;
  /** Sorting key of the table, for `keysFirst`. */
  readonly keys?: string;
  /** A lookup table, sorted by scope, that names rows of `from`. */
  readonly lookup?: RowLookup;
  /** SQL with the other tables of the fields; `page` gives the query of the page's rows with some columns. Not with a lookup. */
  readonly joined?: (page: (columns: string) => string) => string;
}

export interface RowLookup {
  readonly from: string;
  readonly filterSql: string;
  /** SQL that selects the same rows from `from` itself, for short spans. */
  readonly directSql?: string;
  /** Sorting key of `from`; both tables have its columns. */
  readonly keys: string;
  /** SQL of the counter over this table, where it differs from the source's. */
  readonly sequenceSql?: string;
}

export interface TimeRange {
  /** Unix seconds, inclusive. */
  readonly from: number;
  /** Unix seconds, exclusive; null = no end. */
  readonly to: number | null;
  /** Expected time of the newest rows, Unix seconds. */
  readonly now?: number;
}

/** A source with the parameters of its SQL and a time range. */
export interface ListScope {
  readonly source: RowSource;
  readonly parameters: Parameters;
  readonly range: TimeRange;
}

export interface ListRequest extends ListScope {
  /** Path of the cursor. */
  readonly path: string;
  /** Token from the client; undefined for the first page. */
  readonly page: string | undefined;
  readonly limit: number;
  /** Whether `page` may also be a page number (dated archives). */
  readonly numbered?: boolean;
}

export interface ListPage {
  readonly records: readonly Row[];
  readonly nextPage: string | null;
  /** Number of this page, from 1. */
  readonly page: number;
}

const descending = (parts: readonly string[]): string => parts.map((part) => `${part} DESC`).join(', ');
/** Copies of an event are equal but for an unknown index in the block, and the known one comes first. */
const DISTINCT = 'LIMIT 1 BY signature, event_index';

/** How a page query finds its rows. `npm run bench history` measures what each plan gains. */
export interface PagePlan {
  /** Reads only rows at or after this time, Unix seconds. */
  readonly since?: number;
  /** Reads only rows at or after the time of this newest stored row; each row then has the count of such rows as `probed`. */
  readonly probe?: number;
  /** Finds sorting keys first, then the rows of the keys. */
  readonly keysFirst?: boolean;
  /** Reads the event table with `directSql` instead of the lookup table. */
  readonly skipsLookup?: boolean;
}

interface ListQuery extends PagePlan {
  readonly select: string;
  /** Continues after a row. */
  readonly after?: RowPlace | null;
  /** LIMIT and OFFSET; the query applies it to the table with the fewest columns. */
  readonly window?: string;
}

/**
 * The time of the `{probe}`-th newest stored row. It reads only the column of times. Without such a bound the server reads whole
 * blocks of every part, because it cannot know how many copies it has to skip.
 */
const probeOf = (rows: string): string =>
  `WITH (SELECT (min(ts), count()) FROM (SELECT ts ${rows} ORDER BY ts DESC LIMIT {probe:UInt32})) AS newest`;

/** `SELECT` of a scope's rows, newest first. */
function listQuery(scope: ListScope, query: ListQuery): string {
  const { select, after = null, window = '', since, probe, keysFirst = false } = query;
  const { range } = scope;
  const source = query.skipsLookup ? withoutLookup(scope.source) : scope.source;
  const lookup = source.lookup ?? (keysFirst && source.keys !== undefined ? { ...source, keys: source.keys } : null);
  const upper = range.to === null ? '' : 'AND ts < {to:Int64}';
  const inRange = (of: Sequenced) =>
    `ts >= {from:Int64} ${upper} ${after ? afterSql({ ...source, ...of }, after) : ''}`;
  const rowsOf = (of: Pick<RowSource, 'from' | 'filterSql' | 'sequenceSql'>, filter = filterOf(of.from)) =>
    `FROM ${of.from} ${filter} ${of.filterSql} AND ${inRange(of)}`;
  const [withProbe, probed] =
    probe === undefined ? ['', ''] : [probeOf(rowsOf(lookup ?? source)), ', newest.2 AS probed'];
  const bound = probe !== undefined ? 'AND ts >= newest.1' : since !== undefined ? 'AND ts >= {since:Int64}' : '';
  const bounded = `${bound} ${after ? withoutUnplacedCopies(lookup ?? source, after) : ''}`;
  const fields = `${withProbe} SELECT ${select} ${probed}`;
  const ending = `ORDER BY ${descending(orderOf(source, after))} ${DISTINCT}`;
  if (source.joined) {
    const page = (columns: string) => `SELECT ${columns} ${rowsOf(source)} ${bounded} ${ending} ${window}`;
    return `${fields} FROM (${page('*')}) AS page ${source.joined(page)} ${ending}`;
  }
  if (!lookup) return `${fields} ${rowsOf(source)} ${bounded} ${ending} ${window}`;
  const keysInOrder = `ORDER BY ${descending(orderOf({ ...source, ...lookup }, after))} ${DISTINCT}`;
  return `${fields} ${rowsOf(source, 'WHERE')} ${bound} AND (${lookup.keys}) IN (
    SELECT ${lookup.keys} ${rowsOf(lookup)} ${bounded} ${keysInOrder} ${window}) ${ending}`;
}

/** The source with `directSql` as its filter; unchanged where the lookup has none. */
function withoutLookup(source: RowSource): RowSource {
  const { lookup, ...rest } = source;
  return lookup?.directSql === undefined ? source : { ...rest, filterSql: lookup.directSql };
}

const TABLE = /^\{db:Identifier\}\.\w+$/;
/** PREWHERE, because the older planner reads all columns of a granule before a plain WHERE filters. Only tables support it. */
const filterOf = (from: string): string => (TABLE.test(from) ? 'PREWHERE' : 'WHERE');

function parametersOf({ parameters, range: { from, to } }: ListScope): Parameters {
  return to === null ? { ...parameters, from } : { ...parameters, from, to };
}

const PAGE_NUMBER = /^[1-9]\d{0,5}$/;

/** One page; `nextPage` is null when no rows follow. Throws a validation HistoryError for a bad token. */
export async function listPage(store: HistoryStore, request: ListRequest): Promise<ListPage> {
  const { path, page, limit, numbered } = request;
  const number = numbered && page !== undefined && PAGE_NUMBER.test(page) ? Number(page) : null;
  const token: PageToken | null = page === undefined || number !== null ? null : decodeCursor(path, page);
  const current = number ?? token?.page ?? 1;
  const skipped = number === null ? 0 : (number - 1) * limit;
  const after = token?.lastRow ?? null;
  const { records, more, sequence } = await listSlice(store, { ...request, skipped, after, name: path });
  const last = records.at(-1);
  return {
    records,
    page: current,
    nextPage: more && last ? encodeCursor(path, { lastRow: placeOf(last, sequence, after), page: current + 1 }) : null,
  };
}

export interface SliceRequest extends ListScope {
  readonly limit: number;
  /** Number of rows before the first. */
  readonly skipped: number;
  /** Only rows after this one. */
  readonly after?: RowPlace | null;
  /** Name of the list in `PageSpans`. */
  readonly name?: string;
}

/** Stored rows behind a page: enough where at most half of them are copies. */
const probeRows = (limit: number): number => 2 * (limit + 1) + 64;

/** A span of the whole exchange has 10,000 to 100,000 rows up to this length; reading them costs less than a lookup. */
const DIRECT_SPAN_S = 900;

/** At most `limit` rows of a scope, whether more follow, and the counter of the last row in the list's order. */
export async function listSlice(store: HistoryStore, request: SliceRequest) {
  const { source, limit, parameters } = request;
  const found = await findRows(store, request);
  const rows = found.slice(0, limit);
  const records = rows.map((row) => toRow(source.fields, row, parameters));
  return { records, more: found.length > limit, sequence: String(rows.at(-1)?.sequence ?? 0) };
}

type Found = Readonly<Record<string, unknown>>;

/**
 * The rows of a slice, and one more where more follow. The cheapest plan comes first. An offset reads sorting keys first, and a
 * known span is read alone. A probe of the newest rows bounds other lists. A probe with too many copies may hide rows, so the
 * last plan has no bound.
 */
async function findRows(store: HistoryStore, request: SliceRequest): Promise<readonly Found[]> {
  const { limit, skipped, range, after = null, name } = request;
  if (skipped > 0) return readRows(store, request, { keysFirst: true });
  const end = Number.POSITIVE_INFINITY;
  const top = after?.ts ?? Math.min(range.to ?? end, range.now ?? end);
  const list = top === end ? undefined : name;
  const since = list === undefined ? null : store.pageSpans.start(list, top, limit + 1);
  let found: readonly Found[] = [];
  if (since !== null) found = await readRows(store, request, { since, skipsLookup: top - since <= DIRECT_SPAN_S });
  // A full page has the newest rows, and a span over the whole range has all of them.
  const isComplete = found.length > limit || (since !== null && since <= range.from);
  if (!isComplete) found = await readProbed(store, request);
  const last = found.at(-1);
  if (list === undefined || !last) return found;
  if (found.length > limit) store.pageSpans.learn(list, top, Number(last.ts), found.length);
  // Only a first page forgets: the sparse end of a list does not describe its beginning.
  else if (after === null) store.pageSpans.forget(list);
  return found;
}

async function readProbed(store: HistoryStore, request: SliceRequest): Promise<readonly Found[]> {
  const probe = probeRows(request.limit);
  const found = await readRows(store, request, { probe });
  const mayHideRows = found.length <= request.limit && Number(found[0]?.probed) >= probe;
  return mayHideRows ? readRows(store, request, {}) : found;
}

/** The rows of a slice by one plan, and one more where more follow. */
export async function readRows(store: HistoryStore, request: SliceRequest, plan: PagePlan): Promise<readonly Found[]> {
  const { source, limit, skipped, after = null } = request;
  const { columns, named } = pageColumns(source.fields);
  const window = 'LIMIT {rows:UInt32} OFFSET {skipped:UInt64}';
  const select = [...columns, source.sequenceSql ?? '0'].join(', ');
  const sql = listQuery(request, { select, after, window, ...plan });
  const { since = 0, probe = 0 } = plan;
  const place = after === null ? {} : afterParameters(after);
  const parameters = { ...parametersOf(request), ...place, since, probe, rows: limit + 1, skipped };
  const rows = await store.cells(sql, parameters, PAGE_SETTINGS);
  const counted = columns.length;
  return rows.map((cells) => ({ ...named(cells), sequence: cells[counted], probed: cells[counted + 1] }));
}

/** The place of a row, in the order of the row that its page follows. */
function placeOf(row: Row, sequence: string, after: RowPlace | null): RowPlace {
  return {
    ts: Number(row.ts),
    slot: Number(row.slot),
    ...(hasBlockPlace(after) ? { txIndex: row.txIndex === null ? null : Number(row.txIndex) } : {}),
    sequence,
    txSig: String(row.txSig),
    txSigIndex: Number(row.txSigIndex),
  };
}

/** Number of rows of a scope. */
export async function countRows(store: HistoryStore, scope: ListScope): Promise<number> {
  const { from, filterSql } = scope.source.lookup ?? scope.source;
  const upper = scope.range.to === null ? '' : 'AND ts < {to:Int64}';
  const rows = await store.rows<{ total: string }>(
    `SELECT uniqExact(signature, event_index) AS total FROM ${from} WHERE ${filterSql} AND ts >= {from:Int64} ${upper}`,
    parametersOf(scope),
  );
  return Number(rows[0]?.total ?? 0);
}

/** Every row of a scope as CSV in list order. Rejects before the first byte when the query fails. */
export function csvOf(store: HistoryStore, scope: ListScope, gone: AbortSignal) {
  const query = listQuery(scope, { select: selectList(scope.source.fields) });
  return store.stream(query, 'CSVWithNames', parametersOf(scope), DOWNLOAD_SETTINGS, gone);
}

/** Length of rolling lists, seconds (docs/internals/history-semantics.md, Rolling window). */
export const ROLLING_WINDOW_S = 31 * DAY_S;

/** The range of a rolling list: `startTs` and `endTs` in either order, both inclusive, cut to the window. */
export function rollingRange(now: number, startTs: number | undefined, endTs: number | undefined): TimeRange {
  const oldest = now - ROLLING_WINDOW_S;
  const given = [startTs, endTs].filter((ts) => ts !== undefined);
  if (given.length === 2) {
    return { from: Math.max(oldest, Math.min(...given)), to: Math.max(...given) + 1, now };
  }
  if (startTs !== undefined) return { from: Math.max(oldest, startTs), to: null, now };
  return { from: oldest, to: endTs === undefined ? null : endTs + 1, now };
}

/** The seconds of a UTC day, or of a month without `day`. Throws a validation HistoryError for a day its month lacks. */
export function datedRange(year: number, month: number, day?: number): TimeRange & { readonly to: number } {
  const from = Date.UTC(year, month - 1, day ?? 1);
  if (new Date(from).getUTCMonth() !== month - 1) {
    throw new HistoryError('validation', `no such day: ${year}-${month}-${day}`);
  }
  const to = day === undefined ? Date.UTC(year, month, 1) : Date.UTC(year, month - 1, day + 1);
  return { from: from / 1000, to: to / 1000 };
}
