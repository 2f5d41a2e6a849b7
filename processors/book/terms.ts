// The terms of an order in a row of the book: the inputs of the rules, as plain numbers.

import type { OrderState } from '../../schemas/index.ts';
import { CLOB } from './orders.ts';
import { PLACED_ON_BOOK } from './rules.ts';
import { fitsNumber, NUMBER_BOUND, signedNumber, unsignedNumber } from './size.ts';

// Inputs of the rules as bits of FLAGS. SHORT equals the order's side.
export const SHORT = 1;
export const POST_ONLY = 2;
/** A limit order, or a triggered trigger-limit order; all others are never visible. */
export const LIMIT_LIKE = 4;
/** Also rests in the market-level book: this order of the account is its shadow. */
export const SHADOW = 8;
/** A price, offset, auction bound or book id beyond 2^53: left out and counted. */
export const OUT_OF_BOUNDS = 16;
export const AUCTION_PRICED = 32;
/** The term is an offset from the oracle. */
export const FLOATS = 64;

/** Terms of an order in a row; the auction's bounds are stored apart. */
export interface Terms {
  readonly flags: number;
  /** Limit price, or offset from the oracle. */
  readonly term: number;
  readonly durationSlots: number;
  /** Slot of placement, or the book's own order id. */
  readonly queue: number;
}

/** Terms with the auction's bounds, reused for each order: no object per order. */
export class ReadTerms implements Terms {
  flags = 0;
  term = 0;
  durationSlots = 0;
  queue = 0;
  /** Undefined while `durationSlots` is 0. */
  auctionStart = 0;
  auctionEnd = 0;
}

/** Reads an order of an account or of the market-level book. */
export function readTerms(order: OrderState, source: number, into: ReadTerms): void {
  const isFired = order.triggerCondition === 'triggeredAbove' || order.triggerCondition === 'triggeredBelow';
  const isLimit = order.orderType === 'limit' || (order.orderType === 'triggerLimit' && isFired);
  let flags = order.direction === 'short' ? SHORT : 0;
  if (order.postOnly) flags |= POST_ONLY;
  if (isLimit) flags |= LIMIT_LIKE;
  const offset = signedNumber(order.oraclePriceOffset);
  const term = offset === 0 ? unsignedNumber(order.price) : offset;
  if (offset !== 0) flags |= FLOATS;
  let durationSlots = order.auctionDurationSlots;
  let queue = order.placedSlot;
  let isSafe = term <= NUMBER_BOUND && term >= -NUMBER_BOUND;
  if (source === CLOB) {
    // Orders of the market-level book have a fixed price and no auction; their id is their priority.
    durationSlots = 0;
    if (order.bookOrderId !== null) queue = unsignedNumber(order.bookOrderId);
    if (queue > NUMBER_BOUND) isSafe = false;
  } else if ((order.bitFlags & PLACED_ON_BOOK) !== 0) flags |= SHADOW;
  if (durationSlots !== 0) {
    const { auctionStartPrice: start, auctionEndPrice: end } = order;
    if (start !== 0n || end !== 0n) flags |= AUCTION_PRICED;
    if (!fitsNumber(start) || !fitsNumber(end)) isSafe = false;
    into.auctionStart = signedNumber(start);
    into.auctionEnd = signedNumber(end);
  }
  if (!isSafe) flags |= OUT_OF_BOUNDS;
  into.flags = flags;
  into.term = term;
  into.durationSlots = durationSlots;
  into.queue = queue;
}
