// All books of one partition of the `book` topic: records in, encoded view records out. Pure, so that a replay of the
// same records writes the same bytes.

import {
  type BookCheck,
  type BookOrders,
  type BookTime,
  type BookViewDiff,
  type DeadLetter,
  decodeMessage,
  encodeInSteps,
  encodeMessage,
  type MarketRef,
  marketKey,
  type OrderEvidence,
  orderEvidence,
  TOPICS,
} from '../../schemas/index.ts';
import { restoreEngine, restoreInSteps, saveInSteps } from './checkpoint.ts';
import { missingIn } from './difference.ts';
import { BookEngine, type BookMessage } from './engine.ts';
import { type IgnoredMakers, NOBODY } from './ignored.ts';
import type { OrderTable } from './orders.ts';
import { Comparison } from './shadow/comparison.ts';
import { ordersOf } from './shadow/digest.ts';
import { finish, type Steps } from './steps.ts';
import { StillBook } from './still.ts';
import { BookView } from './view.ts';

export interface InputRecord {
  readonly offset: bigint;
  readonly value: Uint8Array;
}

export type BookOutput =
  | { readonly kind: 'diff'; readonly key: string; readonly value: Uint8Array }
  | { readonly kind: 'market'; readonly key: string; readonly value: Uint8Array }
  | {
      readonly kind: 'snapshot';
      readonly key: string;
      readonly value: Uint8Array;
      readonly slot: number;
      readonly epoch: number;
    }
  | { readonly kind: 'dead'; readonly key: string; readonly value: Uint8Array }
  | { readonly kind: 'check'; readonly key: string; readonly value: Uint8Array; readonly comparison: Comparison }
  | {
      readonly kind: 'repair';
      readonly key: string;
      readonly value: Uint8Array;
      readonly orders: Steps<RepairedOrders>;
    };

/** What the repair of a book that had not stood its comparison changed among its orders, up to EVIDENCE_MAX of each. */
export interface RepairedOrders {
  readonly onlyHere: readonly OrderEvidence[];
  readonly onlyThere: readonly OrderEvidence[];
}

export interface Book {
  readonly key: string;
  engine: BookEngine;
  /** Offset of the first record not yet applied. */
  next: bigint;
  /** Offset from which a restart must read for this book; its first record while it was never saved. */
  savedNext: bigint;
  /** Newest description published, without its slot. */
  described: string;
  /** A reader of what is published, where that is followed. */
  readonly replica: Replica | null;
  /** The newest one since the last repair. */
  comparison: Comparison | null;
  /** Orders before its repair, of a book that did not stand its comparison. */
  suspected: OrderTable | null;
}

/** What the changes published have come to, but for the newest that no reader waits for. */
interface Replica {
  readonly view: BookView;
  readonly pending: BookViewDiff[];
}

type PartitionMessage =
  | BookMessage
  | { readonly name: 'BookCheck'; readonly value: BookCheck }
  | { readonly name: 'BookTime'; readonly value: BookTime };

interface BadRecord {
  readonly name: 'bad';
  readonly error: unknown;
}

/** Records that are decoded, or applied, in one step where nothing larger comes of them. */
const STEP_RECORDS = 16;
const BOOK_MESSAGES: ReadonlySet<string> = new Set(TOPICS.book.schemas);
/** Messages that may change a market's description. */
const DESCRIBES: ReadonlySet<string> = new Set(['BookMarket', 'BookOracle', 'BookSnapshotBegin', 'BookSnapshotEnd']);

export class PartitionBooks {
  readonly partition: number;
  readonly books = new Map<string, Book>();
  /** Offset of the first record of the partition not yet applied. */
  next: bigint;
  /** Newest slot seen. */
  slot = 0;
  /** Epochs that could not be continued, by market key; see `abandon`. */
  private readonly lastEpochs = new Map<string, number>();
  private isLost = false;

  private readonly followsPublished: boolean;
  private readonly ignored: IgnoredMakers;

  /**
   * `followsPublished`: comparisons look at what was published too; `settle` is to be called after each `apply`. `ignored`:
   * makers whose orders are not visible.
   */
  constructor(partition: number, next: bigint, followsPublished = false, ignored = NOBODY) {
    this.partition = partition;
    this.next = next;
    this.followsPublished = followsPublished;
    this.ignored = ignored;
  }

  /**
   * Takes back a book saved by `save`, which had applied everything before `next`. True when it goes on in its epoch; false
   * when it begins one above `epochAfter`, since it was saved with other makers ignored. Throws CheckpointError.
   */
  restore(bytes: Uint8Array, next: bigint, epochAfter = 0): boolean {
    const engine = restoreEngine(bytes, this.ignored, epochAfter);
    const key = marketKey(engine.ref);
    this.books.set(key, this.newBook(engine, next, describe(engine)));
    if (engine.slot > this.slot) this.slot = engine.slot;
    return engine.state.epoch > 0;
  }

