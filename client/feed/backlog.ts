// The unread messages of one slow reader of books. It holds names of changed entries, never copies of messages. It has no more
// of them than the book has entries: beyond that the whole book is the shorter answer.

import type { BookDiffMessage, BookOrderRef } from '../../schemas/portable.ts';
import { type BookChangeEvent, type BookEvent, LiveBook, type StaleReason } from './live-book.ts';
import { idOf, type SideName } from './sides.ts';

/** Entries of a small book that one change may name. */
const ENTRIES_MIN = 64;

interface Pending {
  isReplaced: boolean;
  readonly bids: Set<bigint>;
  readonly asks: Set<bigint>;
  readonly orders: Map<string, BookOrderRef>;
  revert: number | null;
}

interface Reading {
  readonly book: LiveBook;
  pending: Pending | null;
  staleReason: StaleReason | null;
  /** State of the reader: whether it has had a snapshot, and whether it was given `stale` last. */
  isSeen: boolean;
  isStaleForReader: boolean;
}

export class Backlog {
  readonly #readings = new Map<string, Reading>();
  /** Streams with something to read, longest waiting first. */
  readonly #waiting = new Set<string>();

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  snapshot(book: LiveBook): void {
    const reading = this.#of(book);
    reading.staleReason = null;
    reading.pending = { ...nothing(), isReplaced: true };
    this.#waiting.add(book.stream);
  }

  change(book: LiveBook, message: BookDiffMessage): void {
    const reading = this.#of(book);
    this.#waiting.add(book.stream);
    reading.pending ??= nothing();
    const { pending } = reading;
    if (pending.isReplaced) return;
    const { revert } = message;
    if (revert !== undefined) pending.revert = Math.min(pending.revert ?? revert, revert);
    if ('gone' in message) for (const reference of message.gone ?? []) pending.orders.set(idOf(reference), reference);
    for (const side of ['bids', 'asks'] as const) {
      for (const entry of message[side] ?? []) {
        if ('maker' in entry) pending.orders.set(idOf(entry), entry);
        else pending[side].add(BigInt(entry[0]));
      }
    }
    if (sizeOf(pending) > Math.max(ENTRIES_MIN, entriesOf(book))) reading.pending = { ...nothing(), isReplaced: true };
  }

  resumed(book: LiveBook): void {
    const reading = this.#of(book);
    reading.staleReason = null;
    // The reader began while the book was stale.
    if (!reading.isSeen) this.snapshot(book);
    if (hasMore(reading)) this.#waiting.add(book.stream);
    else this.#waiting.delete(book.stream);
  }

  stale(book: LiveBook, reason: StaleReason): void {
    const reading = this.#of(book);
    reading.staleReason = reason;
    // A damaged book has no changes to show: a snapshot follows.
    if (reason !== 'disconnected') reading.pending = null;
    if (hasMore(reading)) this.#waiting.add(book.stream);
    else this.#waiting.delete(book.stream);
  }

  /** The next event; null when there is none. */
  take(): BookEvent | null {
    for (const stream of this.#waiting) {
      const reading = this.#readings.get(stream);
      const event = reading ? nextOf(reading) : null;
      if (!reading || event === null || !hasMore(reading)) this.#waiting.delete(stream);
      if (event) return event;
    }
    return null;
  }

  #of(book: LiveBook): Reading {
    let reading = this.#readings.get(book.stream);
    if (reading?.book !== book) {
      reading = { book, pending: null, staleReason: null, isSeen: false, isStaleForReader: false };
      this.#readings.set(book.stream, reading);
    }
    return reading;
  }
}

function hasMore({ pending, staleReason, isSeen, isStaleForReader }: Reading): boolean {
  if (!isSeen) return pending !== null && staleReason === null;
  return pending !== null || (staleReason !== null) !== isStaleForReader;
}

function nextOf(reading: Reading): BookEvent | null {
  const { book, pending, staleReason } = reading;
  if (staleReason === null && reading.isStaleForReader && !pending?.isReplaced) {
    reading.isStaleForReader = false;
    return { type: 'resumed', book };
  }
  if (pending && !(pending.isReplaced && staleReason !== null)) {
    reading.pending = null;
    if (!pending.isReplaced) return changeOf(book, pending);
    reading.isSeen = true;
    reading.isStaleForReader = false;
    return { type: 'snapshot', book };
  }
  if (staleReason === null || reading.isStaleForReader || !reading.isSeen) return null;
  reading.isStaleForReader = true;
  return { type: 'stale', book, reason: staleReason };
}

function changeOf(book: LiveBook, pending: Pending): BookChangeEvent {
  const levels = (side: SideName) => [...pending[side]].map((price) => LiveBook.levelAt(book, side, price));
  const found = [...pending.orders.values()].map((reference) => ({
    reference,
    order: LiveBook.orderOf(book, reference),
  }));
  return {
    type: 'change',
    book,
    bids: levels('bids'),
    asks: levels('asks'),
    orders: found.flatMap(({ order }) => (order ? [order] : [])),
    gone: found.flatMap(({ reference, order }) => (order ? [] : [goneOf(reference)])),
    revert: pending.revert,
  };
}

/** Identifies a removed order. `cause` is the removing transaction; an entry's own cause is its last write. */
function goneOf(reference: BookOrderRef): BookOrderRef {
  if (!('price' in reference)) return reference;
  const { maker, orderId, source } = reference;
  return { maker, orderId, source };
}

function nothing(): Pending {
  return { isReplaced: false, bids: new Set(), asks: new Set(), orders: new Map(), revert: null };
}

function sizeOf({ bids, asks, orders }: Pending): number {
  return bids.size + asks.size + orders.size;
}

function entriesOf(book: LiveBook): number {
  return book.bids.length + book.asks.length + book.orders('bids').length + book.orders('asks').length;
}
