// The accounts of an authority.

import { keySql } from '../keys.ts';
import type { HistoryStore } from '../store.ts';

const PLACE = '(ts, slot, ifNull(tx_index, 0), event_index)';

export interface AccountRow {
  readonly accountId: string;
  readonly subAccountId: number;
  readonly name: string;
}

/** Accounts of a wallet that exist: created and not deleted since. Sorted by sub-account id, then key. */
export async function accountsOf(store: HistoryStore, authority: string): Promise<readonly AccountRow[]> {
  const own = `user_authority = ${keySql('authority')}`;
  const rows = await store.rows<AccountRow>(
    `SELECT base58Encode(user) AS accountId, sub AS subAccountId, toValidUTF8(toString(label)) AS name
     FROM (
       SELECT user, max(${PLACE}) AS made, argMax(sub_account_id, ${PLACE}) AS sub, argMax(name, ${PLACE}) AS label
       FROM {db:Identifier}.new_user WHERE ${own} GROUP BY user
     ) AS made_accounts
     LEFT JOIN (
       SELECT user, max(${PLACE}) AS last_deleted FROM {db:Identifier}.delete_user WHERE ${own} GROUP BY user
     ) AS deleted USING user
     WHERE made > last_deleted
     ORDER BY sub, accountId`,
    { authority },
  );
  return rows.map((row) => ({ ...row, name: trimmed(row.name) }));
}

/** Removes the spaces and NULs that pad a name to 32 bytes. */
function trimmed(name: string): string {
  let end = name.length;
  while (end > 0 && (name[end - 1] === ' ' || name[end - 1] === '\0')) end--;
  return name.slice(0, end);
}
