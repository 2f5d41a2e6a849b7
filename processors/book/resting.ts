// The open orders of one market and their place in the walk. Every change costs a few lookups and one place in a level,
// whatever the size of the book; what a message changed is collected once, at its end.

import type { OrderState, ViewOrder, ViewOrderRef } from '../../schemas/index.ts';
import { BOOK, CLOB, copyInto, FLOATING, HIDDEN, OrderTable, RESTING, USER } from './orders.ts';
import { auctionComplete, auctionValue, clampedSize, floatingPrice, PLACED_ON_BOOK, remainingSize } from './rules.ts';
import { BookSide } from './side.ts';
import { fitsNumber, highLane, LANE, lanesToBigint, lowLane, NUMBER_BOUND } from './size.ts';

const START = 256;

// What the rules need to know of an order, as bits.
export const SHORT = 1;
const POST_ONLY = 2;
/** A limit order, or a trigger-limit order that has fired: all others are never visible. */
const LIMIT_LIKE = 4;
const SHADOW = 8;
/** A price, offset, auction bound or book id beyond 2^53: left out and counted. */
const OUT_OF_BOUNDS = 16;
const AUCTION_PRICED = 32;

const NO_ORDERS: readonly ViewOrder[] = Object.freeze([]);
const NO_REFS: readonly ViewOrderRef[] = Object.freeze([]);

export interface OrderChanges {
  readonly bidOrders: readonly ViewOrder[];
  readonly askOrders: readonly ViewOrder[];
  readonly gone: readonly ViewOrderRef[];
}
const NO_CHANGES: OrderChanges = { bidOrders: NO_ORDERS, askOrders: NO_ORDERS, gone: NO_REFS };

export class RestingOrders {
  readonly table = new OrderTable();
  readonly bids = new BookSide(this.table, 'bid');
  readonly asks = new BookSide(this.table, 'ask');
  slot = 0;
  /** Exchange oracle price, 1e6; NaN while unknown, which hides floating orders. */
  oracle = Number.NaN;
  /** The market has a market-level book, so shadows in user accounts are not orders of their own. */
  hasBookAccount = false;
  nextArrival = 1;
  generation = 0;
  /** Orders known but left out of the book because a number of theirs is beyond 2^53. */
  leftOut = 0;

  // Columns of an order's own terms; the table holds its place.
  flags = new Uint8Array(START);
  limit = new Float64Array(START);
  offset = new Float64Array(START);
  auctionStart = new Float64Array(START);
  auctionEnd = new Float64Array(START);
  duration = new Int32Array(START);
  placed = new Float64Array(START);
  bookId = new Float64Array(START);
  sizeHigh = new Float64Array(START);
  sizeLow = new Float64Array(START);
  countedHigh = new Float64Array(START);
  countedLow = new Float64Array(START);
  mark = new Float64Array(START);
  private suppressed = new Uint8Array(START);
  private out = new Uint8Array(START);
  // Orders to look at when the slot moves, and when the oracle moves; each row knows its index in the list.
  private watched: number[] = [];
  private watchAt = new Int32Array(START).fill(-1);
  private floating: number[] = [];
  private floatAt = new Int32Array(START).fill(-1);
  private bookOrders = 0;
  // The message under way.
  private stamp = 1;
  private stamps = new Float64Array(START);
  private wasVisible = new Uint8Array(START);
  private moved = new Uint8Array(START);
  private wasHigh = new Float64Array(START);
  private wasLow = new Float64Array(START);
  private touched: number[] = [];
  private dead: number[] = [];
  // Results of `decide`, kept as fields to save an object per order.
  private toList = HIDDEN;
  private toPrice = 0;
  private toBest = 0;
  private toQueue = 0;