  /** Drops books whose next records are no longer kept; they begin a later epoch. */
  abandon(earliest: bigint): readonly string[] {
    const lost = [...this.books.values()].filter(({ next }) => next < earliest);
    for (const { key, engine } of lost) {
      this.lastEpochs.set(key, engine.lastEpoch);
      this.books.delete(key);
    }
    return lost.map(({ key }) => key);
  }

  /** Gives up a book whose saved state cannot be read: it is made anew of all records there are, in a later epoch. */
  lose(key: string, lastEpoch: number): void {
    this.lastEpochs.set(key, lastEpoch);
    this.isLost = true;
  }

  /** Where to begin to read after a restart, given the earliest record that is kept. */
  readsFrom(earliest: bigint): bigint {
    return this.isLost ? earliest : this.lowWatermark();
  }

  /** State of a book between two records: as it is now, whatever comes between the steps. */
  save({ engine }: Book): Steps<Uint8Array> {
    return saveInSteps(new StillBook(engine));
  }

  /** Where a restart must begin, given what has been saved so far. */
  lowWatermark(): bigint {
    let low = this.next;
    for (const { savedNext } of this.books.values()) if (savedNext < low) low = savedNext;
    return low;
  }

  /**
   * Applies records in their order: what they publish goes to `outputs`. However records are cut into batches, the same
   * is published. Never throws for a bad record.
   */
  apply(records: readonly InputRecord[], outputs: BookOutput[]): void {
    finish(this.applyInSteps(records, outputs));
  }

  /** As `apply`; nothing else may be done with the books before the end. */
  *applyInSteps(records: readonly InputRecord[], outputs: BookOutput[]): Steps<void> {
    const messages: (PartitionMessage | BadRecord)[] = [];
    for (const record of records) {
      messages.push(decode(record));
      if (messages.length % STEP_RECORDS === 0) yield;
    }
    this.foresee(messages);
    for (let i = 0; i < records.length; i++) {
      yield* this.applyOne(records[i] as InputRecord, messages[i] as PartitionMessage | BadRecord, outputs);
      if (i % STEP_RECORDS === STEP_RECORDS - 1) yield;
    }
  }

  /** Follows what was published, when readers have it. */
  settle(): void {
    // While a comparison is under way a replica waits where it stood when that began.
    for (const { replica, comparison } of this.books.values()) {
      if (replica && (comparison?.isOver ?? true)) drain(replica);
    }
  }

  private newBook(engine: BookEngine, next: bigint, described: string): Book {
    const key = marketKey(engine.ref);
    const replica = this.followsPublished ? { view: new BookView(), pending: [] } : null;
    if (engine.state.seq > 0) replica?.view.apply(engine.snapshot());
    return { key, engine, next, savedNext: next, described, replica, comparison: null, suspected: null };
  }

  private foresee(messages: readonly (PartitionMessage | BadRecord)[]): void {
    const orders = new Map<string, BookOrders[]>();
    for (const message of messages) {
      if (message.name !== 'BookOrders') continue;
      const key = marketKey(message.value);
      const known = orders.get(key);
      if (known) known.push(message.value);
      else orders.set(key, [message.value]);
    }
    for (const [key, values] of orders) this.books.get(key)?.engine.foresee(values);
  }

  private *applyOne(record: InputRecord, message: PartitionMessage | BadRecord, outputs: BookOutput[]): Steps<void> {
    const isNew = record.offset >= this.next;
    if (isNew) this.next = record.offset + 1n;
    if (message.name === 'bad') {
      // A record behind the saved position was parked when it was first read.
      if (isNew) outputs.push(this.deadLetter(record, message.error));
      return;
    }
    // Block times are for the samples; a book is made of slots.
    if (message.name === 'BookTime') return;
    if (message.name === 'BookSlot') {
      if (message.value.slot > this.slot) this.slot = message.value.slot;
      for (const book of this.books.values()) {
        if (this.applyTo(book, record.offset, message, outputs)) yield* this.tellSnapshot(book, message, outputs);
      }
      return;
    }
    const book = this.bookOf(message.value, record.offset);
    // Whatever went wrong between the orders and what is kept of them is made anew from the orders.
    if (message.name === 'BookRepair' && record.offset >= book.next) {
      book.engine = yield* restoreInSteps(yield* this.save(book), this.ignored);
    }
    if (message.name === 'BookCheck') this.check(book, record, message.value, outputs);
    else if (this.applyTo(book, record.offset, message, outputs)) yield* this.tellSnapshot(book, message, outputs);
  }

