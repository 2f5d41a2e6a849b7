// Rows of a statement as CSV lines, oldest first, slice by slice. A slice is a span of time with a bounded number of stored
// rows. Neither the store nor this process sorts or holds more rows than one slice.

import type { ClickHouseSettings } from '../../../platform/index.ts';
import { selectList } from '../fields.ts';
import type { RowSource } from '../lists.ts';
import { BLOCK_PLACE } from '../row-order.ts';
import { HOUR_S } from '../seconds.ts';
import type { HistoryStore, Parameters } from '../store.ts';

/** About 20 MB of CSV. A span of one second is never divided. */
export const SLICE_ROWS = 20_000;

/** A slice takes a second; a busy server gets far longer. */
const QUERY_TIMEOUT_S = 300;
const SETTINGS: ClickHouseSettings = {
  max_execution_time: QUERY_TIMEOUT_S,
  // A failed answer is cut off instead of ending with the text of an error.
  http_write_exception_in_output_format: 0,
};

export interface RowScope {
  readonly source: RowSource;
  /** Accounts, base58; a row of several of them appears once for each. Null: the source has no accounts. */
  readonly users: readonly string[] | null;
  readonly parameters: Parameters;
  /** Unix seconds, both inclusive. */
  readonly from: number;
  readonly to: number;
  /** Most stored rows of a slice. */
  readonly sliceRows: number;
}

export interface Slice {
  /** Unix seconds, inclusive. */
  readonly since: number;
  /** Unix seconds, exclusive. */
  readonly until: number;
}

/** The header line. */
export function headerOf({ fields }: RowSource): string {
  return `${fields.map(({ name }) => `"${name}"`).join(',')}\n`;
}

/** The range in slices, oldest first, without spans that have no rows. */
export async function slicesOf(store: HistoryStore, scope: RowScope): Promise<readonly Slice[]> {
  const range = { since: scope.from, until: scope.to + 1 };
  const slices: Slice[] = [];
  for (const hour of await countsBy(store, scope, range, HOUR_S)) {
    if (hour.rows <= scope.sliceRows) join(slices, hour, scope.sliceRows);
    else for (const second of await countsBy(store, scope, hour, 1)) join(slices, second, scope.sliceRows);
  }
  return slices.map(({ since, until }) => ({
    since: Math.max(since, range.since),
    until: Math.min(until, range.until),
  }));
}

interface Count extends Slice {
  readonly rows: number;
}

/** Extends the last slice while it stays small. */
function join(slices: Slice[], next: Count, most: number): void {
  const last = slices.at(-1) as Count | undefined;
  if (last && last.rows + next.rows <= most) {
    slices[slices.length - 1] = { ...next, since: last.since, rows: last.rows + next.rows } as Count;
  } else slices.push(next);
}

/** Stored rows by span of `step` seconds, oldest first. */
async function countsBy(store: HistoryStore, scope: RowScope, range: Slice, step: number): Promise<readonly Count[]> {
  const { lookup, ...source } = scope.source;
  const from = lookup ?? source;
  const parts = branches(scope, () => `SELECT ts FROM ${from.from} WHERE ${from.filterSql} AND ${IN_SLICE}`);
  const rows = await store.rows<{ at: string; rows: string }>(
    `SELECT toString(intDiv(ts, ${step})) AS at, toString(count()) AS rows FROM (${parts}) GROUP BY intDiv(ts, ${step})
     ORDER BY intDiv(ts, ${step})`,
    parametersOf(scope, range),
    SETTINGS,
  );
  return rows.map(({ at, rows: count }) => {
    const since = Number(at) * step;
    return { since, until: since + step, rows: Number(count) };
  });
}

/** CSV lines of a slice, by time, slot, place in the block, the record's own counter, event index and signature. */
export async function linesOf(store: HistoryStore, scope: RowScope, slice: Slice): Promise<readonly Buffer[]> {
  const { source } = scope;
  const parts = branches(
    scope,
    (account, user) => `SELECT *, ${user} AS listed_user, ${account} AS listed_at FROM ${source.from}
      WHERE ${source.filterSql} AND ${IN_SLICE} ${foundBy(source)}
      ORDER BY isNull(tx_index) LIMIT 1 BY signature, event_index`,
  );
  // The cells stand once and outside the parts: once for each of 100 accounts they exceed the server's `max_query_size`.
  const cells = selectList(source.fields).replaceAll(USER, 'listed_user');
  const sequence = source.sequenceSql ?? 'toUInt64(0)';
  const stream = await store.stream(
    `SELECT ${cells} FROM (${parts})
     ORDER BY ts, slot, ${BLOCK_PLACE}, ${sequence}, event_index, signature, listed_at`,
    'CSV',
    parametersOf(scope, slice),
    SETTINGS,
  );
  const chunks: Buffer[] = [];
  for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk);
  return chunks;
}

const IN_SLICE = 'ts >= {since:Int64} AND ts < {until:Int64}';

/** Restricts a source to the rows that its lookup table names. */
function foundBy({ lookup }: RowSource): string {
  if (!lookup) return '';
  const { keys, from, filterSql } = lookup;
  return `AND (${keys}) IN (SELECT ${keys} FROM ${from} WHERE ${filterSql} AND ${IN_SLICE})`;
}

const USER = '{user:String}';

/** One query for each account, or one for all. Sources name the account with one parameter; each part has its own. */
function branches({ users }: RowScope, part: (account: number, user: string) => string): string {
  if (users === null) return part(0, "''");
  return users.map((_, at) => part(at, USER).replaceAll(USER, `{user${at}:String}`)).join(' UNION ALL ');
}

function parametersOf({ users, parameters }: RowScope, { since, until }: Slice): Parameters {
  const accounts = Object.fromEntries((users ?? []).map((user, at) => [`user${at}`, user]));
  return { ...parameters, ...accounts, since, until };
}

const LINE_FEED = 0x0a;

/** Number of lines in complete CSV. No cell has a line break (`isFree` in fields.ts). */
export function lineCount(chunks: readonly Buffer[]): number {
  let lines = 0;
  for (const chunk of chunks) {
    for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, at + 1)) lines += 1;
  }
  return lines;
}
