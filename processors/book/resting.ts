// The open orders of one market in walk order. A change costs a few lookups and one insertion into a level, for any size of the
// book. The changes of a message are collected once, at its end.

import type { Cause, OrderState, ViewOrder, ViewOrderRef } from '../../schemas/index.ts';
import { type IgnoredMakers, NOBODY } from './ignored.ts';
import { Ladder } from './ladder.ts';
import {
  ARRIVAL,
  AUCTION_END,
  AUCTION_START,
  CLOB,
  COUNTED_HIGH,
  COUNTED_LOW,
  DURATION,
  FLAGS,
  FLOAT,
  GENERATION,
  HIDDEN,
  LEVEL,
  LIST,
  MAKER,
  MARKS,
  OrderTable,
  PRICE,
  QUEUE,
  SIDE,
  SIZE_HIGH,
  SIZE_LOW,
  SOURCE,
  STAMP,
  TERM,
  USER,
  WATCH,
} from './orders.ts';
import { type Conditions, IGNORED, LEFT_OUT, Placement, SUPPRESSED } from './placement.ts';
import { referenceOf, viewOf } from './published.ts';
import { RowList } from './row-list.ts';
import { clampedSize, remainingSize } from './rules.ts';
import { BookSide } from './side.ts';
import { highWord, lowWord, NUMBER_BOUND, unsignedNumber, WORD } from './size.ts';
import { FLOATS, LIMIT_LIKE, ReadTerms, readTerms, SHADOW, SHORT, type Terms } from './terms.ts';

// Notes of the book on an order beside placement, as bits of MARKS.
const WAS_VISIBLE = 4;
const MOVED = 8;
const RESIZED = 16;
const WRITTEN = 64;

/** Stamps have 32 bits; before they would repeat, every row's stamp is reset. */
const STAMP_MAX = 0x7fff_ffff;

const NO_ORDERS: readonly ViewOrder[] = Object.freeze([]);
const NO_REFS: readonly ViewOrderRef[] = Object.freeze([]);

export interface OrderChanges {
  readonly bidOrders: readonly ViewOrder[];
  readonly askOrders: readonly ViewOrder[];
  readonly gone: readonly ViewOrderRef[];
}
const NO_CHANGES: OrderChanges = { bidOrders: NO_ORDERS, askOrders: NO_ORDERS, gone: NO_REFS };

export class RestingOrders implements Conditions {
  readonly ignored: IgnoredMakers;
  readonly table = new OrderTable();
  readonly bids = new BookSide(new Ladder(this.table, 'bid'));
  readonly asks = new BookSide(new Ladder(this.table, 'ask'));
  slot = 0;
  /** Exchange oracle price, 1e6; NaN while unknown, which hides floating orders. */
  oracle = Number.NaN;
  /** The market has a market-level book, so shadows in user accounts are no separate orders. */
  hasBookAccount = false;
  nextArrival = 1;
  generation = 0;

  // Orders to re-place when the slot moves, and when the oracle moves.
  readonly #watched = new RowList(this.table, WATCH);
  readonly #floating = new RowList(this.table, FLOAT);
  #bookOrders = 0;
  // State of the current message.
  #stamp = 1;
  readonly #touched: number[] = [];
  readonly #dead: number[] = [];
  readonly #terms = new ReadTerms();
  readonly #placement = new Placement(this.table);

  constructor(ignored = NOBODY) {
    this.ignored = ignored;
  }

  /** Otherwise visible orders that are left out because one of their numbers is beyond 2^53. */
  get leftOut(): number {
    return this.#placement.leftOut;
  }

  /** Sets the current state of an order. */
  upsert(order: OrderState, source: number): void {
    const { table } = this;
    let row = table.find(table.makers.find(order.maker), order.orderId, source);
    if (row < 0) row = this.insert(order.maker, order.orderId, source);
    else this.#touch(row);
    table.ints[row + GENERATION] = this.generation;
    this.#setWritten(row);
    this.#setTerms(row, order, source);

    const amount = unsignedNumber(order.baseAssetAmount);
    if (amount <= NUMBER_BOUND && !order.reduceOnly) {
      const left = amount - unsignedNumber(order.baseAssetAmountFilled);
      const high = left > 0 ? Math.floor(left / WORD) : 0;
      const low = left > 0 ? left - high * WORD : 0;
      this.place(row, high, low, high, low);
      return;
    }
    const remaining = remainingSize(order);
    const counted = clampedSize(order);
    const visible = remaining > 0n ? remaining : 0n;
    const summed = counted > 0n ? counted : 0n;
    this.place(row, highWord(visible), lowWord(visible), highWord(summed), lowWord(summed));
  }

