// Which accounts an authority has.

import type { HistoryStore } from '../store.ts';

const PLACE = '(ts, slot, ifNull(tx_index, 0), event_index)';

export interface AccountRow {
  readonly accountId: string;
  readonly subAccountId: number;
  readonly name: string;
}

/** Accounts of a wallet that were made and not deleted since, by sub-account id, then key. */
export async function accountsOf(store: HistoryStore, authority: string): Promise<readonly AccountRow[]> {
  const own = 'user_authority = toFixedString(base58Decode({authority:String}), 32)';
  const rows = await store.rows<AccountRow>(
    `SELECT base58Encode(user) AS accountId, sub AS subAccountId, toValidUTF8(toString(label)) AS name
     FROM (
       SELECT user, max(${PLACE}) AS made, argMax(sub_account_id, ${PLACE}) AS sub, argMax(name, ${PLACE}) AS label
       FROM {db:Identifier}.new_user WHERE ${own} GROUP BY user
     ) AS made_accounts
     LEFT JOIN (
       SELECT user, max(${PLACE}) AS gone FROM {db:Identifier}.delete_user WHERE ${own} GROUP BY user
     ) AS deleted USING user
     WHERE made > gone
     ORDER BY sub, accountId`,
    { authority },
  );
  return rows.map((row) => ({ ...row, name: trimmed(row.name) }));
}

/** A 32-byte name without the spaces and NULs it is filled up with. */
function trimmed(name: string): string {
  let end = name.length;
  while (end > 0 && (name[end - 1] === ' ' || name[end - 1] === '\0')) end--;
  return name.slice(0, end);
}
