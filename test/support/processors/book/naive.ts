// The expected book of the engine: rebuilt from nothing after every log message, which no account can show. Takes vAMM quotes
// from the product; test/e2e/harness/naive/book.ts derives the whole book from accounts, without product code.

import type { BookMessage } from '../../../../processors/book/engine.ts';
import { liveQuote, quotingOracle } from '../../../../processors/book/live-quote.ts';
import { vammBook, vammQuotes } from '../../../../processors/book/vamm.ts';
import {
  type BookMarket,
  type BookOracle,
  keyText,
  type OrderState,
  type ViewLevel,
  type ViewOrder,
} from '../../../../schemas/index.ts';

const MAX_NUMBER = 2n ** 53n - 1n;
const MAX_SIZE = 2n ** 64n - 1n;

interface Kept {
  readonly order: OrderState;
  readonly source: 'user' | 'clob';
  readonly arrival: number;
  seen: boolean;
}

interface RestingOrder {
  readonly kept: Kept;
  readonly price: bigint;
  readonly rank: readonly bigint[];
}

export interface NaiveBook {
  readonly bids: ViewLevel[];
  readonly asks: ViewLevel[];
  readonly bidOrders: ViewOrder[];
  readonly askOrders: ViewOrder[];
}

export class NaiveBookModel {
  #orders = new Map<string, Kept>();
  #market: BookMarket | null = null;
  #oracle: BookOracle | null = null;
  #slot = 0;
  #isFirst = true;
  #bracket = -1;
  #arrivals = 0;

