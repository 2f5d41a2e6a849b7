// Pages of rows, newest first: one query shape for rolling lists and dated archives.

import type { MarketView } from '../../schemas/index.ts';
import { HistoryError } from '../errors.ts';
import type { MarketRegistry } from '../views/registry.ts';
import { decodeCursor, encodeCursor, type PageToken, type RowPosition } from './cursor.ts';
import { pageColumns, type Row, type RowField, selectList, toRow } from './fields.ts';
import { type HistoryStore, PAGE_SETTINGS, type Parameters } from './store.ts';

/** Protocol precision of perp base amounts. */
export const PERP_BASE_DECIMALS = 9;

/** Decimals of a market's base amounts: 9 for perps, the token's own for spot. */
export function baseDecimals(market: MarketView): number {
  return market.marketType === 'perp' ? PERP_BASE_DECIMALS : market.decimals;
}

/** Parameters that pick one market's rows. */
export function marketParameters(market: MarketView): Parameters {
  return { marketType: market.marketType, marketIndex: market.marketIndex };
}

/** What every list query may refer to: `symbols`, `baseScales` and `steps` (of base amounts) by `type-index`. */
export function registryParameters(markets: MarketRegistry): Parameters {
  const all = markets.list().map((market) => [`${market.marketType}-${market.marketIndex}`, market] as const);
  return {
    symbols: Object.fromEntries(all.map(([name, { symbol }]) => [name, symbol])),
    steps: Object.fromEntries(all.map(([name, { stepSize }]) => [name, String(stepSize)])),
    baseScales: Object.fromEntries(all.map(([name, market]) => [name, String(10n ** BigInt(baseDecimals(market)))])),
  };
}

/** A list that can be paged by position. */
export interface RowSource {
  /** What stands behind FROM: a table as `{db:Identifier}.name`, or a subquery that keeps the columns of the order. */
  readonly from: string;
  readonly fields: readonly RowField[];
  /** SQL that picks the rows of one scope; its parameters come from the scope. */
  readonly filterSql: string;
  /** SQL of the list's own counter (UInt64, never null) and the member that shows it. Not with a pointer. */
  readonly sequenceSql?: string;
  readonly sequenceField?: string;
  /** Sorting key of the table: pages by offset look for keys first and then for rows. */
  readonly keys?: string;
  /** A companion table in which the rows of a scope lie together and name those of `from`. */
  readonly pointer?: RowPointer;
  /** SQL that joins what else the fields refer to, given the query of the page's rows. Not with a pointer. */
  readonly joined?: (page: string) => string;
}

export interface RowPointer {
  readonly from: string;
  readonly filterSql: string;
  /** SQL that picks the same rows from the source itself: for stretches so short that looking through all of it costs less. */
  readonly directSql?: string;
  /** Sorting key of the table it points into, columns that both tables have. */
  readonly keys: string;
}

export interface TimeRange {
  /** Unix seconds, inclusive. */
  readonly from: number;
  /** Unix seconds, exclusive; null = no end. */
  readonly to: number | null;
  /** Where the newest rows are to be expected, unix seconds. */
  readonly now?: number;
}

/** Which rows: a source with the values its SQL refers to. */
export interface ListScope {
  readonly source: RowSource;
  readonly parameters: Parameters;
  readonly range: TimeRange;
}

export interface ListRequest extends ListScope {
  /** Path the cursor belongs to. */
  readonly path: string;
  /** Token from the client; undefined for the first page. */
  readonly page: string | undefined;
  readonly limit: number;
  /** Whether a plain page number is taken for a token as well (dated archives). */
  readonly numbered?: boolean;
}

export interface ListPage {
  readonly records: readonly Row[];
  readonly nextPage: string | null;
  /** Number of this page, from 1. */
  readonly page: number;
}

const order = ({ sequenceSql }: Pick<RowSource, 'sequenceSql'>): readonly string[] => [
  'ts',
  'slot',
  ...(sequenceSql === undefined ? [] : [sequenceSql]),
  'signature',
  'event_index',
];

const descending = (parts: readonly string[]): string => parts.map((part) => `${part} DESC`).join(', ');
/** Copies of an event are equal, so the first of each is the event. */
const ONCE = 'LIMIT 1 BY signature, event_index';

interface QueryShape {
  /** What is selected. */
  readonly select: string;
  /** Whether the server leaves copies out, which reads and plans more than leaving them out here. */
  readonly once?: boolean;
  /** Continues after a row. */
  readonly position?: RowPosition | null;
  /** What limits the rows; it stands where the fewest are read. */
  readonly window?: string;
  /**
   * How the time that is looked at is bounded: by `{bound}`, or by the `{probe}`-th stored row, and then each row says as
   * `probed` how many of those there were.
   */
  readonly bounded?: 'bound' | 'probe';
  /** Whether keys are looked for first. */
  readonly byKeys?: boolean;
  /** Whether the rows are picked without the pointer. */
  readonly direct?: boolean;
}

