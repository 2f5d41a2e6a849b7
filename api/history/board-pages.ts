// Pages of a ranking that changes between requests. `meta.nextPage` names the last row of a page, so a row whose value does
// not change is on one page only.

import { createHash } from 'node:crypto';
import { HistoryError } from '../http/errors.ts';
import { parseTuple } from './cursor.ts';

const VERSION = 1;
const MAX_PAGE = 1_000_000;

export interface RankedRow {
  /** Base58. */
  readonly authority: string;
  readonly value: bigint;
}

export interface BoardPage<R extends RankedRow> {
  readonly rows: readonly R[];
  /** Rows of the ranking before this page. */
  readonly skipped: number;
  readonly nextPage: string | null;
}

/** Order of a ranking: largest first, equal values by key. */
export function byRank(a: RankedRow, b: RankedRow): number {
  if (a.value !== b.value) return a.value > b.value ? -1 : 1;
  return a.authority < b.authority ? -1 : a.authority > b.authority ? 1 : 0;
}

/**
 * A page of `ranked`, which is in the order of `byRank`. `board` names the ranking. `page` is the `nextPage` of an earlier answer,
 * a page number from 1, or undefined for the first page. Throws a validation HistoryError for anything else.
 */
export function boardPage<R extends RankedRow>(
  ranked: readonly R[],
  { board, page, limit }: { readonly board: string; readonly page: string | undefined; readonly limit: number },
): BoardPage<R> {
  const skipped = startOf(ranked, board, page, limit);
  const rows = ranked.slice(skipped, skipped + limit);
  const last = rows.at(-1);
  const hasMore = last !== undefined && skipped + limit < ranked.length;
  return { rows, skipped, nextPage: hasMore ? encode(board, last) : null };
}

function startOf(ranked: readonly RankedRow[], board: string, page: string | undefined, limit: number): number {
  if (page === undefined) return 0;
  if (/^\d+$/.test(page)) {
    const number = Number(page);
    if (number < 1 || number > MAX_PAGE) throw new HistoryError('validation', `page must be from 1 to ${MAX_PAGE}`);
    return (number - 1) * limit;
  }
  const last = decode(board, page);
  const next = ranked.findIndex((row) => byRank(row, last) > 0);
  return next < 0 ? ranked.length : next;
}

const nameOf = (board: string): string => createHash('sha256').update(board).digest('base64url').slice(0, 8);

function encode(board: string, { value, authority }: RankedRow): string {
  return Buffer.from(JSON.stringify([VERSION, nameOf(board), String(value), authority])).toString('base64url');
}

/** A 256-bit number as decimal text. */
const VALUE_TEXT = /^-?\d{1,78}$/;
const KEY_TEXT = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

function decode(board: string, token: string): RankedRow {
  const [version, name, value, authority] = parseTuple(token);
  const isText = typeof value === 'string' && typeof authority === 'string';
  if (version !== VERSION || !isText || !VALUE_TEXT.test(value) || !KEY_TEXT.test(authority)) {
    throw new HistoryError('validation', 'page is not a token of this service');
  }
  if (name !== nameOf(board)) throw new HistoryError('validation', 'page belongs to another path');
  return { value: BigInt(value), authority };
}
