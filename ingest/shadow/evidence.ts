// Describes the effect of a wrong account on its books: the stored account against the account as read.

import {
  type BookEvidence,
  differentFields,
  EVIDENCE_MAX,
  keyText,
  marketKey,
  type OrderEvidence,
  orderEvidence,
} from '../../schemas/index.ts';
import type { Differ } from '../differ.ts';
import type { AccountUpdate } from '../source.ts';
import { digestOrder, type FreshBook, Rebuild } from './rebuild.ts';

/**
 * How books differ because of one account: `update` is the read, `stored` the stored bytes or null. `differ` must be empty;
 * `around` lists the accounts that others depend on: State, markets, oracles.
 */
export function evidenceOf(
  differ: Differ,
  around: Iterable<AccountUpdate>,
  update: AccountUpdate,
  stored: Uint8Array | null,
): BookEvidence[] {
  const rebuild = new Rebuild(differ);
  const own = keyText(update.pubkey);
  for (const other of around) if (keyText(other.pubkey) !== own) rebuild.take(other);
  if (stored && stored.length > 0) rebuild.take({ ...update, data: stored });
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

/** Orders of one book that another lacks or has with other values. */
function missingIn(other: FreshBook | undefined, book: FreshBook | undefined): OrderEvidence[] {
  const missing: OrderEvidence[] = [];
  for (const [key, one] of book?.orders ?? []) {
    // A differ emits an order again only when its account changed.
    if (other?.orders.get(key) !== one) missing.push(orderEvidence(digestOrder(one.order, one.source)));
    if (missing.length === EVIDENCE_MAX) break;
  }
  return missing;
}
