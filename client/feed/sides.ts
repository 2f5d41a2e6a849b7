// One side of a book, best first: price levels (L2), or orders in queue order (L3).

import type {
  BookCause,
  BookLevelEntry,
  BookOrderEntry,
  BookOrderRef,
  BookSourceName,
} from '../../schemas/portable.ts';

export interface KeptLevel {
  /** 1e6. */
  readonly price: bigint;
  /** 1e9, sum of all sources. */
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
  /** The transaction that last wrote the order, null where unknown; absent without the option `cause`. */
  readonly cause?: BookCause | null;
}

export type SideName = 'bids' | 'asks';

/** A sorted list with binary search. `compare` returns 0 only for equal items. */
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

  get(item: T): T | null {
    const known = this.items[this.#find(item)];
    return known !== undefined && this.#compare(known, item) === 0 ? known : null;
  }

  remove(item: T): void {
    const at = this.#find(item);
    const known = this.items[at];
    if (known !== undefined && this.#compare(known, item) === 0) this.items.splice(at, 1);
  }

  /** First index whose item is not before `item`. */
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

/** Longest decimal text that a double holds exactly. */
const EXACT_DIGITS = 15;

export class LevelSide {
  readonly items: KeptLevel[] = [];
  /** Prices as numbers, so that a search compares no bigints. Negative for bids: ascending is best first. */
  readonly #keys: number[] = [];
  readonly #sign: number;

  constructor(side: SideName) {
    this.#sign = side === 'bids' ? -1 : 1;
  }

  set(entry: BookLevelEntry): void {
    const [priceText, sizeText] = entry;
    if (typeof priceText !== 'string') throw new TypeError('a price is no text');
    const price = BigInt(priceText);
    const key = this.#sign * Number(price);
    const at = priceText.length <= EXACT_DIGITS ? this.#find(key) : this.#findExactly(key, price);
    const isKnown = this.items[at]?.price === price;
    if (sizeText === '0' || BigInt(sizeText) === 0n) {
      if (!isKnown) return;
      this.items.splice(at, 1);
      this.#keys.splice(at, 1);
    } else if (isKnown) this.items[at] = levelOf(entry);
    else {
      this.items.splice(at, 0, levelOf(entry));
      this.#keys.splice(at, 0, key);
    }
  }

  /** The level of a price. */
  at(price: bigint): KeptLevel | null {
    const found = this.items[this.#findExactly(this.#sign * Number(price), price)];
    return found?.price === price ? found : null;
  }

  /** First index whose key is not less than `key`. */
  #find(key: number): number {
    const keys = this.#keys;
    let low = 0;
    let high = keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((keys[middle] as number) < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** As `#find`, for prices that share a number with others beyond 2^53. */
  #findExactly(key: number, price: bigint): number {
    let at = this.#find(key);
    const isBefore = (other: bigint): boolean => (this.#sign < 0 ? other > price : other < price);
    while (this.#keys[at] === key && isBefore((this.items[at] as KeptLevel).price)) at += 1;
    return at;
  }

  /** Checksum lines of the first `levels`. */
  lines(levels: number): string[] {
    return this.items.slice(0, levels).map(({ price, size, sources: { dlob, vamm } }) => {
      const head = `${price} ${size} `;
      if (vamm === undefined) return dlob === undefined ? head : `${head}dlob=${dlob}`;
      return dlob === undefined ? `${head}vamm=${vamm}` : `${head}dlob=${dlob},vamm=${vamm}`;
    });
  }
}

/** An entry of a message as a level. Size 0: the level is gone. */
export function levelOf([priceText, sizeText, sources]: BookLevelEntry): KeptLevel {
  const size = BigInt(sizeText);
  return { price: BigInt(priceText), size, sources: size === 0n ? {} : sourcesOf(size, sources) };
}

function sourcesOf(size: bigint, text: BookLevelEntry[2]): KeptLevel['sources'] {
  if (text === undefined || text === 'dlob') return { dlob: size };
  if (text === 'vamm') return { vamm: size };
  if (typeof text === 'string') return { [text]: size };
  const { dlob, vamm } = text;
  if (dlob !== undefined && vamm !== undefined) return { dlob: BigInt(dlob), vamm: BigInt(vamm) };
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

  /** Inserts an order that the side does not contain. */
  set(entry: BookOrderEntry): void {
    const order = orderOf(entry);
    this.#byId.set(idOf(order), order);
    this.#list.set(order);
  }

  get(reference: BookOrderRef): KeptOrder | null {
    return this.#byId.get(idOf(reference)) ?? null;
  }

  remove(reference: BookOrderRef): void {
    const id = idOf(reference);
    const known = this.#byId.get(id);
    if (!known) return;
    this.#byId.delete(id);
    this.#list.remove(known);
  }

  hasMorePricesThan(count: number): boolean {
    if (this.items.length <= count) return false;
    return new Set(this.items.map(({ price }) => price)).size > count;
  }

  /** Checksum lines of every order at the first `levels` prices, in queue order. */
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

/** An entry of a message as an order. */
export function orderOf({ price, size, maker, orderId, source, rank, cause }: BookOrderEntry): KeptOrder {
  const order = { price: BigInt(price), size: BigInt(size), maker, orderId, source, rank };
  return cause === undefined ? order : { ...order, cause };
}

export function idOf({ maker, orderId, source }: BookOrderRef): string {
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
