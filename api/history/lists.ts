// Pages of rows, newest first: one query shape for rolling lists and dated archives.

import type { MarketView } from '../../schemas/index.ts';
import { decodeCursor, encodeCursor, type PageToken, type RowPosition } from './cursor.ts';
import { type Row, selectList, toRow } from './fields.ts';
import type { RowSource } from './rows.ts';
import type { HistoryStore, Parameters } from './store.ts';

/** How far back rolling lists go, seconds (specification, Limits). */
export const ROLLING_WINDOW_S = 31 * 86_400;
const PERP_BASE_DECIMALS = 9;

/** Decimals of a market's base amounts: 9 for perps, the token's own for spot. */
export function baseDecimals(market: MarketView): number {
  return market.marketType === 'perp' ? PERP_BASE_DECIMALS : market.decimals;
}

/** Parameters that `RowSource` SQL refers to. */
export function marketParameters(market: MarketView): Parameters {
  return {
    marketType: market.marketType,
    marketIndex: market.marketIndex,
    symbol: market.symbol,
    baseScale: (10n ** BigInt(baseDecimals(market))).toString(),
  };
}

export interface TimeRange {
  /** Unix seconds, inclusive. */
  readonly from: number;
  /** Unix seconds, exclusive; null = no end. */
  readonly to: number | null;
}

export interface ListRequest {
  readonly source: RowSource;
  readonly market: MarketView;
  readonly range: TimeRange;
  /** Path the cursor belongs to. */
  readonly path: string;
  /** Token from the client; undefined for the first page. */
  readonly page: string | undefined;
  readonly limit: number;
}

export interface ListPage {
  readonly records: readonly Row[];
  readonly nextPage: string | null;
  /** Number of this page, from 1. */
  readonly page: number;
}

const order = ({ sequenceSql }: RowSource): readonly string[] => [
  'ts',
  'slot',
  sequenceSql,
  'signature',
  'event_index',
];

/** `SELECT` of a market's rows in a time range, newest first; `position` continues after a row. */
function listQuery(source: RowSource, range: TimeRange, position: RowPosition | null): string {
  const upper = range.to === null ? '' : 'AND ts < {to:Int64}';
  const after = position
    ? `AND (${order(source).join(', ')}) < ({ts:Int64}, {slot:UInt64}, {sequence:UInt64},
        toFixedString(base58Decode({txSig:String}), 64), {txSigIndex:UInt32})`
    : '';
  return `SELECT ${selectList(source.fields)} FROM {db:Identifier}.${source.table} FINAL
    WHERE ${source.filterSql} AND ts >= {from:Int64} ${upper} ${after}
    ORDER BY ${order(source)
      .map((part) => `${part} DESC`)
      .join(', ')}`;
}

function rangeParameters({ from, to }: TimeRange): Parameters {
  return to === null ? { from } : { from, to };
}

/** One page; `nextPage` is null when no rows follow. Throws a validation HistoryError for a bad token. */
export async function listPage(store: HistoryStore, request: ListRequest): Promise<ListPage> {
  const { source, market, range, path, page, limit } = request;
  const token: PageToken | null = page === undefined ? null : decodeCursor(path, page);
  const number = token?.page ?? 1;
  const found = await store.rows<Record<string, unknown>>(
    `${listQuery(source, range, token?.position ?? null)} LIMIT {rows:UInt32}`,
    { ...marketParameters(market), ...rangeParameters(range), ...token?.position, rows: limit + 1 },
  );
  const records = found.slice(0, limit).map((row) => toRow(source.fields, row));
  const last = records.at(-1);
  const more = found.length > limit && last !== undefined;
  return {
    records,
    page: number,
    nextPage: more ? encodeCursor(path, { position: positionOf(source, last), page: number + 1 }) : null,
  };
}

function positionOf({ sequenceField }: RowSource, row: Row): RowPosition {
  return {
    ts: Number(row.ts),
    slot: Number(row.slot),
    sequence: String(row[sequenceField] ?? 0),
    txSig: String(row.txSig),
    txSigIndex: Number(row.txSigIndex),
  };
}

/** Number of rows of a market in a range. */
export async function countRows(
  store: HistoryStore,
  source: RowSource,
  market: MarketView,
  range: TimeRange,
): Promise<number> {
  const upper = range.to === null ? '' : 'AND ts < {to:Int64}';
  const rows = await store.rows<{ total: string }>(
    `SELECT count() AS total FROM {db:Identifier}.${source.table} FINAL
     WHERE ${source.filterSql} AND ts >= {from:Int64} ${upper}`,
    { ...marketParameters(market), ...rangeParameters(range) },
  );
  return Number(rows[0]?.total ?? 0);
}

/** Every row of a range in the order of the list, block by block. */
export async function* allRows(
  store: HistoryStore,
  source: RowSource,
  market: MarketView,
  range: TimeRange,
): AsyncIterable<readonly Row[]> {
  const parameters = { ...marketParameters(market), ...rangeParameters(range) };
  const blocks = await store.stream<Record<string, unknown>>(listQuery(source, range, null), parameters);
  for await (const block of blocks) yield block.map((row) => toRow(source.fields, row));
}
