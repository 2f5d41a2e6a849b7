// An input, not an expected book: random changes of a published book on a narrow price grid, so that levels enter, leave and
// return to every window.

import fc from 'fast-check';
import type {
  BookViewDiff,
  BookViewHead,
  BookViewSnapshot,
  Cause,
  ViewLevel,
  ViewOrder,
} from '../../../schemas/index.ts';

export interface Change {
  readonly side: 'bid' | 'ask';
  readonly tick: number;
  readonly dlob: number;
  readonly vamm: number;
  readonly orderId: number;
  readonly size: number;
  readonly slots: number;
  readonly isGone: boolean;
}

export const change: fc.Arbitrary<Change> = fc.record({
  side: fc.constantFrom('bid' as const, 'ask' as const),
  tick: fc.integer({ min: 0, max: 9 }),
  dlob: fc.integer({ min: 0, max: 3 }),
  vamm: fc.integer({ min: 0, max: 2 }),
  orderId: fc.integer({ min: 1, max: 12 }),
  size: fc.integer({ min: 0, max: 5 }),
  slots: fc.integer({ min: 0, max: 1 }),
  isGone: fc.boolean(),
});

const MID = 100_000;
const MAKERS = [1, 2, 3].map((fill) => new Uint8Array(32).fill(fill));

export class RandomBook {
  readonly #marketIndex: number;
  #epoch = 1;
  #seq = 0;
  #slot = 100;
  #arrivals = 0;
  #levels = { bid: new Map<number, ViewLevel>(), ask: new Map<number, ViewLevel>() };
  #orders = new Map<string, { readonly side: 'bid' | 'ask'; readonly order: ViewOrder }>();

  constructor(marketIndex = 0) {
    this.#marketIndex = marketIndex;
  }

  /** One published change made of the given ones. */
  diff(changes: readonly Change[]): BookViewDiff {
    this.#seq += 1;
    const levels = { bid: new Map<number, ViewLevel>(), ask: new Map<number, ViewLevel>() };
    const orders = { bid: new Map<string, ViewOrder>(), ask: new Map<string, ViewOrder>() };
    const gone = new Map<string, ViewOrder>();
    for (const change of changes) {
      const { side, tick, dlob, vamm, slots } = change;
      this.#slot += slots;
      const price = side === 'bid' ? MID - tick : MID + 1 + tick;
      const level = { price, dlob: BigInt(dlob), vamm: BigInt(vamm) };
      levels[side].set(price, level);
      if (dlob === 0 && vamm === 0) this.#levels[side].delete(price);
      else this.#levels[side].set(price, level);
      this.#order(change, price, orders, gone);
    }
    return {
      ...this.#head(),
      bids: [...levels.bid.values()],
      asks: [...levels.ask.values()],
      bidOrders: [...orders.bid.values()],
      askOrders: [...orders.ask.values()],
      gone: [...gone.values()],
    };
  }

  snapshot(): BookViewSnapshot {
    const sorted = (side: 'bid' | 'ask'): ViewLevel[] =>
      [...this.#levels[side].values()].sort((a, b) => (side === 'bid' ? b.price - a.price : a.price - b.price));
    const orders = (side: 'bid' | 'ask'): ViewOrder[] =>
      [...this.#orders.values()].filter((one) => one.side === side).map(({ order }) => order);
    return {
      ...this.#head(),
      bids: sorted('bid'),
      asks: sorted('ask'),
      bidOrders: orders('bid'),
      askOrders: orders('ask'),
    };
  }

  /** Starts a later epoch with an empty book. */
  nextEpoch(): void {
    this.#epoch += 1;
    this.#seq = 0;
    this.#levels = { bid: new Map(), ask: new Map() };
    this.#orders = new Map();
  }

  #order(
    { side, orderId, size, isGone }: Change,
    price: number,
    orders: Record<'bid' | 'ask', Map<string, ViewOrder>>,
    gone: Map<string, ViewOrder>,
  ): void {
    const maker = MAKERS[orderId % MAKERS.length] ?? new Uint8Array(32);
    const key = `${orderId}`;
    const known = this.#orders.get(key);
    if (isGone || (known && known.side !== side)) {
      if (!known) return;
      this.#orders.delete(key);
      orders[known.side].delete(key);
      gone.set(key, known.order);
      return;
    }
    const source = orderId % 2 === 0 ? ('user' as const) : ('clob' as const);
    this.#arrivals += 1;
    // A change of size keeps the place in the queue, unless the price moves.
    const rank = known && known.order.price === price ? known.order.rank : [orderId % 2, orderId % 5, this.#arrivals];
    const order = { price, size: BigInt(size), maker, orderId, source, rank, cause: this.#cause() };
    this.#orders.set(key, { side, order });
    orders[side].set(key, order);
  }

  /** Every third is unknown; of the others every other one has no known index. */
  #cause(): Cause | null {
    const number = this.#arrivals;
    if (number % 3 === 0) return null;
    const index = number % 2 === 0 ? number : null;
    return { slot: this.#slot, signature: new Uint8Array(64).fill(number % 256), index };
  }

  #head(): BookViewHead {
    return {
      marketType: 'perp',
      marketIndex: this.#marketIndex,
      epoch: this.#epoch,
      seq: this.#seq,
      slot: this.#slot,
      marketSlot: 100,
      oracle: null,
      mmOracle: null,
      isMmOracleActive: false,
    };
  }
}
