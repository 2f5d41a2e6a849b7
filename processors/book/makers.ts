// Best makers of a side: distinct owners in walk order (docs/internals/book-rules.md, "Best makers").

import { keyText, type ViewOrder } from '../../schemas/index.ts';
import type { Side } from './ladder.ts';
import { isBetter } from './levels.ts';
import { FLOATING } from './orders.ts';

/** Makers in a snapshot, and the default of a request. */
export const BEST_MAKERS = 4;

/**
 * Walks orders (in L3 walk order) until it has `limit` owners. Floating orders use the market-maker oracle here: their
 * prices move by `shift` = market-maker price - exchange price, but never below 1 (1e6).
 */
export function bestMakers(side: Side, orders: () => Iterable<ViewOrder>, limit: number, shift: number): Uint8Array[] {
  const found: Uint8Array[] = [];
  const seen = new Set<string>();
  const walk = shift === 0 ? orders() : shifted(side, orders, shift);
  if (limit <= 0) return found;
  for (const { maker } of walk) {
    const key = keyText(maker);
    if (seen.has(key)) continue;
    seen.add(key);
    found.push(maker);
    if (found.length >= limit) break;
  }
  return found;
}

function isFloating(order: ViewOrder): boolean {
  return order.rank[0] === FLOATING;
}

// All floating orders move by the same amount, so both kinds stay sorted and only need a merge.
function* shifted(side: Side, orders: () => Iterable<ViewOrder>, shift: number): Generator<ViewOrder> {
  const floating = only(orders(), isFloating);
  const fixed = only(orders(), (order) => !isFloating(order));
  let left = floating.next();
  let right = fixed.next();
  while (!left.done || !right.done) {
    const price = left.done ? 0 : Math.max(left.value.price + shift, 1);
    if (!left.done && (right.done || !isBetter(side, right.value.price, price))) {
      yield left.value;
      left = floating.next();
    } else if (!right.done) {
      yield right.value;
      right = fixed.next();
    }
  }
}

function* only(orders: Iterable<ViewOrder>, keep: (order: ViewOrder) => boolean): Generator<ViewOrder> {
  for (const order of orders) if (keep(order)) yield order;
}
