// The lists of a book, of its engine and of a reader.

import type { BookEngine, BookView } from '../../../../processors/book/index.ts';

/** Levels and orders of both sides that the engine has published. */
export function publishedLists(engine: BookEngine) {
  const { bids, asks, bidOrders, askOrders } = engine.snapshot();
  return { bids, asks, bidOrders, askOrders };
}

/** The same of a reader's replica. */
export function replicaLists(view: BookView) {
  const { bids, asks } = view.l2(Number.MAX_SAFE_INTEGER);
  const l3 = view.l3();
  return { bids, asks, bidOrders: l3.bids, askOrders: l3.asks };
}