  /** The order as it is now. */
  upsert(order: OrderState, source: number): void {
    const { table } = this;
    let at = table.find(table.makers.find(order.maker), order.orderId, source);
    if (at < 0) at = this.insert(order, source);
    else this.touch(at);
    this.mark[at] = this.generation;
    this.setTerms(at, order, source);

    let high = 0;
    let low = 0;
    let countedHigh = 0;
    let countedLow = 0;
    const amount = Number(order.baseAssetAmount);
    const left = amount - Number(order.baseAssetAmountFilled);
    if (amount <= NUMBER_BOUND && !order.reduceOnly) {
      if (left > 0) {
        high = Math.floor(left / LANE);
        low = left - high * LANE;
        countedHigh = high;
        countedLow = low;
      }
    } else {
      const remaining = remainingSize(order);
      const counted = clampedSize(order);
      if (remaining > 0n) {
        high = highLane(remaining);
        low = lowLane(remaining);
      }
      if (counted > 0n) {
        countedHigh = highLane(counted);
        countedLow = lowLane(counted);
      }
    }
    this.placeSized(at, high, low, countedHigh, countedLow);
  }

  /** Puts a row with given sizes where it belongs: the last step of an upsert, and of a restore. */
  placeSized(at: number, high: number, low: number, countedHigh: number, countedLow: number): void {
    this.decide(at, high > 0 || low > 0);
    const level = this.table.level[at] as number;
    if (level >= 0 && this.stays(at)) {
      const addHigh = countedHigh - (this.countedHigh[at] as number);
      const addLow = countedLow - (this.countedLow[at] as number);
      if (addHigh !== 0 || addLow !== 0) this.sideOf(at).add(level, addHigh, addLow);
      this.setSizes(at, high, low, countedHigh, countedLow);
    } else {
      if (level >= 0) this.unlink(at);
      this.setSizes(at, high, low, countedHigh, countedLow);
      if (this.toList !== HIDDEN) this.link(at);
    }
    this.keepWatch(at);
  }

  remove(maker: Uint8Array, orderId: number, source: number): void {
    const { table } = this;
    const at = table.find(table.makers.find(maker), orderId, source);
    if (at >= 0) this.drop(at);
  }

  /** Time moved: hidden limits whose auction is over come to rest, running auctions take their next price. */
  advance(slot: number): void {
    this.slot = slot;
    for (let i = this.watched.length - 1; i >= 0; i--) this.reposition(this.watched[i] as number);
  }

  /** The exchange oracle moved (1e6): so does every floating order. */
  setOracle(price: number): void {
    if (this.oracle === price) return;
    this.oracle = price;
    for (const at of this.floating) this.reposition(at);
  }

  setHasBookAccount(has: boolean): void {
    if (this.hasBookAccount === has) return;
    this.hasBookAccount = has;
    for (const at of this.table.rows()) if ((this.flags[at] as number) & SHADOW) this.reposition(at);
  }

  /** Removes every order not seen since the generation began. */
  sweep(): void {
    for (const at of this.table.rows()) if (this.mark[at] !== this.generation) this.drop(at);
  }

  /** Ends a message: orders it changed, in the order of their arrival. */
  changes(): OrderChanges {
    const { touched, table } = this;
    if (touched.length === 0) return NO_CHANGES;
    this.stamp += 1;
    if (touched.length > 1) {
      const { arrival } = table;
      touched.sort((left, right) => (arrival[left] as number) - (arrival[right] as number));
    }
    let bidOrders = NO_ORDERS as ViewOrder[];
    let askOrders = NO_ORDERS as ViewOrder[];
    let gone = NO_REFS as ViewOrderRef[];
    for (let i = 0; i < touched.length; i++) {
      const at = touched[i] as number;
      if ((table.level[at] as number) < 0) {
        if (this.wasVisible[at] === 0) continue;
        if (gone === NO_REFS) gone = [];
        gone.push(this.reference(at));
      } else if (this.isChanged(at)) {
        if (table.side[at] === 0) {
          if (bidOrders === NO_ORDERS) bidOrders = [];
          bidOrders.push(this.view(at));
        } else {
          if (askOrders === NO_ORDERS) askOrders = [];
          askOrders.push(this.view(at));
        }
      }
    }
    touched.length = 0;
    for (let i = 0; i < this.dead.length; i++) table.release(this.dead[i] as number);
    this.dead.length = 0;
    return { bidOrders, askOrders, gone };
  }