  /** Places a row with the given sizes: the last step of an upsert and of a restore. */
  place(row: number, high: number, low: number, countedHigh: number, countedLow: number): void {
    this.#placement.decide(row, high > 0 || low > 0, this);
    const { ints } = this.table;
    const level = ints[row + LEVEL] as number;
    const stays = level >= 0 && this.#placement.stays(row);
    if (stays) {
      const addHigh = countedHigh - ((ints[row + COUNTED_HIGH] as number) >>> 0);
      const addLow = countedLow - ((ints[row + COUNTED_LOW] as number) >>> 0);
      if (addHigh !== 0 || addLow !== 0) this.#sideOf(row).add(level, addHigh, addLow);
    } else if (level >= 0) this.#unlink(row);
    if (ints[row + SIZE_HIGH] !== (high | 0) || ints[row + SIZE_LOW] !== (low | 0)) {
      ints[row + MARKS] = (ints[row + MARKS] as number) | RESIZED;
      ints[row + SIZE_HIGH] = high;
      ints[row + SIZE_LOW] = low;
    }
    ints[row + COUNTED_HIGH] = countedHigh;
    ints[row + COUNTED_LOW] = countedLow;
    if (!stays && this.#placement.list !== HIDDEN) this.#link(row);
    this.#keepWatch(row);
  }

  remove(maker: Uint8Array, orderId: number, source: number): void {
    const { table } = this;
    const row = table.find(table.makers.find(maker), orderId, source);
    if (row < 0) return;
    this.#drop(row);
    this.#setWritten(row);
  }

  /** Moves the slot: limits whose auction has ended begin to rest, running auctions take their next price. */
  advance(slot: number): void {
    this.slot = slot;
    // Backwards: a removed order is replaced by one that is already done.
    const { rows } = this.#watched;
    for (let i = rows.length - 1; i >= 0; i--) this.#reposition(rows[i] as number);
  }

  /** Moves the exchange oracle (1e6), and with it every floating order. */
  setOracle(price: number): void {
    if (Object.is(this.oracle, price)) return;
    this.oracle = price;
    for (const row of this.#floating.rows) this.#reposition(row);
  }

  setHasBookAccount(has: boolean): void {
    if (this.hasBookAccount === has) return;
    this.hasBookAccount = has;
    for (const row of this.table.rows()) if ((this.table.ints[row + FLAGS] as number) & SHADOW) this.#reposition(row);
  }

  /** Removes every order without an upsert in the current generation. */
  sweep(): void {
    const { ints } = this.table;
    for (const row of this.table.rows()) if (ints[row + GENERATION] !== this.generation) this.#drop(row);
  }

  /** Ends a message and returns its changed orders by arrival. `cause` is that of the orders that it wrote. */
  changes(cause: Cause | null = null): OrderChanges {
    const { table } = this;
    const touched = this.#touched;
    if (touched.length === 0) return NO_CHANGES;
    if (this.#stamp === STAMP_MAX) this.#resetStamps();
    this.#stamp += 1;
    if (touched.length > 1) {
      const { floats } = table;
      touched.sort((l, r) => (floats[(l >> 1) + ARRIVAL] as number) - (floats[(r >> 1) + ARRIVAL] as number));
    }
    let bidOrders = NO_ORDERS as ViewOrder[];
    let askOrders = NO_ORDERS as ViewOrder[];
    let gone = NO_REFS as ViewOrderRef[];
    const { ints } = table;
    const hasCauses = cause !== null || !table.causes.isEmpty;
    for (let i = 0; i < touched.length; i++) {
      const row = touched[i] as number;
      if (hasCauses) this.#setCause(row, cause);
      if ((ints[row + LEVEL] as number) < 0) {
        if (((ints[row + MARKS] as number) & WAS_VISIBLE) === 0) continue;
        const reference = referenceOf(table, row, (ints[row + MARKS] as number) & WRITTEN ? cause : null);
        if (gone === NO_REFS) gone = [reference];
        else gone.push(reference);
      } else if (((ints[row + MARKS] as number) & (MOVED | RESIZED)) !== 0) {
        if (ints[row + SIDE] === 0) {
          if (bidOrders === NO_ORDERS) bidOrders = [viewOf(table, row)];
          else bidOrders.push(viewOf(table, row));
        } else if (askOrders === NO_ORDERS) askOrders = [viewOf(table, row)];
        else askOrders.push(viewOf(table, row));
      }
    }
    touched.length = 0;
    for (let i = 0; i < this.#dead.length; i++) table.release(this.#dead[i] as number);
    this.#dead.length = 0;
    return { bidOrders, askOrders, gone };
  }

  /** Visible orders of a side in walk order. */
  *walk(side: BookSide): Generator<ViewOrder> {
    for (const row of side.ladder.walk()) yield viewOf(this.table, row);
  }

  /** A new row for an order that arrives now. */
  insert(maker: Uint8Array, orderId: number, source: number): number {
    const { table } = this;
    const row = table.insert(maker, orderId, source);
    const { ints, floats } = table;
    floats[(row >> 1) + ARRIVAL] = this.nextArrival++;
    ints[row + STAMP] = 0;
    ints[row + FLAGS] = 0;
    ints[row + MARKS] = this.ignored.has(maker) ? IGNORED : 0;
    ints[row + WATCH] = -1;
    ints[row + FLOAT] = -1;
    ints[row + SIZE_HIGH] = 0;
    ints[row + SIZE_LOW] = 0;
    if (source === CLOB) {
      this.#bookOrders += 1;
      this.#suppress(table.find(ints[row + MAKER] as number, orderId, USER), true);
    } else if (this.#bookOrders > 0 && table.find(ints[row + MAKER] as number, orderId, CLOB) >= 0) {
      ints[row + MARKS] = (ints[row + MARKS] as number) | SUPPRESSED;
    }
    this.#touch(row);
    return row;
  }

  #setTerms(row: number, order: OrderState, source: number): void {
    const terms = this.#terms;
    readTerms(order, source, terms);
    if (terms.durationSlots !== 0) {
      const { floats } = this.table;
      floats[(row >> 1) + AUCTION_START] = terms.auctionStart;
      floats[(row >> 1) + AUCTION_END] = terms.auctionEnd;
    }
    this.#setRow(row, terms);
  }

  /** Stores terms from a checkpoint. */
  restoreTerms(row: number, terms: Terms): void {
    this.#setRow(row, terms);
  }

  #setRow(row: number, { flags, term, durationSlots, queue }: Terms): void {
    const { ints, floats } = this.table;
    const half = row >> 1;
    // The walk sorts by queue: an order must be unlinked before its queue changes.
    if (floats[half + QUEUE] !== queue) {
      if ((ints[row + LEVEL] as number) >= 0) this.#unlink(row);
      floats[half + QUEUE] = queue;
    }
    ints[row + FLAGS] = flags;
    ints[row + DURATION] = durationSlots;
    floats[half + TERM] = term;
    const isFloating = (flags & (FLOATS | LIMIT_LIKE)) === (FLOATS | LIMIT_LIKE);
    if (isFloating !== this.#floating.has(row)) {
      if (isFloating) this.#floating.add(row);
      else this.#floating.delete(row);
    }
  }

  #reposition(row: number): void {
    const { ints } = this.table;
    this.#placement.decide(row, ints[row + SIZE_HIGH] !== 0 || ints[row + SIZE_LOW] !== 0, this);
    const isLinked = (ints[row + LEVEL] as number) >= 0;
    if (isLinked ? !this.#placement.stays(row) : this.#placement.list !== HIDDEN) {
      this.#touch(row);
      if (isLinked) this.#unlink(row);
      if (this.#placement.list !== HIDDEN) this.#link(row);
    }
    this.#keepWatch(row);
  }

  // Watches an order while the next slot may make it visible or move its price.
  #keepWatch(row: number): void {
    const { ints } = this.table;
    const duration = ints[row + DURATION] as number;
    const isWatched =
      duration !== 0 &&
      ((ints[row + FLAGS] as number) & LIMIT_LIKE) !== 0 &&
      this.#placement.inAuction(row, duration, this.slot);
    if (isWatched === this.#watched.has(row)) return;
    if (isWatched) this.#watched.add(row);
    else this.#watched.delete(row);
  }

  #link(row: number): void {
    const { ints, floats } = this.table;
    const half = row >> 1;
    ints[row + LIST] = this.#placement.list;
    ints[row + SIDE] = (ints[row + FLAGS] as number) & SHORT;
    ints[row + MARKS] = (ints[row + MARKS] as number) | MOVED;
    floats[half + PRICE] = this.#placement.price;
    const side = this.#sideOf(row);
    const level = side.open(this.#placement.price);
    side.add(level, (ints[row + COUNTED_HIGH] as number) >>> 0, (ints[row + COUNTED_LOW] as number) >>> 0);
    side.ladder.link(row, level);
  }

  #unlink(row: number): void {
    const { ints } = this.table;
    const side = this.#sideOf(row);
    const high = (ints[row + COUNTED_HIGH] as number) >>> 0;
    const low = (ints[row + COUNTED_LOW] as number) >>> 0;
    side.add(ints[row + LEVEL] as number, 0 - high, 0 - low);
    side.ladder.unlink(row);
  }

  #drop(row: number): void {
    const { table } = this;
    const { ints } = table;
    this.#touch(row);
    if ((ints[row + LEVEL] as number) >= 0) this.#unlink(row);
    if (this.#watched.has(row)) this.#watched.delete(row);
    if (this.#floating.has(row)) this.#floating.delete(row);
    if (((ints[row + MARKS] as number) & LEFT_OUT) !== 0) this.#placement.leftOut -= 1;
    table.remove(row);
    this.#dead.push(row);
    if (ints[row + SOURCE] === CLOB) {
      this.#bookOrders -= 1;
      this.#suppress(table.find(ints[row + MAKER] as number, table.orderId(row), USER), false);
    }
  }

  // Hides the order of the same name in a user account: the one in the market-level book replaces it.
  #suppress(row: number, isSuppressed: boolean): void {
    if (row < 0) return;
    const { ints } = this.table;
    const marks = ints[row + MARKS] as number;
    ints[row + MARKS] = isSuppressed ? marks | SUPPRESSED : marks & ~SUPPRESSED;
    this.#reposition(row);
  }

  #setWritten(row: number): void {
    const { ints } = this.table;
    ints[row + MARKS] = (ints[row + MARKS] as number) | WRITTEN;
  }

  // A write that changes nothing visible of a visible order is not published, so it changes no cause either.
  #setCause(row: number, cause: Cause | null): void {
    const { ints, causes } = this.table;
    const marks = ints[row + MARKS] as number;
    const isPublished = (ints[row + LEVEL] as number) < 0 || (marks & (MOVED | RESIZED)) !== 0;
    if ((marks & WRITTEN) !== 0 && isPublished) causes.set(OrderTable.index(row), cause);
  }

  #touch(row: number): void {
    const { ints } = this.table;
    if (ints[row + STAMP] === this.#stamp) return;
    ints[row + STAMP] = this.#stamp;
    const kept = (ints[row + MARKS] as number) & ~(WAS_VISIBLE | MOVED | RESIZED | WRITTEN);
    ints[row + MARKS] = (ints[row + LEVEL] as number) >= 0 ? kept | WAS_VISIBLE : kept;
    this.#touched.push(row);
  }

  #resetStamps(): void {
    const { ints } = this.table;
    for (const row of this.table.rows()) ints[row + STAMP] = 0;
    this.#stamp = 0;
  }

  #sideOf(row: number): BookSide {
    return this.table.ints[row + SIDE] === 0 ? this.bids : this.asks;
  }
}