/**
 * The time of the `{probe}`-th newest stored row. Only the column of times is read for it; without such a bound the
 * server would read whole blocks of every part, because it cannot know how many copies it will have to leave out.
 */
const probeOf = (rows: string): string =>
  `WITH (SELECT (min(ts), count()) FROM (SELECT ts ${rows} ORDER BY ts DESC LIMIT {probe:UInt32})) AS newest`;

/** `SELECT` of a scope's rows, newest first. */
function listQuery({ source, range, parameters }: ListScope, shape: QueryShape): string {
  const { select, once = false, position = null, window = '', bounded, byKeys = false, direct = false } = shape;
  const directSql = direct ? source.pointer?.directSql : undefined;
  if (directSql !== undefined) {
    const { pointer: _, ...rest } = source;
    return listQuery({ source: { ...rest, filterSql: directSql }, range, parameters }, { ...shape, direct: false });
  }
  const pointer = source.pointer ?? (byKeys && source.keys !== undefined ? { ...source, keys: source.keys } : null);
  const upper = range.to === null ? '' : 'AND ts < {to:Int64}';
  const inRange = `ts >= {from:Int64} ${upper} ${position ? after(source) : ''}`;
  const rowsOf = ({ from, filterSql }: Pick<RowSource, 'from' | 'filterSql'>, filter = filterOf(from)) =>
    `FROM ${from} ${filter} ${filterSql} AND ${inRange}`;
  const [probe, count] = bounded === 'probe' ? [probeOf(rowsOf(pointer ?? source)), ', newest.2 AS probed'] : ['', ''];
  const bound = bounded === undefined ? '' : `AND ts >= ${bounded === 'probe' ? 'newest.1' : '{bound:Int64}'}`;
  const fields = `${probe} SELECT ${select} ${count}`;
  const inOrder = `ORDER BY ${descending(order(source))}`;
  const ordered = `${inOrder} ${ONCE}`;
  const found = once ? ordered : inOrder;
  if (source.joined) {
    const page = `SELECT * ${rowsOf(source)} ${bound} ${ordered} ${window}`;
    return `${fields} FROM (${page}) AS page ${source.joined(page)} ${found}`;
  }
  if (!pointer) return `${fields} ${rowsOf(source)} ${bound} ${found} ${window}`;
  return `${fields} ${rowsOf(source, 'WHERE')} ${bound} AND (${pointer.keys}) IN (
    SELECT ${pointer.keys} ${rowsOf(pointer)} ${bound} ${ordered} ${window}) ${found}`;
}

const TABLE = /^\{db:Identifier\}\.\w+$/;
/** The older planner reads all columns of a granule before it filters unless it is told which to begin with; only of a table it can be. */
const filterOf = (from: string): string => (TABLE.test(from) ? 'PREWHERE' : 'WHERE');

/** The first comparison alone lets the server skip what is newer. */
function after(source: RowSource): string {
  const sequence = source.sequenceSql === undefined ? '' : '{sequence:UInt64},';
  return `AND ts <= {ts:Int64} AND (${order(source).join(', ')}) < ({ts:Int64}, {slot:UInt64}, ${sequence}
    toFixedString(base58Decode({txSig:String}), 64), {txSigIndex:UInt32})`;
}

function parametersOf({ parameters, range: { from, to } }: ListScope): Parameters {
  return to === null ? { ...parameters, from } : { ...parameters, from, to };
}

const PAGE_NUMBER = /^[1-9]\d{0,5}$/;

/** One page; `nextPage` is null when no rows follow. Throws a validation HistoryError for a bad token. */
export async function listPage(store: HistoryStore, request: ListRequest): Promise<ListPage> {
  const { source, path, page, limit, numbered } = request;
  const number = numbered && page !== undefined && PAGE_NUMBER.test(page) ? Number(page) : null;
  const token: PageToken | null = page === undefined || number !== null ? null : decodeCursor(path, page);
  const current = number ?? token?.page ?? 1;
  const skipped = number === null ? 0 : (number - 1) * limit;
  const { records, more } = await listSlice(store, { ...request, skipped, after: token?.position ?? null, name: path });
  const last = records.at(-1);
  return {
    records,
    page: current,
    nextPage: more && last ? encodeCursor(path, { position: positionOf(source, last), page: current + 1 }) : null,
  };
}

export interface SliceRequest extends ListScope {
  readonly limit: number;
  /** Rows left out before the first. */
  readonly skipped: number;
  /** Only rows after this position. */
  readonly after?: RowPosition | null;
  /** Tells lists apart whose rows stand at different distances. */
  readonly name?: string;
}

/** Rows that are looked at for a page: enough where no more than half of them are copies. */
const probeRows = (limit: number): number => 2 * (limit + 1) + 64;