  /** Visible orders of a side in walk order. */
  *walk(side: BookSide): Generator<ViewOrder> {
    for (const at of side.ladder.walk()) yield this.view(at);
  }

  /** A new row for an order; its arrival is now. */
  insert(order: { readonly maker: Uint8Array; readonly orderId: number }, source: number): number {
    const { table } = this;
    const at = table.insert(order.maker, order.orderId, source);
    if (at >= this.flags.length) this.grow();
    table.arrival[at] = this.nextArrival++;
    this.watchAt[at] = -1;
    this.floatAt[at] = -1;
    this.suppressed[at] = 0;
    this.out[at] = 0;
    this.stamps[at] = 0;
    if (source === CLOB) {
      this.bookOrders += 1;
      this.suppress(table.find(table.maker[at] as number, order.orderId, USER), 1);
    } else if (this.bookOrders > 0 && table.find(table.maker[at] as number, order.orderId, CLOB) >= 0) {
      this.suppressed[at] = 1;
    }
    this.touch(at);
    return at;
  }

  private setTerms(at: number, order: OrderState, source: number): void {
    const isTrigger = order.triggerCondition === 'above' || order.triggerCondition === 'below';
    const isLimit = order.orderType === 'limit' || (order.orderType === 'triggerLimit' && !isTrigger);
    let flags = order.direction === 'short' ? SHORT : 0;
    if (order.postOnly) flags |= POST_ONLY;
    if (isLimit) flags |= LIMIT_LIKE;
    if (source === USER && (order.bitFlags & PLACED_ON_BOOK) !== 0) flags |= SHADOW;
    const limit = Number(order.price);
    const offset = Number(order.oraclePriceOffset);
    const placed = order.placedSlot;
    let duration = order.auctionDurationSlots;
    let bookId = placed;
    let isSafe = limit <= NUMBER_BOUND && offset <= NUMBER_BOUND && offset >= -NUMBER_BOUND;
    if (source === CLOB) {
      duration = 0;
      if (order.bookOrderId !== null) bookId = Number(order.bookOrderId);
      if (bookId > NUMBER_BOUND) isSafe = false;
    }
    if (duration !== 0) {
      const { auctionStartPrice: start, auctionEndPrice: end } = order;
      if (start !== 0n || end !== 0n) flags |= AUCTION_PRICED;
      if (!fitsNumber(start) || !fitsNumber(end)) isSafe = false;
      this.auctionStart[at] = Number(start);
      this.auctionEnd[at] = Number(end);
    }
    if (!isSafe) flags |= OUT_OF_BOUNDS;
    this.setColumns(at, flags, limit, offset, duration, placed, bookId);
  }

  /** Stores terms other than the auction's bounds, and keeps the list of floating orders. */
  setColumns(
    at: number,
    flags: number,
    limit: number,
    offset: number,
    duration: number,
    placed: number,
    bookId: number,
  ): void {
    this.flags[at] = flags;
    this.limit[at] = limit;
    this.offset[at] = offset;
    this.duration[at] = duration;
    this.placed[at] = placed;
    this.bookId[at] = bookId;
    const floats = offset !== 0 && (flags & LIMIT_LIKE) !== 0;
    if (floats !== (this.floatAt[at] as number) >= 0) {
      if (floats) enlist(this.floating, this.floatAt, at);
      else delist(this.floating, this.floatAt, at);
    }
  }

