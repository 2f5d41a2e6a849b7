// Differences between our book and the chain, in words for a log line.

import bs58 from 'bs58';
import type { DigestedOrder } from '../chain/order-digest.ts';

/** Most orders, and most fields, that one difference lists. */
export const EVIDENCE_MAX = 20;

/** An order that only one side has, or that differs. Price 1e6, sizes in base 1e9, as decimal text. */
export interface OrderEvidence {
  /** User account, base58. */
  readonly maker: string;
  readonly orderId: number;
  readonly side: 'bid' | 'ask';
  /** Limit price, or `oracle` and the offset. */
  readonly price: string;
  readonly size: string;
}

export interface FieldDifference {
  /** Path of the member. */
  readonly field: string;
  readonly here: string;
  readonly there: string;
}

/** The text form of an order. */
export function orderEvidence({ maker, orderId, isShort, isFloating, term, size }: DigestedOrder): OrderEvidence {
  const price = isFloating ? `oracle ${term < 0 ? '-' : '+'} ${Math.abs(term)}` : String(term);
  return { maker: bs58.encode(maker), orderId, side: isShort ? 'ask' : 'bid', price, size: size.toString() };
}

/** Differences of a market: `here` is our state, `there` the chain's. */
export interface BookEvidence {
  /** Market key. */
  readonly market: string;
  readonly onlyHere: readonly OrderEvidence[];
  readonly onlyThere: readonly OrderEvidence[];
  readonly fields: readonly FieldDifference[];
}

/** Members, nested ones included, in which two states of a market or an oracle differ. Ignores the slot. */
export function differentFields(here: object | null, there: object | null): FieldDifference[] {
  const [left, right] = [flat(here), flat(there)];
  return [...new Set([...left.keys(), ...right.keys()])].flatMap((field) => {
    const [one, other] = [left.get(field) ?? 'nothing', right.get(field) ?? 'nothing'];
    return one === other ? [] : [{ field, here: one, there: other }];
  });
}

function flat(value: object | null, path = '', into = new Map<string, string>()): Map<string, string> {
  for (const [name, member] of Object.entries(value ?? {})) {
    const field = path + name;
    if (field === 'slot' || member === null || member === undefined) continue;
    if (member instanceof Uint8Array) into.set(field, Buffer.from(member).toString('hex'));
    else if (typeof member === 'object') flat(member, `${field}.`, into);
    else into.set(field, String(member));
  }
  return into;
}
