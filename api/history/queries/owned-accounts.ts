// Which accounts belong, or belonged, to a wallet.

import { inKeysSql, keyList, keySql } from '../keys.ts';
import type { HistoryStore } from '../store.ts';

/** Tables with account and owner. The first row of an account may be older than the stored history. */
const TABLES = ['new_user', 'deposit', 'funding_payment'] as const;

/** The given accounts that a stored record names as an account of the wallet, also deleted ones. Keys are base58. */
export async function ownedAccounts(
  store: HistoryStore,
  authority: string,
  users: readonly string[],
): Promise<ReadonlySet<string>> {
  const queries = TABLES.map(
    (table) => `SELECT DISTINCT user FROM {db:Identifier}.${table}
      WHERE user_authority = ${keySql('authority')} AND ${inKeysSql('user', 'users')}`,
  );
  const rows = await store.rows<{ user: string }>(
    `SELECT DISTINCT base58Encode(user) AS user FROM (${queries.join(' UNION ALL ')})`,
    { authority, users: keyList(users) },
  );
  return new Set(rows.map(({ user }) => user));
}