  // Where the order belongs now (reference 2.2 and 2.3): toList, and for visible ones toPrice, toBest, toQueue.
  private decide(at: number, hasSize: boolean): void {
    const flags = this.flags[at] as number;
    const isLong = (flags & SHORT) === 0;
    const offset = this.offset[at] as number;
    const duration = this.duration[at] as number;
    let price = this.limit[at] as number;
    let best = price;
    let list = RESTING;
    let queue = this.placed[at] as number;
    if (this.table.source[at] === CLOB) {
      list = BOOK;
      queue = this.bookId[at] as number;
    }
    if (duration !== 0 && !auctionComplete(this.slot, queue, duration)) {
      if ((flags & POST_ONLY) === 0 && offset === 0) list = HIDDEN;
      if ((flags & AUCTION_PRICED) !== 0) {
        const [start, end] = [this.auctionStart[at] as number, this.auctionEnd[at] as number];
        const value = auctionValue(isLong, start, end, this.slot - queue, duration);
        price = offset === 0 ? value : floatingPrice(this.oracle, value);
      } else if (offset !== 0) price = floatingPrice(this.oracle, offset);
    } else if (offset !== 0) price = floatingPrice(this.oracle, offset);
    if (offset !== 0) {
      best = offset;
      if (list !== HIDDEN) list = FLOATING;
    }
    const isHidden =
      !hasSize ||
      (flags & LIMIT_LIKE) === 0 ||
      this.suppressed[at] === 1 ||
      ((flags & SHADOW) !== 0 && this.hasBookAccount) ||
      (list === FLOATING && Number.isNaN(this.oracle));
    const isOut = (flags & OUT_OF_BOUNDS) !== 0 || price > NUMBER_BOUND || price < 0;
    this.toList = isHidden || isOut ? HIDDEN : list;
    this.toPrice = price;
    this.toBest = isLong ? 0 - best : best;
    this.toQueue = queue;
    if (isOut !== (this.out[at] === 1)) {
      this.out[at] = isOut ? 1 : 0;
      this.leftOut += isOut ? 1 : -1;
    }
  }

  private stays(at: number): boolean {
    const { table } = this;
    return (
      table.list[at] === this.toList &&
      table.price[at] === this.toPrice &&
      table.best[at] === this.toBest &&
      table.queue[at] === this.toQueue &&
      table.side[at] === ((this.flags[at] as number) & SHORT)
    );
  }

  private reposition(at: number): void {
    this.decide(at, (this.sizeHigh[at] as number) > 0 || (this.sizeLow[at] as number) > 0);
    const isLinked = (this.table.level[at] as number) >= 0;
    if (isLinked ? !this.stays(at) : this.toList !== HIDDEN) {
      this.touch(at);
      if (isLinked) this.unlink(at);
      if (this.toList !== HIDDEN) this.link(at);
    }
    this.keepWatch(at);
  }

  private keepWatch(at: number): void {
    const duration = this.duration[at] as number;
    const isWatched =
      duration !== 0 &&
      ((this.flags[at] as number) & LIMIT_LIKE) !== 0 &&
      !auctionComplete(this.slot, this.placed[at] as number, duration);
    if (isWatched === (this.watchAt[at] as number) >= 0) return;
    if (isWatched) enlist(this.watched, this.watchAt, at);
    else delist(this.watched, this.watchAt, at);
  }

  private link(at: number): void {
    const { table } = this;
    table.list[at] = this.toList;
    table.price[at] = this.toPrice;
    table.best[at] = this.toBest;
    table.queue[at] = this.toQueue;
    table.side[at] = (this.flags[at] as number) & SHORT;
    this.moved[at] = 1;
    const side = this.sideOf(at);
    const level = side.open(this.toPrice);
    side.add(level, this.countedHigh[at] as number, this.countedLow[at] as number);
    side.ladder.link(at, level);
  }

  private unlink(at: number): void {
    const side = this.sideOf(at);
    side.add(this.table.level[at] as number, -(this.countedHigh[at] as number), -(this.countedLow[at] as number));
    side.ladder.unlink(at);
  }

  private drop(at: number): void {
    const { table } = this;
    this.touch(at);
    if ((table.level[at] as number) >= 0) this.unlink(at);
    if ((this.watchAt[at] as number) >= 0) delist(this.watched, this.watchAt, at);
    if ((this.floatAt[at] as number) >= 0) delist(this.floating, this.floatAt, at);
    this.leftOut -= this.out[at] as number;
    table.remove(at);
    this.dead.push(at);
    if (table.source[at] === CLOB) {
      this.bookOrders -= 1;
      this.suppress(table.find(table.maker[at] as number, table.orderId[at] as number, USER), 0);
    }
  }

