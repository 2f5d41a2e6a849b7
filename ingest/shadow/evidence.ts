// What a wrong account made of its books: the account as it was held against the account as it was read.

import {
  type BookEvidence,
  differentFields,
  EVIDENCE_MAX,
  marketKey,
  type OrderEvidence,
  orderEvidence,
} from '../../schemas/index.ts';
import { keyText } from '../diff/output.ts';
import type { Differ } from '../differ.ts';
import type { AccountUpdate } from '../source.ts';
import { digested, type FreshBook, Rebuild } from './rebuild.ts';

/**
 * How books differ by one account: `update` is what was read, `held` the bytes that were held of it, null when it was not
 * known. `differ` must know nothing; `around` are the accounts that say how others are read: State, markets, oracles.
 */
export function evidenceOf(
  differ: Differ,
  around: Iterable<AccountUpdate>,
  update: AccountUpdate,
  held: Uint8Array | null,
): BookEvidence[] {
  const rebuild = new Rebuild(differ);
  const own = keyText(update.pubkey);
  for (const other of around) if (keyText(other.pubkey) !== own) rebuild.take(other);
  if (held && held.length > 0) rebuild.take({ ...update, data: held });
  const before = new Map([...rebuild.books].map(([key, book]) => [key, { ...book, orders: new Map(book.orders) }]));
  rebuild.take(update);
  return [...rebuild.books.values()].flatMap((book) => {
    const one = differenceOf(before.get(marketKey(book.ref)), book);
    return one.onlyHere.length + one.onlyThere.length + one.fields.length > 0 ? [one] : [];
  });
}

function differenceOf(here: FreshBook | undefined, there: FreshBook): BookEvidence {
  return {
    market: marketKey(there.ref),
    onlyHere: missingIn(there, here),
    onlyThere: missingIn(here, there),
    fields: [
      ...differentFields(here?.market ?? null, there.market),
      ...differentFields(here?.oracle ?? null, there.oracle),
    ].slice(0, EVIDENCE_MAX),
  };
}

/** Orders of one book that another lacks, or has otherwise. */
function missingIn(other: FreshBook | undefined, book: FreshBook | undefined): OrderEvidence[] {
  const missing: OrderEvidence[] = [];
  for (const [key, one] of book?.orders ?? []) {
    // A differ tells an order anew only when its account changed.
    if (other?.orders.get(key) !== one) missing.push(orderEvidence(digested(one.order, one.source)));
    if (missing.length === EVIDENCE_MAX) break;
  }
  return missing;
}
