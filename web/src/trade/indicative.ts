// The book with indicative quotes over it. The gateway sends it whole, without a sequence.

import { feed } from '../state/book-feed.ts';
import { indicativeBook } from './book-view.ts';
import { levelsOf } from './whole-levels.ts';

/** Follows the book of a market until the returned function is called. */
export function followIndicative(market: string, marketType: 'perp' | 'spot'): () => void {
  indicativeBook.value = null;
  const channel = feed?.orderbook({ market, marketType, indicative: true });
  channel?.on('data', ({ bids, asks, slot }) => {
    indicativeBook.value = {
      ...{ market, slot, epoch: null, seq: null, from: 'indicative' },
      ...{ bids: levelsOf(bids), asks: levelsOf(asks) },
      ...{ receivedAtMs: Date.now(), receivedAt: performance.now() },
    };
  });
  return () => channel?.close();
}
