// Arithmetic of the book rules: auctions, floating prices, sizes. `placement.ts` decides the list of an order, on the
// engine's columns.

import type { Direction, OrderState } from '../../schemas/index.ts';

/** Bit of `bitFlags`: the order rests in the market-level book, and this order of the account mirrors it. */
export const PLACED_ON_BOOK = 64;

/** An auction still runs at exactly placed slot + duration (docs/internals/book-rules.md, "Visibility"). */
export function auctionComplete(slot: number, placedSlot: number, durationSlots: number): boolean {
  return durationSlots === 0 || slot - placedSlot > durationSlots;
}

/**
 * Value of a running auction at a slot, 1e6 (an offset for an order with an oracle offset); truncates toward zero
 * (docs/internals/book-rules.md, "Price of a resting order"). A slot before the order's own counts as its first.
 */
export function auctionValue(
  isLong: boolean,
  start: number,
  end: number,
  elapsedSlots: number,
  durationSlots: number,
): number {
  const elapsed = Math.max(0, Math.min(elapsedSlots, durationSlots));
  const gap = isLong ? end - start : start - end;
  const step = shareOf(gap, elapsed, durationSlots);
  return isLong ? start + step : start - step;
}

/** trunc(gap * part / whole), exact for every safe `gap`. */
function shareOf(gap: number, part: number, whole: number): number {
  const product = gap * part;
  if (Number.isSafeInteger(product)) return (product - (product % whole)) / whole;
  return Number((BigInt(gap) * BigInt(part)) / BigInt(whole));
}

/** Oracle price plus an offset, never below 1 (both 1e6). */
export function floatingPrice(oracle: number, offset: number): number {
  return Math.max(oracle + offset, 1);
}

/** Base amount left, 1e9, ignoring reduce-only: the size in L3. May be negative. */
export function remainingSize(order: Pick<OrderState, 'baseAssetAmount' | 'baseAssetAmountFilled'>): bigint {
  return order.baseAssetAmount - order.baseAssetAmountFilled;
}

export interface Sized {
  readonly direction: Direction;
  readonly reduceOnly: boolean;
  readonly baseAssetAmount: bigint;
  readonly baseAssetAmountFilled: bigint;
  readonly positionBaseAmount: bigint;
}

/** Base amount left, 1e9, a reduce-only order limited by the opposite position: the size in L2. May be negative. */
export function clampedSize(order: Sized): bigint {
  const { baseAssetAmount: amount, positionBaseAmount: position } = order;
  if (!order.reduceOnly) return amount - order.baseAssetAmountFilled;
  const reducible = order.direction === 'long' ? -position : position;
  const bound = reducible > 0n ? reducible : 0n;
  return (bound < amount ? bound : amount) - order.baseAssetAmountFilled;
}
