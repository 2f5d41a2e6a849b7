// Comparable texts of the published book and of a keeper's book.

import { base58 } from '../../../api/http/base58.ts';
import type { BookKeeper } from '../../../client/index.ts';
import type { BookView } from '../../../processors/book/index.ts';

/** The published book that a subscriber of this level and depth must have. */
export function dumpView(view: BookView, level: 'l2' | 'l3', depth = Number.MAX_SAFE_INTEGER): string {
  if (level === 'l2') {
    const { bids, asks } = view.l2(depth);
    const lines = (levels: typeof bids): string[] =>
      levels.map(({ price, dlob, vamm }) => `${price} ${dlob} ${vamm} ${dlob + vamm}`);
    return JSON.stringify({ bids: lines(bids), asks: lines(asks) });
  }
  const { bids, asks } = view.l3();
  const lines = (orders: typeof bids): string[] => {
    const published = orders.filter(({ size }) => size > 0n);
    const prices = new Set([...new Set(published.map(({ price }) => price))].slice(0, depth));
    return published
      .filter(({ price }) => prices.has(price))
      .map(({ price, size, maker, orderId, source }) => `${price} ${size} ${base58(maker)} ${orderId} ${source}`);
  };
  return JSON.stringify({ bids: lines(bids), asks: lines(asks) });
}

/** A keeper's book in the same form. */
export function dumpKeeper(keeper: BookKeeper): string {
  if (keeper.level === 'l2') {
    const lines = (side: 'bids' | 'asks'): string[] =>
      keeper
        .levels(side)
        .map(({ price, size, sources }) => `${price} ${sources.dlob ?? 0n} ${sources.vamm ?? 0n} ${size}`);
    return JSON.stringify({ bids: lines('bids'), asks: lines('asks') });
  }
  const lines = (side: 'bids' | 'asks'): string[] =>
    keeper
      .orders(side)
      .map(({ price, size, maker, orderId, source }) => `${price} ${size} ${maker} ${orderId} ${source}`);
  return JSON.stringify({ bids: lines('bids'), asks: lines('asks') });
}
