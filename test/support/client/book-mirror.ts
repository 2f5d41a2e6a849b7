// A user's own copy of books, made of nothing but the events of a feed.

import type { BookEvent, KeptLevel, KeptOrder, LiveBook, SideName } from '../../../client/index.ts';

const SIDES: readonly SideName[] = ['bids', 'asks'];

interface Copy {
  readonly level: 'l2' | 'l3';
  readonly bids: Map<bigint, KeptLevel>;
  readonly asks: Map<bigint, KeptLevel>;
  readonly orders: Map<string, KeptOrder & { readonly side: SideName }>;
}

const nameOf = ({ source, orderId, maker }: Pick<KeptOrder, 'source' | 'orderId' | 'maker'>): string =>
  `${source}:${orderId}:${maker}`;

export class BookMirror {
  readonly #copies = new Map<string, Copy>();
  readonly #stale = new Set<string>();

  /** Applies an event. Throws when its order is one that users are never given. */
  take(event: BookEvent): void {
    const { stream } = event.book;
    if (event.type === 'snapshot') {
      this.#stale.delete(stream);
      this.#copies.set(stream, copyOf(event.book));
      return;
    }
    const copy = this.#copies.get(stream);
    if (!copy) throw new Error(`${event.type} before the first snapshot`);
    if (event.type === 'stale') this.#stale.add(stream);
    else if (event.type === 'resumed') this.#stale.delete(stream);
    else {
      for (const side of SIDES) for (const level of event[side]) put(copy[side], level);
      for (const gone of event.gone) copy.orders.delete(nameOf(gone));
      for (const order of event.orders) copy.orders.set(nameOf(order), order);
    }
  }

  /** The copy in the form of test/support/feed/dump.ts. */
  dump(stream: string): string {
    const copy = this.#copies.get(stream);
    if (!copy) return 'no book';
    const sides = SIDES.map((side) => {
      const sign = side === 'bids' ? -1 : 1;
      const byPrice = (a: { price: bigint }, b: { price: bigint }): number => sign * Number(a.price - b.price);
      if (copy.level === 'l2') return [...copy[side].values()].sort(byPrice).map(levelLine);
      const orders = [...copy.orders.values()].filter((order) => order.side === side);
      return orders.sort((a, b) => byPrice(a, b) || byRank(a, b)).map(orderLine);
    });
    return JSON.stringify({ bids: sides[0], asks: sides[1] });
  }
}

function copyOf(book: LiveBook): Copy {
  return {
    level: book.level,
    bids: new Map(book.bids.map((level) => [level.price, level])),
    asks: new Map(book.asks.map((level) => [level.price, level])),
    orders: new Map(SIDES.flatMap((side) => book.orders(side).map((order) => [nameOf(order), { ...order, side }]))),
  };
}

function put(levels: Map<bigint, KeptLevel>, level: KeptLevel): void {
  if (level.size === 0n) levels.delete(level.price);
  else levels.set(level.price, level);
}

function byRank(a: KeptOrder, b: KeptOrder): number {
  const at = a.rank.findIndex((number, index) => number !== b.rank[index]);
  return at < 0 ? 0 : (a.rank[at] ?? 0) - (b.rank[at] ?? 0);
}

const levelLine = ({ price, size, sources }: KeptLevel): string =>
  `${price} ${sources.dlob ?? 0n} ${sources.vamm ?? 0n} ${size}`;
const orderLine = ({ price, size, maker, orderId, source }: KeptOrder): string =>
  `${price} ${size} ${maker} ${orderId} ${source}`;

/** A live book in the same form. */
export function dumpLive(book: LiveBook): string {
  const side = (name: SideName): string[] =>
    book.level === 'l2' ? book[name].map(levelLine) : book.orders(name).map(orderLine);
  return JSON.stringify({ bids: side('bids'), asks: side('asks') });
}
