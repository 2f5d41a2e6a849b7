// The book of a user, and four kinds of event. Missing and damaged messages never show.

import type { BookDiffMessage, BookOrderRef, MarketType } from '../../schemas/portable.ts';
import type { BookKeeper } from './keeper.ts';
import { type KeptLevel, type KeptOrder, levelOf, orderOf, type SideName } from './sides.ts';

/** A book that is kept up to date. The same object for as long as the subscription lasts. */
export class LiveBook {
  readonly stream: string;
  readonly marketType: MarketType;
  readonly #keeper: BookKeeper;
  #isCurrent = false;

  constructor(stream: string, marketType: MarketType, keeper: BookKeeper) {
    this.stream = stream;
    this.marketType = marketType;
    this.#keeper = keeper;
  }

  /** Symbol in upper case. */
  get market(): string {
    return this.#keeper.market;
  }

  get level(): 'l2' | 'l3' {
    return this.#keeper.level;
  }

  /** False while the book may be behind the server's or wrong. Its levels are then the last known ones. */
  get isCurrent(): boolean {
    return this.#isCurrent;
  }

  /** Newest chain slot in the book. */
  get slot(): number {
    return this.#keeper.slot;
  }

  /** Unix milliseconds at which the server published this state. */
  get ts(): number {
    return this.#keeper.ts;
  }

  /** Version of the book; null while it is known to be damaged. */
  get position(): BookKeeper['position'] {
    return this.#keeper.position;
  }

  /** Best first; empty in a book of level l3. */
  get bids(): readonly KeptLevel[] {
    return this.#keeper.levels('bids');
  }

  get asks(): readonly KeptLevel[] {
    return this.#keeper.levels('asks');
  }

  /** In queue order; empty in a book of level l2. */
  orders(side: SideName): readonly KeptOrder[] {
    return this.#keeper.orders(side);
  }

  /** For the client: whether the book is current. */
  static setCurrent(book: LiveBook, isCurrent: boolean): void {
    book.#isCurrent = isCurrent;
  }

  /** For the client: the level of a price now, with size 0 when there is none. */
  static levelAt(book: LiveBook, side: SideName, price: bigint): KeptLevel {
    return book.#keeper.level2(side, price) ?? { price, size: 0n, sources: {} };
  }

  /** For the client: an order now. */
  static orderOf(book: LiveBook, reference: BookOrderRef): (KeptOrder & { readonly side: SideName }) | null {
    return book.#keeper.order(reference);
  }
}

/** The whole book is new: the first one, or one that replaces another. */
export interface BookSnapshotEvent {
  readonly type: 'snapshot';
  readonly book: LiveBook;
}

/** Entries changed. The book has them already. */
export interface BookChangeEvent {
  readonly type: 'change';
  readonly book: LiveBook;
  /** Changed levels, absolute; size 0 when the level is gone. Empty in a book of level l3. */
  readonly bids: readonly KeptLevel[];
  readonly asks: readonly KeptLevel[];
  /** Changed and new orders, absolute. Empty in a book of level l2. */
  readonly orders: readonly (KeptOrder & { readonly side: SideName })[];
  /** Orders that left. */
  readonly gone: readonly BookOrderRef[];
  /** First abandoned slot that the change undoes, at commitment `processed`; null for any other change. */
  readonly revert: number | null;
}

/** The book is current again and missed nothing: missed changes follow as `change`. */
export interface BookResumedEvent {
  readonly type: 'resumed';
  readonly book: LiveBook;
}

/**
 * The book may be behind or wrong until `resumed` or `snapshot`: the connection is lost, a message is missing, or the book
 * differs from the server's. The client repairs it.
 */
export interface BookStaleEvent {
  readonly type: 'stale';
  readonly book: LiveBook;
  readonly reason: StaleReason;
}

export type StaleReason = 'disconnected' | 'missing' | 'different';
export type BookEvent = BookSnapshotEvent | BookChangeEvent | BookResumedEvent | BookStaleEvent;

/** A change straight from a message. Its lists are made when they are read. */
export class MessageChange implements BookChangeEvent {
  readonly type = 'change';
  readonly book: LiveBook;
  readonly #message: BookDiffMessage;

  constructor(book: LiveBook, message: BookDiffMessage) {
    this.book = book;
    this.#message = message;
  }

  get bids(): readonly KeptLevel[] {
    return this.#levels('bids');
  }

  get asks(): readonly KeptLevel[] {
    return this.#levels('asks');
  }

  get orders(): readonly (KeptOrder & { readonly side: SideName })[] {
    return (['bids', 'asks'] as const).flatMap((side) =>
      (this.#message[side] ?? []).flatMap((entry) => ('maker' in entry ? [{ ...orderOf(entry), side }] : [])),
    );
  }

  get gone(): readonly BookOrderRef[] {
    return 'gone' in this.#message ? (this.#message.gone ?? []) : [];
  }

  get revert(): number | null {
    return this.#message.revert ?? null;
  }

  #levels(side: SideName): readonly KeptLevel[] {
    return (this.#message[side] ?? []).flatMap((entry) => ('maker' in entry ? [] : [levelOf(entry)]));
  }
}
