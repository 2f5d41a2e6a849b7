// Keys of the published levels or orders of a market's book. A level added and removed within one tick was never published, so
// its removal is not published. These keys show which were.

import type { BookView } from '../../../processors/book/index.ts';
import type { BookViewDiff, ViewLevel, ViewOrder } from '../../../schemas/index.ts';
import { isEmptyLevel, orderKey, publishedOrders } from './text.ts';

export class PublishedKeys {
  readonly bids = new Set<number>();
  readonly asks = new Set<number>();
  /** By `orderKey`. */
  readonly orders = new Set<string>();
  readonly #kind: 'l2' | 'l3';

  /** `view`: the current book; null for none. */
  constructor(kind: 'l2' | 'l3', view: BookView | null) {
    this.#kind = kind;
    if (view === null) return;
    if (kind === 'l2') {
      for (const { price } of view.levels('bid')) this.bids.add(price);
      for (const { price } of view.levels('ask')) this.asks.add(price);
    } else for (const side of ['bid', 'ask'] as const) this.#takeOrders(publishedOrders(view, side));
  }

  /** Number of levels or orders. */
  get size(): number {
    return this.bids.size + this.asks.size + this.orders.size;
  }

  /** Applies the next change of the book. */
  apply(diff: BookViewDiff): void {
    if (this.#kind === 'l2') {
      takeLevels(this.bids, diff.bids);
      takeLevels(this.asks, diff.asks);
      return;
    }
    for (const order of diff.gone) this.orders.delete(orderKey(order));
    this.#takeOrders(diff.bidOrders);
    this.#takeOrders(diff.askOrders);
  }

  #takeOrders(orders: Iterable<ViewOrder>): void {
    for (const order of orders) {
      if (order.size > 0n) this.orders.add(orderKey(order));
      else this.orders.delete(orderKey(order));
    }
  }
}

function takeLevels(prices: Set<number>, levels: readonly ViewLevel[]): void {
  for (const level of levels) {
    if (isEmptyLevel(level)) prices.delete(level.price);
    else prices.add(level.price);
  }
}
