// Decides list and price of an order, from its terms, the slot and the oracle.

import {
  AUCTION_END,
  AUCTION_START,
  BOOK,
  CLOB,
  DURATION,
  FLAGS,
  FLOATING,
  HIDDEN,
  LIST,
  MARKS,
  type OrderTable,
  PRICE,
  QUEUE,
  RESTING,
  SIDE,
  SOURCE,
  TERM,
} from './orders.ts';
import { auctionComplete, auctionValue, floatingPrice } from './rules.ts';
import { NUMBER_BOUND } from './size.ts';
import { AUCTION_PRICED, FLOATS, LIMIT_LIKE, OUT_OF_BOUNDS, POST_ONLY, SHADOW, SHORT } from './terms.ts';

// Notes of placement on an order, as bits of MARKS.
/** The market-level book has another order of the same name. */
export const SUPPRESSED = 1;
export const LEFT_OUT = 2;
/** The maker is ignored. */
export const IGNORED = 32;

/** Inputs of placement besides the order. */
export interface Conditions {
  readonly slot: number;
  /** Exchange oracle price, 1e6; NaN while unknown. */
  readonly oracle: number;
  readonly hasBookAccount: boolean;
}

export class Placement {
  // Results of `decide`, as fields to avoid an object per order.
  list = HIDDEN;
  price = 0;
  /** Otherwise visible orders that are left out because one of their numbers is beyond 2^53. */
  leftOut = 0;
  readonly #table: OrderTable;

  constructor(table: OrderTable) {
    this.#table = table;
  }

  /** Sets the `list` of an order, and `price` of a visible one (docs/internals/book-rules.md, "Visibility"). */
  decide(row: number, hasSize: boolean, at: Conditions): void {
    const { ints, floats } = this.#table;
    const half = row >> 1;
    const flags = ints[row + FLAGS] as number;
    const marks = ints[row + MARKS] as number;
    const floatsWithOracle = (flags & FLOATS) !== 0;
    const duration = ints[row + DURATION] as number;
    let price = floats[half + TERM] as number;
    let list = ints[row + SOURCE] === CLOB ? BOOK : RESTING;
    if (floatsWithOracle) {
      list = FLOATING;
      price = floatingPrice(at.oracle, price);
    }
    if (duration !== 0 && this.inAuction(row, duration, at.slot)) {
      if ((flags & POST_ONLY) === 0 && !floatsWithOracle) list = HIDDEN;
      if ((flags & AUCTION_PRICED) !== 0) {
        const value = this.#auctionValue(row, duration, at.slot);
        price = floatsWithOracle ? floatingPrice(at.oracle, value) : value;
      }
    }
    const isHidden =
      !hasSize ||
      (flags & LIMIT_LIKE) === 0 ||
      (marks & (SUPPRESSED | IGNORED)) !== 0 ||
      ((flags & SHADOW) !== 0 && at.hasBookAccount) ||
      (list === FLOATING && Number.isNaN(at.oracle));
    const isOut = !isHidden && ((flags & OUT_OF_BOUNDS) !== 0 || price > NUMBER_BOUND || price < 0);
    this.list = isHidden || isOut ? HIDDEN : list;
    this.price = price;
    if (isOut !== ((marks & LEFT_OUT) !== 0)) {
      ints[row + MARKS] = marks ^ LEFT_OUT;
      this.leftOut += isOut ? 1 : -1;
    }
  }

  inAuction(row: number, durationSlots: number, slot: number): boolean {
    return !auctionComplete(slot, this.#table.floats[(row >> 1) + QUEUE] as number, durationSlots);
  }

  #auctionValue(row: number, durationSlots: number, slot: number): number {
    const { ints, floats } = this.#table;
    const half = row >> 1;
    const isLong = ((ints[row + FLAGS] as number) & SHORT) === 0;
    const start = floats[half + AUCTION_START] as number;
    const end = floats[half + AUCTION_END] as number;
    return auctionValue(isLong, start, end, slot - (floats[half + QUEUE] as number), durationSlots);
  }

  /** True when the order already has the list and price of `decide`. */
  stays(row: number): boolean {
    const { ints, floats } = this.#table;
    const half = row >> 1;
    return (
      ints[row + LIST] === this.list &&
      floats[half + PRICE] === this.price &&
      ints[row + SIDE] === ((ints[row + FLAGS] as number) & SHORT)
    );
  }
}
