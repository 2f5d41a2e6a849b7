// Bounds of statement exports (docs/internals/exports.md, "Bounds").

import { DAY_S } from '../seconds.ts';

/** Longest range of one job, seconds (docs/internals/exports.md). */
export const RANGE_MAX_S = 366 * DAY_S;
/** Jobs of a page (docs/internals/exports.md). */
export const PAGE_JOBS = 20;
/** Sub-accounts of one job. A query has a part for each. */
export const ACCOUNTS_MAX = 100;
/** Unfinished jobs of one wallet. The log's order decides which job is one too many. */
export const WAITING_MAX = 10;
/** Unfinished and finished jobs of one wallet, until they expire. They stay in the memory of every process. */
export const JOBS_MAX = 1_000;
/** Jobs of all wallets until they expire: some 100 MB of each process. */
export const ALL_JOBS_MAX = 100_000;
/** Rows of one file. A spreadsheet has room for a million; a year of a market maker has some millions. */
export const ROWS_MAX = 10_000_000;
/** Claims of one job, so that a job that ends its worker cannot do so forever. */
export const CLAIMS_MAX = 10;