  apply({ name, value }: BookMessage): void {
    const isFirst = this.#isFirst;
    if (name !== 'BookSnapshotEnd') this.#isFirst = false;
    const isHeld = this.#bracket >= 0 && !isFirst && name !== 'BookSlot' && name !== 'BookRepair';
    if (!('snapshotSlot' in value) && !isHeld) this.#slot = Math.max(this.#slot, value.slot);
    if (name === 'BookSnapshotBegin' && isFirst) this.#slot = value.snapshotSlot;
    if (name === 'BookMarket') this.#market = value;
    if (name === 'BookOracle') this.#oracle = value;
    if (name === 'BookSnapshotBegin') {
      this.#bracket = value.snapshotSlot;
      for (const kept of this.#orders.values()) kept.seen = false;
    }
    if (name === 'BookSnapshotEnd' && value.snapshotSlot === this.#bracket) {
      this.#bracket = -1;
      this.#slot = Math.max(this.#slot, value.snapshotSlot);
      for (const [key, kept] of this.#orders) if (!kept.seen) this.#orders.delete(key);
    }
    if (name !== 'BookOrders') return;
    for (const removal of value.removals) this.#orders.delete(this.#key(value.source, removal));
    for (const order of value.upserts) {
      const key = this.#key(value.source, order);
      const arrival = this.#orders.get(key)?.arrival ?? ++this.#arrivals;
      this.#orders.set(key, { order, source: value.source, arrival, seen: true });
    }
  }

  book(): NaiveBook {
    const resting = [...this.#orders.values()].flatMap((kept) => this.#restingOf(kept) ?? []);
    const [bidVamm, askVamm] = this.#vamm();
    const side = (direction: 'long' | 'short') => {
      const own = resting.filter(({ kept }) => kept.order.direction === direction);
      return own.sort((left, right) => compare(direction, left, right));
    };
    const [bids, asks] = [side('long'), side('short')];
    return {
      bids: levels('long', bids, bidVamm),
      asks: levels('short', asks, askVamm),
      bidOrders: bids.map(viewOf),
      askOrders: asks.map(viewOf),
    };
  }

  #key(source: string, { maker, orderId }: { readonly maker: Uint8Array; readonly orderId: number }): string {
    return `${source}/${orderId}/${keyText(maker)}`;
  }

  #vamm() {
    if (!this.#market || !this.#oracle || !this.#market.amm) return [[], []] as const;
    const oracle = quotingOracle(this.#market, this.#oracle);
    if (!vammQuotes(this.#market, oracle.slot, this.#slot)) return [[], []] as const;
    const { bids, asks } = vammBook(this.#market, liveQuote(this.#market, this.#market.amm, oracle), oracle.price);
    return [bids, asks] as const;
  }

  #restingOf(kept: Kept): RestingOrder | null {
    const { order, source } = kept;
    if (source === 'user' && this.#orders.has(this.#key('clob', order))) return null;
    if (source === 'user' && (order.bitFlags & 64) !== 0 && this.#market !== null && this.#market.clobMarket !== null) {
      return null;
    }
    if (order.baseAssetAmount - order.baseAssetAmountFilled <= 0n) return null;
    if (order.orderType !== 'limit' && order.orderType !== 'triggerLimit') return null;
    if (order.orderType === 'triggerLimit' && !order.triggerCondition.startsWith('triggered')) return null;
    const duration = source === 'clob' ? 0 : order.auctionDurationSlots;
    const elapsed = this.#slot - order.placedSlot;
    const inAuction = duration > 0 && elapsed <= duration;
    const floats = order.oraclePriceOffset !== 0n;
    if (!floats && !order.postOnly && inAuction) return null;
    if (floats && this.#oracle === null) return null;
    const queue = source === 'clob' ? (order.bookOrderId ?? 0n) : BigInt(order.placedSlot);
    const bounded = [floats ? order.oraclePriceOffset : order.price, queue];
    if (duration > 0) bounded.push(order.auctionStartPrice, order.auctionEndPrice);
    const price = this.#price(order, inAuction, BigInt(Math.max(0, Math.min(elapsed, duration))), BigInt(duration));
    if ([...bounded, price].some((value) => value > MAX_NUMBER || value < -MAX_NUMBER) || price < 0n) return null;
    const list = floats ? 1n : source === 'clob' ? 2n : 3n;
    return { kept, price, rank: [list, queue, BigInt(kept.arrival)] };
  }

  #price(order: OrderState, inAuction: boolean, elapsed: bigint, duration: bigint): bigint {
    const { auctionStartPrice: start, auctionEndPrice: end, oraclePriceOffset: offset } = order;
    const float = (value: bigint) => {
      const sum = (this.#oracle?.price ?? 0n) + value;
      return sum > 1n ? sum : 1n;
    };
    if (inAuction && (start !== 0n || end !== 0n)) {
      const value =
        order.direction === 'long'
          ? start + ((end - start) * elapsed) / duration
          : start - ((start - end) * elapsed) / duration;
      return offset === 0n ? value : float(value);
    }
    return offset === 0n ? order.price : float(offset);
  }
}

function compare(direction: 'long' | 'short', left: RestingOrder, right: RestingOrder): number {
  if (left.price !== right.price) return left.price < right.price === (direction === 'short') ? -1 : 1;
  for (let i = 0; i < left.rank.length; i++) {
    const [a = 0n, b = 0n] = [left.rank[i], right.rank[i]];
    if (a !== b) return a < b ? -1 : 1;
  }
  return 0;
}

function levels(
  direction: 'long' | 'short',
  orders: readonly RestingOrder[],
  vamm: readonly { readonly price: number; readonly size: bigint }[],
): ViewLevel[] {
  const byPrice = new Map<bigint, { dlob: bigint; vamm: bigint }>();
  const at = (price: bigint) => {
    const known = byPrice.get(price) ?? { dlob: 0n, vamm: 0n };
    byPrice.set(price, known);
    return known;
  };
  for (const { kept, price } of orders) {
    const size = counted(kept.order);
    if (size > 0n) at(price).dlob += size;
  }
  for (const { price, size } of vamm) at(BigInt(price)).vamm += size;
  const sorted = [...byPrice].sort(([left], [right]) => (left < right === (direction === 'short') ? -1 : 1));
  return sorted.map(([price, { dlob, vamm: own }]) => ({
    price: Number(price),
    dlob: dlob < MAX_SIZE ? dlob : MAX_SIZE,
    vamm: own,
  }));
}

function counted(order: OrderState): bigint {
  const { baseAssetAmount: amount, baseAssetAmountFilled: filled, positionBaseAmount: position } = order;
  if (!order.reduceOnly) return amount - filled;
  const opposite = order.direction === 'long' ? (position < 0n ? -position : 0n) : position > 0n ? position : 0n;
  return (opposite < amount ? opposite : amount) - filled;
}

function viewOf({ kept, price, rank }: RestingOrder): ViewOrder {
  const { order, source } = kept;
  return {
    price: Number(price),
    size: order.baseAssetAmount - order.baseAssetAmountFilled,
    maker: order.maker,
    orderId: order.orderId,
    source,
    rank: rank.map(Number),
  };
}