/** Up to this stretch an account's rows are looked for among everybody's: some 10,000 to 100,000 on a busy exchange. */
const DIRECT_STRETCH_S = 900;

/** At most `limit` rows of a scope, and whether more follow. */
export async function listSlice(store: HistoryStore, request: SliceRequest) {
  const { source, limit, parameters } = request;
  const found = await findRows(store, request);
  const records = found.slice(0, limit).map((row) => toRow(source.fields, row, parameters));
  return { records, more: found.length > limit };
}

type Found = Readonly<Record<string, unknown>>;

/** The rows of a slice and one more where more follow, looked for where the fewest others are read. */
async function findRows(store: HistoryStore, request: SliceRequest): Promise<readonly Found[]> {
  const { source, limit, skipped, range, after: position = null, name } = request;
  const { densities } = store;
  const { columns, named } = pageColumns(source.fields);
  const query = (shape: Omit<QueryShape, 'select'>, more: Parameters): Promise<readonly (readonly unknown[])[]> => {
    const window = 'LIMIT {rows:UInt32} OFFSET {skipped:UInt64}';
    const parameters = { ...parametersOf(request), ...position, ...more, rows: limit + 1, skipped };
    const sql = listQuery(request, { select: columns.join(', '), position, window, ...shape });
    return store.cells(sql, parameters, PAGE_SETTINGS);
  };
  const ask = async (shape: Omit<QueryShape, 'select'>, more: Parameters = {}): Promise<readonly Found[]> => {
    const rows = await query(shape, more);
    const probed = rows[0]?.[columns.length];
    const found = withoutCopies(rows.map((cells) => ({ ...named(cells), probed })));
    if (rows.length <= limit || found.length > limit) return found;
    // Copies took the places of others.
    return (await query({ ...shape, once: true }, more)).map((cells) => ({ ...named(cells), probed }));
  };
  if (skipped > 0) return ask({ byKeys: true, once: true });
  const end = Number.POSITIVE_INFINITY;
  const top = position?.ts ?? Math.min(range.to ?? end, range.now ?? end);
  const list = name === undefined || top === end ? null : { name, top };
  const bound = list && densities.stretch(list.name, list.top, limit + 1);
  const direct = bound !== null && top - bound <= DIRECT_STRETCH_S;
  let found = bound === null ? [] : await ask({ bounded: 'bound', direct }, { bound });
  const probe = probeRows(limit);
  // A stretch that holds a whole page holds its newest rows, and one over the whole range all of them.
  const whole = bound !== null && bound <= range.from;
  if (found.length <= limit && !whole) found = await ask({ bounded: 'probe' }, { probe });
  // So many copies that the bound may have hidden rows.
  if (found.length <= limit && Number(found[0]?.probed) >= probe) found = await ask({});
  const last = found.at(-1);
  if (!list || !last) return found;
  if (found.length > limit) densities.learn(list.name, list.top, Number(last.ts), found.length);
  // The end of a list says nothing of its beginning.
  else if (position === null) densities.forget(list.name);
  return found;
}

/** Copies of an event are equal: the first of each. */
function withoutCopies(rows: readonly Found[]): readonly Found[] {
  const seen = new Set<string>();
  return rows.filter(({ txSig, txSigIndex }) => {
    const event = `${txSig} ${txSigIndex}`;
    return !seen.has(event) && seen.add(event);
  });
}

function positionOf({ sequenceField }: RowSource, row: Row): RowPosition {
  return {
    ts: Number(row.ts),
    slot: Number(row.slot),
    sequence: sequenceField === undefined ? '0' : String(row[sequenceField] ?? 0),
    txSig: String(row.txSig),
    txSigIndex: Number(row.txSigIndex),
  };
}

/** Number of rows of a scope. */
export async function countRows(store: HistoryStore, scope: ListScope): Promise<number> {
  const { from, filterSql } = scope.source.pointer ?? scope.source;
  const upper = scope.range.to === null ? '' : 'AND ts < {to:Int64}';
  const rows = await store.rows<{ total: string }>(
    `SELECT uniqExact(signature, event_index) AS total FROM ${from} WHERE ${filterSql} AND ts >= {from:Int64} ${upper}`,
    parametersOf(scope),
  );
  return Number(rows[0]?.total ?? 0);
}

/** Every row of a scope as CSV in the order of the list. The failure of the query itself comes before the first byte. */
export function csvOf(store: HistoryStore, scope: ListScope) {
  return store.csv(listQuery(scope, { select: selectList(scope.source.fields), once: true }), parametersOf(scope));
}

/** How far back rolling lists go, seconds (specification, Limits). */
export const ROLLING_WINDOW_S = 31 * 86_400;

/** `startTs` and `endTs` of a rolling list, in either order, both inclusive; never further back than the window. */
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
