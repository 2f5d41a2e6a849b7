// A book as lines, by the rules of the protocol's checksum, over all levels.

import type { KeptLevel, KeptOrder, SideName } from '../../../client/index.ts';

/** The part of a keeper, and of a live book, that has a side's entries. */
export interface Entries {
  readonly level: 'l2' | 'l3';
  readonly bids: readonly KeptLevel[];
  readonly asks: readonly KeptLevel[];
  orders(side: SideName): readonly KeptOrder[];
}

export function linesOf(book: Entries, side: SideName): string[] {
  if (book.level === 'l3') return book.orders(side).map(orderLine);
  return book[side].map(levelLine);
}

function orderLine({ price, size, maker, orderId, source }: KeptOrder): string {
  return `${price} ${size} ${maker} ${orderId} ${source}`;
}

function levelLine({ price, size, sources }: KeptLevel): string {
  const parts = (['dlob', 'vamm'] as const).flatMap((name) =>
    sources[name] === undefined ? [] : [`${name}=${sources[name]}`],
  );
  return `${price} ${size} ${parts.join()}`;
}
