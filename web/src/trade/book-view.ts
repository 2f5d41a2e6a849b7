// The book that the ladder shows: the live book, the book with indicative quotes, or a book of an earlier slot.

import { computed, signal } from '@preact/signals';
import { type BookState, books } from '../state/book-feed.ts';
import { stored } from '../state/stored.ts';
import { travelBook } from '../travel/travel.ts';
import type { DisplayedBook } from './displayed-book.ts';
import type { Level, Side } from './rows.ts';

/** Width of a row, 1e6, by market; absent: every level. */
export const groups = stored<Readonly<Record<string, string>>>('groups', {});
export const showsIndicative = stored('indicative', false);
/** The reader's own accounts, base58. */
export const ownAccounts = stored<readonly string[]>('accounts', []);

/** The book with indicative quotes over it; null while it is not followed. */
export const indicativeBook = signal<DisplayedBook | null>(null);

export const displayedBook = computed<DisplayedBook | null>(() => {
  if (travelBook.value) return travelBook.value;
  if (showsIndicative.value) return indicativeBook.value;
  const live = books.l2.value;
  return live && fromLive(live);
});

function fromLive({ keeper, market, epoch, seq, slot, receivedAtMs, receivedAt }: BookState): DisplayedBook {
  return {
    ...{ market, epoch, seq, slot, receivedAtMs, receivedAt, from: 'live' },
    // Views of the keeper's lists: read in the frame that draws them.
    bids: keeper.levels('bids') as readonly Level[],
    asks: keeper.levels('asks') as readonly Level[],
  };
}

/** Prices of the reader's own orders by side, as decimal text. */
export const ownPrices = computed<Readonly<Record<Side, ReadonlySet<string>>>>(() => {
  const own = new Set(ownAccounts.value);
  const book = books.l3.value;
  const pricesOf = (side: Side) =>
    new Set(
      own.size === 0 || !book
        ? []
        : book.keeper.orders(side).flatMap(({ maker, price }) => (own.has(maker) ? [`${price}`] : [])),
    );
  return { bids: pricesOf('bids'), asks: pricesOf('asks') };
});

/** The book of the last drawn frame, for scripts and tests (web/README.md). */
export const drawn = signal<{ readonly book: DisplayedBook } | null>(null);
