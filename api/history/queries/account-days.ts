// Sums per account: stored sums for clean days, sums over the events for all other times. Both share one definition
// (schemas/history/account-days.ts), so the answer does not depend on which days are clean.

import { cleanDaysSql, DAY_S, FILL_SUMS, LAST_FILL, MONEY_SUMS } from '../../../schemas/index.ts';
import type { HistoryStore } from '../store.ts';

/** Prefix of table names in store queries. */
export const DB = '{db:Identifier}.';

/**
 * Days with valid stored sums, oldest first. Query a pinned store, and before the sums: a day that reopens in between still
 * answers from its stored sums.
 */
export async function cleanDays(store: HistoryStore): Promise<readonly number[]> {
  const rows = await store.cells<string>(cleanDaysSql(DB), {});
  return rows.map(([day]) => Number(day));
}

/** SQL conditions that divide a span between stored sums and events. */
export interface Shares {
  /** Over `day`: days that use their stored sums. */
  readonly stored: string;
  /** Over `ts`: events to sum in the query. */
  readonly open: string;
}

export interface Span {
  /** Exclusive start, Unix seconds. Absent: from the first event. */
  readonly after?: number;
  /** Inclusive end, Unix seconds. */
  readonly until: number;
  /** Times that separate sums. A stored day with events on both sides of a cut is not usable. */
  readonly cuts: readonly number[];
}

/** Uses stored sums for every clean day that lies inside the span and contains no cut, and events for all other times. */
export function sharesOf(clean: readonly number[], { after, until, cuts }: Span): Shares {
  const runs: { first: number; last: number }[] = [];
  const edges = [...new Set(cuts)].sort((a, b) => a - b);
  let edge = 0;
  for (const day of clean) {
    const [from, to] = [day * DAY_S, (day + 1) * DAY_S];
    while ((edges[edge] ?? Number.POSITIVE_INFINITY) <= from) edge += 1;
    if ((edges[edge] ?? Number.POSITIVE_INFINITY) < to || to > until || (after !== undefined && from < after)) continue;
    const run = runs.at(-1);
    if (run?.last === day - 1) run.last = day;
    else runs.push({ first: day, last: day });
  }
  const open: string[] = [];
  let from = after;
  for (const to of [...runs.map(({ first }) => first * DAY_S), until]) {
    const run = runs[open.length];
    const parts = [...(from === undefined ? [] : [`ts > ${from}`]), `ts <= ${to}`];
    open.push(`(${parts.join(' AND ')})`);
    if (run) from = (run.last + 1) * DAY_S;
  }
  const stored = runs.map(({ first, last }) => `(day >= ${first} AND day <= ${last})`);
  return { stored: stored.length > 0 ? `(${stored.join(' OR ')})` : 'false', open: `(${open.join(' OR ')})` };
}

/** The last second of a stored day; it represents the whole day. */
export const END_OF_DAY = `(day + 1) * ${DAY_S}`;

const FILL_COLUMNS = [...FILL_SUMS, ...LAST_FILL].join(', ');
const MONEY_COLUMNS = MONEY_SUMS.join(', ');

/** Stored sums of fills, with the columns of `fillSumsSql`. */
export const storedFills = (period: string, where: string): string =>
  `SELECT user, market_type, market_index, ${period} AS period, ${FILL_COLUMNS} FROM ${DB}account_day_fills FINAL WHERE ${where}`;

/** Stored sums of money, with the columns of `moneySumsSql`. */
export const storedMoney = (period: string, where: string): string =>
  `SELECT user, market_index, ${period} AS period, ${MONEY_COLUMNS} FROM ${DB}account_day_money FINAL WHERE ${where}`;

/** Rows of both kinds; the caller sums them to one row per group. */
export const both = (stored: string, open: string): string => `(${stored} UNION ALL ${open})`;