  // The order of the same name in a user account: never shown beside the one in the market-level book.
  private suppress(at: number, value: number): void {
    if (at < 0) return;
    this.suppressed[at] = value;
    this.reposition(at);
  }

  private touch(at: number): void {
    if (this.stamps[at] === this.stamp) return;
    this.stamps[at] = this.stamp;
    this.wasVisible[at] = (this.table.level[at] as number) >= 0 ? 1 : 0;
    this.wasHigh[at] = this.sizeHigh[at] as number;
    this.wasLow[at] = this.sizeLow[at] as number;
    this.moved[at] = 0;
    this.touched.push(at);
  }

  private isChanged(at: number): boolean {
    return this.moved[at] === 1 || this.sizeHigh[at] !== this.wasHigh[at] || this.sizeLow[at] !== this.wasLow[at];
  }

  private setSizes(at: number, high: number, low: number, countedHigh: number, countedLow: number): void {
    this.sizeHigh[at] = high;
    this.sizeLow[at] = low;
    this.countedHigh[at] = countedHigh;
    this.countedLow[at] = countedLow;
  }

  private sideOf(at: number): BookSide {
    return this.table.side[at] === 0 ? this.bids : this.asks;
  }

  private view(at: number): ViewOrder {
    const { table } = this;
    return {
      price: table.price[at] as number,
      size: lanesToBigint(this.sizeHigh[at] as number, this.sizeLow[at] as number),
      maker: table.key(at),
      orderId: table.orderId[at] as number,
      source: table.source[at] === CLOB ? 'clob' : 'user',
      rank: [
        table.list[at] as number,
        table.best[at] as number,
        table.queue[at] as number,
        table.arrival[at] as number,
      ],
    };
  }

  private reference(at: number): ViewOrderRef {
    const { table } = this;
    return {
      maker: table.key(at),
      orderId: table.orderId[at] as number,
      source: table.source[at] === CLOB ? 'clob' : 'user',
    };
  }

  private grow(): void {
    const size = this.table.capacity;
    this.flags = copyInto(new Uint8Array(size), this.flags);
    this.suppressed = copyInto(new Uint8Array(size), this.suppressed);
    this.out = copyInto(new Uint8Array(size), this.out);
    this.wasVisible = copyInto(new Uint8Array(size), this.wasVisible);
    this.moved = copyInto(new Uint8Array(size), this.moved);
    this.duration = copyInto(new Int32Array(size), this.duration);
    this.watchAt = copyInto(new Int32Array(size), this.watchAt);
    this.floatAt = copyInto(new Int32Array(size), this.floatAt);
    this.limit = copyInto(new Float64Array(size), this.limit);
    this.offset = copyInto(new Float64Array(size), this.offset);
    this.auctionStart = copyInto(new Float64Array(size), this.auctionStart);
    this.auctionEnd = copyInto(new Float64Array(size), this.auctionEnd);
    this.placed = copyInto(new Float64Array(size), this.placed);
    this.bookId = copyInto(new Float64Array(size), this.bookId);
    this.sizeHigh = copyInto(new Float64Array(size), this.sizeHigh);
    this.sizeLow = copyInto(new Float64Array(size), this.sizeLow);
    this.countedHigh = copyInto(new Float64Array(size), this.countedHigh);
    this.countedLow = copyInto(new Float64Array(size), this.countedLow);
    this.mark = copyInto(new Float64Array(size), this.mark);
    this.stamps = copyInto(new Float64Array(size), this.stamps);
    this.wasHigh = copyInto(new Float64Array(size), this.wasHigh);
    this.wasLow = copyInto(new Float64Array(size), this.wasLow);
  }
}

function enlist(list: number[], index: Int32Array, at: number): void {
  index[at] = list.length;
  list.push(at);
}

function delist(list: number[], index: Int32Array, at: number): void {
  const hole = index[at] as number;
  const last = list.pop() as number;
  if (last !== at) {
    list[hole] = last;
    index[last] = hole;
  }
  index[at] = -1;
}
