// `window.slotbook`: what the page shows, for scripts in the console and for tests (web/README.md).

import { effect } from '@preact/signals';
import { onFrame } from './state/clock.ts';
import { drawn } from './trade/book-view.ts';
import { displayedLadder } from './trade/ladder.tsx';

const KEPT = 20_000;

interface Timings {
  /** Milliseconds of drawing, one a frame. */
  readonly work: number[];
  /** Milliseconds from the receipt of a book's newest message to the end of the frame that shows it. */
  readonly toPixels: number[];
}

const timings: Timings = { work: [], toPixels: [] };

function keep(list: number[], value: number): void {
  if (list.length === KEPT) list.shift();
  list.push(value);
}

onFrame((workMs) => keep(timings.work, workMs));
let lastReceivedAt = 0;
/** Milliseconds from the opening of the page to the first frame with a book. */
let firstDrawnMs: number | null = null;
effect(() => {
  const book = drawn.value?.book;
  if (!book || book.receivedAt === lastReceivedAt) return;
  lastReceivedAt = book.receivedAt;
  firstDrawnMs ??= performance.now();
  keep(timings.toPixels, performance.now() - book.receivedAt);
});

function ladder() {
  const displayed = displayedLadder.current;
  if (!displayed) return null;
  const { market, slot, epoch, seq, from } = displayed.book;
  const rowsOf = (side: 'bids' | 'asks') =>
    displayed[side].map(({ price, size, sources }) => ({
      price: String(price),
      size: String(size),
      sources: Object.fromEntries(Object.entries(sources).map(([name, part]) => [name, String(part)])),
    }));
  return { market, slot, epoch, seq, from, bids: rowsOf('bids'), asks: rowsOf('asks') };
}

declare global {
  interface Window {
    slotbook: { readonly ladder: typeof ladder; readonly timings: Timings; firstDrawnMs(): number | null };
  }
}

window.slotbook = { ladder, timings, firstDrawnMs: () => firstDrawnMs };
