// One side of a kept book, best first: price levels (L2), or orders in queue order (L3).

import type { BookLevelEntry, BookOrderEntry, BookOrderRef, BookSourceName } from '../schemas/index.ts';

export interface KeptLevel {
  /** 1e6. */
  readonly price: bigint;
  /** 1e9, all sources together. */
  readonly size: bigint;
  readonly sources: Readonly<Partial<Record<BookSourceName, bigint>>>;
}

export interface KeptOrder {
  readonly price: bigint;
  readonly size: bigint;
  /** Base58 of the maker's user account. */
  readonly maker: string;
  readonly orderId: number;
  readonly source: 'user' | 'clob';
  readonly rank: readonly number[];
}

export type SideName = 'bids' | 'asks';

/** Items in order, found by binary search. `compare` must tell every two items apart that are not the same. */
class SortedList<T> {
  readonly items: T[] = [];
  readonly #compare: (left: T, right: T) => number;

  constructor(compare: (left: T, right: T) => number) {
    this.#compare = compare;
  }

  set(item: T): void {
    const at = this.#find(item);
    const known = this.items[at];
    const isKnown = known !== undefined && this.#compare(known, item) === 0;
    this.items.splice(at, isKnown ? 1 : 0, item);
  }

  remove(item: T): void {
    const at = this.#find(item);
    const known = this.items[at];
    if (known !== undefined && this.#compare(known, item) === 0) this.items.splice(at, 1);
  }

  /** First position whose item is not before `item`. */
  #find(item: T): number {
    let low = 0;
    let high = this.items.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#compare(this.items[middle] as T, item) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function byPrice(side: SideName): (left: { readonly price: bigint }, right: { readonly price: bigint }) => number {
  const sign = side === 'bids' ? -1 : 1;
  return (left, right) => (left.price === right.price ? 0 : left.price < right.price ? -sign : sign);
}

export class LevelSide {
  readonly #list: SortedList<KeptLevel>;

  constructor(side: SideName) {
    this.#list = new SortedList<KeptLevel>(byPrice(side));
  }

  get items(): readonly KeptLevel[] {
    return this.#list.items;
  }

  set([priceText, sizeText, sourcesText]: BookLevelEntry): void {
    const price = BigInt(priceText);
    const size = BigInt(sizeText);
    if (size === 0n) this.#list.remove({ price, size, sources: {} });
    else this.#list.set({ price, size, sources: sourcesOf(size, sourcesText) });
  }

  /** The first `levels` as the checksum reads them. */
  lines(levels: number): string[] {
    return this.items.slice(0, levels).map(({ price, size, sources }) => {
      const parts = (['dlob', 'vamm'] as const).flatMap((name) =>
        sources[name] === undefined ? [] : [`${name}=${sources[name]}`],
      );
      return `${price} ${size} ${parts.join()}`;
    });
  }
}

function sourcesOf(size: bigint, text: BookLevelEntry[2]): KeptLevel['sources'] {
  if (text === undefined) return { dlob: size };
  if (typeof text === 'string') return { [text]: size };
  return Object.fromEntries(Object.entries(text).map(([name, part]) => [name, BigInt(part)]));
}

export class OrderSide {
  readonly #list: SortedList<KeptOrder>;
  readonly #byId = new Map<string, KeptOrder>();

  constructor(side: SideName) {
    const compare = byPrice(side);
    this.#list = new SortedList<KeptOrder>(
      (left, right) => compare(left, right) || byRank(left.rank, right.rank) || byName(idOf(left), idOf(right)),
    );
  }

  get items(): readonly KeptOrder[] {
    return this.#list.items;
  }

  /** The order must not stand here already. */
  set({ price, size, maker, orderId, source, rank }: BookOrderEntry): void {
    const order = { price: BigInt(price), size: BigInt(size), maker, orderId, source, rank };
    this.#byId.set(idOf(order), order);
    this.#list.set(order);
  }

  remove(reference: BookOrderRef): void {
    const id = idOf(reference);
    const known = this.#byId.get(id);
    if (!known) return;
    this.#byId.delete(id);
    this.#list.remove(known);
  }

  /** Every order of the first `levels` prices, in queue order, as the checksum reads them. */
  lines(levels: number): string[] {
    const lines: string[] = [];
    let prices = 0;
    let price: bigint | null = null;
    for (const order of this.items) {
      if (order.price !== price) prices += 1;
      if (prices > levels) break;
      price = order.price;
      lines.push(`${order.price} ${order.size} ${order.maker} ${order.orderId} ${order.source}`);
    }
    return lines;
  }
}

function idOf({ maker, orderId, source }: BookOrderRef): string {
  return `${source}:${orderId}:${maker}`;
}

function byName(left: string, right: string): number {
  return left === right ? 0 : left < right ? -1 : 1;
}

function byRank(left: readonly number[], right: readonly number[]): number {
  for (let index = 0; index < Math.max(left.length, right.length); index += 1) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