  /** True when a snapshot is to be told before what else follows from the message. */
  private applyTo(book: Book, offset: bigint, message: BookMessage, outputs: BookOutput[]): boolean {
    // A book restored from a later checkpoint than its neighbours' has this record behind it.
    if (offset < book.next) return false;
    book.next = offset + 1n;
    if (message.name === 'BookSnapshotBegin' && isSuspect(book)) book.suspected = book.engine.orders.table.still();
    const { engine, key } = book;
    const diff = engine.apply(message);
    if (diff) {
      outputs.push({ kind: 'diff', key, value: encodeMessage('BookViewDiff', diff) });
      book.replica?.pending.push(diff);
    }
    if (engine.takeSnapshotDue()) return true;
    this.tellOn(book, message, outputs);
    return false;
  }

  private *tellSnapshot(book: Book, message: BookMessage, outputs: BookOutput[]): Steps<void> {
    const { engine, key } = book;
    const value = yield* encodeInSteps('BookViewSnapshot', yield* engine.snapshotInSteps());
    outputs.push({ kind: 'snapshot', key, value, slot: engine.slot, epoch: engine.state.epoch });
    this.tellOn(book, message, outputs);
  }

  private tellOn(book: Book, message: BookMessage, outputs: BookOutput[]): void {
    if (book.described === '' || DESCRIBES.has(message.name)) this.describeTo(book, outputs);
    if (message.name === 'BookRepair') this.repaired(book, encodeMessage('BookRepair', message.value), outputs);
  }

  private repaired(book: Book, value: Uint8Array, outputs: BookOutput[]): void {
    const { suspected, key } = book;
    book.comparison?.finish();
    book.comparison = null;
    book.suspected = null;
    if (suspected === null) return;
    outputs.push({ kind: 'repair', key, value, orders: repairedOrders(suspected, book.engine.orders.table.still()) });
  }

  // Changes nothing of the book: a difference is put right by records that ingest writes when it hears of it. The comparison is
  // with the book as it stands here, whenever it is made.
  private check(book: Book, record: InputRecord, wanted: BookCheck, outputs: BookOutput[]): void {
    const { offset, value } = record;
    if (offset < book.next) return;
    book.next = offset + 1n;
    const { engine, replica, key } = book;
    book.comparison?.finish();
    if (replica) drain(replica);
    const comparison = new Comparison(new StillBook(engine), wanted, replica?.view.head ? replica.view : null);
    book.comparison = comparison;
    outputs.push({ kind: 'check', key, value, comparison });
  }

  private bookOf(market: MarketRef, offset: bigint): Book {
    const key = marketKey(market);
    const known = this.books.get(key);
    if (known) return known;
    const engine = new BookEngine(market, this.lastEpochs.get(key) ?? 0, this.ignored);
    const book = this.newBook(engine, offset, '');
    this.books.set(key, book);
    return book;
  }

  private describeTo(book: Book, outputs: BookOutput[]): void {
    const described = describe(book.engine);
    if (described === book.described) return;
    book.described = described;
    outputs.push({ kind: 'market', key: book.key, value: encodeMessage('MarketView', book.engine.marketView()) });
  }

  private deadLetter(record: InputRecord, error: unknown): BookOutput {
    const letter: DeadLetter = {
      reason: 'book-record',
      detail: error instanceof Error ? error.message : String(error),
      slot: this.slot,
      origin: `${TOPICS.book.name}/${this.partition}/${record.offset}`,
      bytes: record.value,
    };
    return { kind: 'dead', key: letter.reason, value: encodeMessage('DeadLetter', letter) };
  }
}

function decode({ value }: InputRecord): PartitionMessage | BadRecord {
  try {
    const decoded = decodeMessage(value);
    if (!BOOK_MESSAGES.has(decoded.name)) throw new RangeError(`${decoded.name} does not belong into a book`);
    return decoded as PartitionMessage;
  } catch (error) {
    return { name: 'bad', error };
  }
}

/** Whether the book did not stand its newest comparison, which is brought to its end when it is not yet. */
function isSuspect({ comparison }: Book): boolean {
  return comparison !== null && !comparison.finish().isEqual;
}

function* repairedOrders(before: OrderTable, after: OrderTable): Steps<RepairedOrders> {
  const were = yield* ordersOf(before);
  const are = yield* ordersOf(after);
  return {
    onlyHere: (yield* missingIn(are, were)).map(orderEvidence),
    onlyThere: (yield* missingIn(were, are)).map(orderEvidence),
  };
}

function drain({ view, pending }: Replica): void {
  for (const diff of pending) view.apply(diff);
  pending.length = 0;
}

// What a description says apart from its slot, as a text to compare.
function describe(engine: BookEngine): string {
  const { slot: _, oracle, ...rest } = engine.marketView();
  return [...Object.values(rest), ...Object.values(oracle ?? {})].map(String).join('\n');
}
