// A published book with indicative quotes on top: the same reads as BookView, computed on demand.

import type { ViewOrder } from '../../../schemas/index.ts';
import type { Side } from '../ladder.ts';
import { type GroupedBook, groupBook, isBetter, type Level } from '../levels.ts';
import { type Quotes, quotesOf } from '../quotes.ts';
import { type BookView, L2_DEPTH } from '../view.ts';
import type { MakerSet } from './board.ts';
import { type FirmBook, type IndicativeOrders, indicativeOrders, walkOrder } from './orders.ts';

/** Adds the sets to a book; null when they have no orders. Valid until the book changes or a set lapses. */
export function indicativeView(book: BookView, sets: readonly MakerSet[]): IndicativeView | null {
  if (sets.length === 0) return null;
  const orders = indicativeOrders(sets, firmBook(book));
  return orders.bids.length + orders.asks.length === 0 ? null : new IndicativeView(book, orders);
}

function firmBook(book: BookView): FirmBook {
  const top = book.l2(1);
  return {
    bestBid: top.bids[0]?.price ?? null,
    bestAsk: top.asks[0]?.price ?? null,
    oracle: book.head?.oracle?.price ?? null,
    mmOracle: book.head?.mmOracle?.price ?? null,
  };
}

export class IndicativeView {
  readonly #book: BookView;
  readonly #orders: IndicativeOrders;

  constructor(book: BookView, orders: IndicativeOrders) {
    this.#book = book;
    this.#orders = orders;
  }

  /** Up to `depth` levels per side, best first. */
  l2(depth = L2_DEPTH): { readonly bids: readonly Level[]; readonly asks: readonly Level[] } {
    return { bids: first(this.#levels('bid'), depth), asks: first(this.#levels('ask'), depth) };
  }

  /** Every resting order and every indicative one, in walk order. */
  l3(): { readonly bids: readonly ViewOrder[]; readonly asks: readonly ViewOrder[] } {
    return { bids: [...this.#walk('bid')], asks: [...this.#walk('ask')] };
  }

  /** Levels in buckets of `group` ticks, cut like the grouped channels. */
  grouped(group: number): GroupedBook {
    return groupBook(this.#levels('bid'), this.#levels('ask'), group * this.#book.tickSize);
  }

  /** Best prices, mark and spreads; null when a side is empty. */
  quotes(): Quotes | null {
    const [bid] = first(this.#levels('bid'), 1);
    const [ask] = first(this.#levels('ask'), 1);
    const oracle = this.#book.head?.mmOracle?.price ?? null;
    return quotesOf(bid ? BigInt(bid.price) : null, ask ? BigInt(ask.price) : null, oracle);
  }

  #levels(side: Side): Generator<Level> {
    return withIndicative(side, this.#book.levels(side), side === 'bid' ? this.#orders.bids : this.#orders.asks);
  }

  *#walk(side: Side): Generator<ViewOrder> {
    const orders = side === 'bid' ? this.#orders.bids : this.#orders.asks;
    const compare = walkOrder(side);
    let at = 0;
    for (const firm of this.#book.walk(side)) {
      for (let own = orders[at]; own && compare(own, firm) < 0; own = orders[at]) {
        yield own;
        at += 1;
      }
      yield firm;
    }
    yield* orders.slice(at);
  }
}

/** Firm levels with sizes of indicative orders; both best first, one level per price. */
export function* withIndicative(
  side: Side,
  firm: Iterable<Level>,
  orders: readonly Pick<ViewOrder, 'price' | 'size'>[],
): Generator<Level> {
  const own = ownLevels(orders);
  let next = own.next();
  for (const level of firm) {
    while (!next.done && isBetter(side, next.value.price, level.price)) {
      yield next.value;
      next = own.next();
    }
    if (!next.done && next.value.price === level.price) {
      yield { ...level, indicative: next.value.indicative ?? 0n };
      next = own.next();
    } else yield level;
  }
  while (!next.done) {
    yield next.value;
    next = own.next();
  }
}

function* ownLevels(orders: readonly Pick<ViewOrder, 'price' | 'size'>[]): Generator<Level> {
  for (let at = 0; at < orders.length; ) {
    const price = orders[at]?.price ?? 0;
    let indicative = 0n;
    for (; orders[at]?.price === price; at++) indicative += orders[at]?.size ?? 0n;
    yield { price, dlob: 0n, vamm: 0n, indicative };
  }
}

function first<T>(values: Iterable<T>, count: number): T[] {
  const taken: T[] = [];
  if (count <= 0) return taken;
  for (const value of values) {
    taken.push(value);
    if (taken.length >= count) break;
  }
  return taken;
}
