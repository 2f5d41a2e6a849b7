// Sums of what accounts did: stored ones of clean days, the rest from the events themselves. Both have the same definition
// (schemas/account-days.ts), so that the answer does not tell which days were clean.

import { cleanDaysSql, DAY_S, FILL_SUMS, LAST_FILL, MONEY_SUMS } from '../../../schemas/index.ts';
import type { HistoryStore } from '../store.ts';

/** What stands before the tables in queries of the store. */
export const DB = '{db:Identifier}.';

/**
 * Days whose sums are stored and true, oldest first. To be asked before the sums, of a pinned store: a day that opens later is
 * answered as it was.
 */
export async function cleanDays(store: HistoryStore): Promise<readonly number[]> {
  const rows = await store.cells<string>(cleanDaysSql(DB), {});
  return rows.map(([day]) => Number(day));
}

/** SQL conditions that share a time out. */
export interface Shares {
  /** Over `day`: days whose stored sums are taken. */
  readonly stored: string;
  /** Over `ts`: events that are summed now. */
  readonly open: string;
}

export interface Span {
  /** Unix seconds: times after it. Everything when absent. */
  readonly after?: number;
  /** Times up to it. */
  readonly until: number;
  /** Times between which sums are told apart: a stored day must not have events on both sides of one. */
  readonly cuts: readonly number[];
}

/** The days of `clean` that lie whole inside the span and between its cuts are taken as stored, all other times as open. */
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

/** The last second of a stored day, which stands for all of it. */
export const END_OF_DAY = `(day + 1) * ${DAY_S}`;

const FILL_COLUMNS = [...FILL_SUMS, ...LAST_FILL].join(', ');
const MONEY_COLUMNS = MONEY_SUMS.join(', ');

/** Stored sums of fills, with columns like those of `fillSumsSql`. */
export const storedFills = (period: string, where: string): string =>
  `SELECT user, market_type, market_index, ${period} AS period, ${FILL_COLUMNS} FROM ${DB}account_day_fills FINAL WHERE ${where}`;

/** Stored sums of money, with columns like those of `moneySumsSql`. */
export const storedMoney = (period: string, where: string): string =>
  `SELECT user, market_index, ${period} AS period, ${MONEY_COLUMNS} FROM ${DB}account_day_money FINAL WHERE ${where}`;

/** Sums of both, which are added up to one row a group by whoever asks. */
export const both = (stored: string, open: string): string => `(${stored} UNION ALL ${open})`;
