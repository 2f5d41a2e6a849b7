// All books of one partition of the `book` topic: takes records, returns encoded view records. Pure, so a replay of the
// same records writes the same bytes.

import {
  type BookCheck,
  type BookOrders,
  type BookTime,
  type BookViewDiff,
  decodeMessage,
  encodeInSteps,
  encodeMessage,
  type MarketRef,
  type MarketView,
  marketKey,
  type OrderEvidence,
  orderEvidence,
  TOPICS,
} from '../../schemas/index.ts';
import { deadLetter } from '../follow/dead-letter.ts';
import { restoreEngine, restoreInSteps, saveInSteps } from './checkpoint.ts';
import { missingIn } from './difference.ts';
import { BookEngine, type BookMessage } from './engine.ts';
import { FrozenBook } from './frozen.ts';
import { type IgnoredMakers, NOBODY } from './ignored.ts';
import type { OrderTable } from './orders.ts';
import { Comparison } from './shadow/comparison.ts';
import { ordersOf } from './shadow/digest.ts';
import { finish, type Steps } from './steps.ts';
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

/** Orders that the repair of a book changed after a failed comparison, up to EVIDENCE_MAX of each. */
export interface RepairedOrders {
  readonly onlyHere: readonly OrderEvidence[];
  readonly onlyThere: readonly OrderEvidence[];
}

export interface Book {
  readonly key: string;
  engine: BookEngine;
  /** Offset of the first record not yet applied. */
  next: bigint;
  /** Offset from which a restart must read for this book; its first record before the first save. */
  savedNext: bigint;
  /** Newest description published, without its slot. */
  described: string;
  /** A reader of the published changes; null when comparisons do not include them. */
  readonly replica: Replica | null;
  /** The newest comparison since the last repair. */
  comparison: Comparison | null;
  /** Orders before the repair, when the comparison failed. */
  suspected: OrderTable | null;
}

/** A book built from the published changes, except the newest ones that are not written yet. */
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

/** Records decoded or applied in one step. */
const STEP_RECORDS = 16;
const BOOK_MESSAGES: ReadonlySet<string> = new Set([...TOPICS.book.schemas, ...TOPICS.processedBook.schemas]);
/** Messages that may change a market's description. */
const DESCRIBES: ReadonlySet<string> = new Set(['BookMarket', 'BookOracle', 'BookSnapshotBegin', 'BookSnapshotEnd']);

export class PartitionBooks {
  readonly partition: number;
  readonly books = new Map<string, Book>();
  /** Offset of the first record of the partition not yet applied. */
  next: bigint;
  /** Newest slot seen. */
  slot = 0;
  /** Last epochs of books that could not continue, by market key; see `abandon`. */
  readonly #lastEpochs = new Map<string, number>();
  #isLost = false;
  /** End of the records given so far in this life. */
  #given = 0n;

  readonly #followsPublished: boolean;
  readonly #ignored: IgnoredMakers;

  /**
   * `followsPublished`: comparisons include the published changes; call `settle` after each `apply`. `ignored`: makers
   * whose orders are not visible.
   */
  constructor(partition: number, next: bigint, followsPublished = false, ignored = NOBODY) {
    this.partition = partition;
    this.next = next;
    this.#followsPublished = followsPublished;
    this.#ignored = ignored;
  }

  /**
   * Restores a book of `save`, which has applied everything before `next`. True when it continues its epoch; false when
   * other makers are ignored, and it begins an epoch above `epochAfter`. Throws CheckpointError.
   */
  restore(bytes: Uint8Array, next: bigint, epochAfter = 0): boolean {
    const engine = restoreEngine(bytes, this.#ignored, epochAfter);
    const key = marketKey(engine.ref);
    this.books.set(key, this.#newBook(engine, next, describe(engine.marketView())));
    if (engine.slot > this.slot) this.slot = engine.slot;
    return engine.state.epoch > 0;
  }

  /** Drops books whose next records the log no longer has; they begin a later epoch. */
  abandon(earliest: bigint): readonly string[] {
    const lost = [...this.books.values()].filter(({ next }) => next < earliest);
    for (const { key, engine } of lost) {
      this.#lastEpochs.set(key, engine.lastEpoch);
      this.books.delete(key);
    }
    return lost.map(({ key }) => key);
  }

  /** Takes records from `end` on as new, because the partition lost those that it had there. Returns the books that have applied them. */
  rewind(end: bigint): readonly string[] {
    const ahead = [...this.books.values()].filter(({ next }) => next > end);
    for (const book of ahead) {
      book.next = end;
      if (book.savedNext > end) book.savedNext = end;
    }
    if (this.next > end) this.next = end;
    return ahead.map(({ key }) => key);
  }

  /** Drops a book with unreadable saved state: it is rebuilt from all records in a later epoch. */
  lose(key: string, lastEpoch: number): void {
    this.#lastEpochs.set(key, lastEpoch);
    this.#isLost = true;
  }

  /** Offset at which a restart begins, given the earliest record of the log. */
  readsFrom(earliest: bigint): bigint {
    return this.#isLost ? earliest : this.lowWatermark();
  }

  /** Bytes of a book's current state, while records may be applied between the steps. */
  save({ engine }: Book): Steps<Uint8Array> {
    return saveInSteps(new FrozenBook(engine));
  }

  /** Offset at which a restart must begin, given the saved books. */
  lowWatermark(): bigint {
    let low = this.next;
    for (const { savedNext } of this.books.values()) if (savedNext < low) low = savedNext;
    return low;
  }

  /** Applies records in order and adds their outputs, the same for any batches. Never throws for a bad record. */
  apply(records: readonly InputRecord[], outputs: BookOutput[]): void {
    finish(this.applyInSteps(records, outputs));
  }

  /** As `apply`; the books must not be used before the end. */
  *applyInSteps(records: readonly InputRecord[], outputs: BookOutput[]): Steps<void> {
    const [first, last] = [records[0], records.at(-1)];
    if (first && first.offset < this.#given) this.rewind(first.offset);
    if (last) this.#given = last.offset + 1n;
    const messages: (PartitionMessage | BadRecord)[] = [];
    for (const record of records) {
      messages.push(decode(record));
      if (messages.length % STEP_RECORDS === 0) yield;
    }
    this.#prefetch(messages);
    for (let i = 0; i < records.length; i++) {
      yield* this.#applyOne(records[i] as InputRecord, messages[i] as PartitionMessage | BadRecord, outputs);
      if (i % STEP_RECORDS === STEP_RECORDS - 1) yield;
    }
  }

  /** Applies written outputs to the replicas. Call it when they are in the log. */
  settle(): void {
    // During a comparison its replica waits at the state of the comparison's start.
    for (const { replica, comparison } of this.books.values()) {
      if (replica && (comparison?.isOver ?? true)) drain(replica);
    }
  }

  #newBook(engine: BookEngine, next: bigint, described: string): Book {
    const key = marketKey(engine.ref);
    const replica = this.#followsPublished ? { view: new BookView(), pending: [] } : null;
    if (engine.state.seq > 0) replica?.view.apply(engine.snapshot());
    return { key, engine, next, savedNext: next, described, replica, comparison: null, suspected: null };
  }

  #prefetch(messages: readonly (PartitionMessage | BadRecord)[]): void {
    const orders = new Map<string, BookOrders[]>();
    for (const message of messages) {
      if (message.name !== 'BookOrders') continue;
      const key = marketKey(message.value);
      const known = orders.get(key);
      if (known) known.push(message.value);
      else orders.set(key, [message.value]);
    }
    for (const [key, values] of orders) this.books.get(key)?.engine.prefetch(values);
  }

  *#applyOne(record: InputRecord, message: PartitionMessage | BadRecord, outputs: BookOutput[]): Steps<void> {
    const isNew = record.offset >= this.next;
    if (isNew) this.next = record.offset + 1n;
    if (message.name === 'bad') {
      // An earlier run parked a bad record behind the saved offset.
      if (isNew) outputs.push(this.#deadLetter(record, message.error));
      return;
    }
    // Block times are for samples; books have slots only.
    if (message.name === 'BookTime') return;
    if (message.name === 'BookSlot' || message.name === 'BookRevert') {
      if (message.value.slot > this.slot) this.slot = message.value.slot;
      for (const book of this.books.values()) {
        if (this.#applyTo(book, record.offset, message, outputs)) yield* this.#publishSnapshot(book, message, outputs);
      }
      return;
    }
    const book = this.#bookOf(message.value, record.offset);
    // A repair rebuilds everything derived from the orders.
    if (message.name === 'BookRepair' && record.offset >= book.next) {
      book.engine = yield* restoreInSteps(yield* this.save(book), this.#ignored);
    }
    if (message.name === 'BookCheck') this.#check(book, record, message.value, outputs);
    else if (this.#applyTo(book, record.offset, message, outputs)) yield* this.#publishSnapshot(book, message, outputs);
  }

  /** True when a snapshot is to be published before the message's other outputs. */
  #applyTo(book: Book, offset: bigint, message: BookMessage, outputs: BookOutput[]): boolean {
    // A book restored from a later checkpoint than its neighbours has applied this record already.
    if (offset < book.next) return false;
    book.next = offset + 1n;
    if (message.name === 'BookSnapshotBegin' && isSuspect(book)) book.suspected = book.engine.orders.table.freeze();
    const { engine, key } = book;
    const diff = engine.apply(message);
    if (diff) {
      outputs.push({ kind: 'diff', key, value: encodeMessage('BookViewDiff', diff) });
      book.replica?.pending.push(diff);
    }
    if (engine.takeSnapshotDue()) return true;
    this.#publishChange(book, message, outputs);
    return false;
  }

  *#publishSnapshot(book: Book, message: BookMessage, outputs: BookOutput[]): Steps<void> {
    const { engine, key } = book;
    const value = yield* encodeInSteps('BookViewSnapshot', yield* engine.snapshotInSteps());
    outputs.push({ kind: 'snapshot', key, value, slot: engine.slot, epoch: engine.state.epoch });
    this.#publishChange(book, message, outputs);
  }

  #publishChange(book: Book, message: BookMessage, outputs: BookOutput[]): void {
    if (book.described === '' || DESCRIBES.has(message.name)) this.#describeTo(book, outputs);
    if (message.name === 'BookRepair') this.#repaired(book, encodeMessage('BookRepair', message.value), outputs);
  }

  #repaired(book: Book, value: Uint8Array, outputs: BookOutput[]): void {
    const { suspected, key } = book;
    book.comparison?.finish();
    book.comparison = null;
    book.suspected = null;
    if (suspected === null) return;
    outputs.push({ kind: 'repair', key, value, orders: repairedOrders(suspected, book.engine.orders.table.freeze()) });
  }

  // Changes nothing of the book: ingest reads a difference and writes records that repair it. The comparison uses a frozen
  // copy of the book at this record.
  #check(book: Book, record: InputRecord, wanted: BookCheck, outputs: BookOutput[]): void {
    const { offset, value } = record;
    if (offset < book.next) return;
    book.next = offset + 1n;
    const { engine, replica, key } = book;
    book.comparison?.finish();
    if (replica) drain(replica);
    const comparison = new Comparison(new FrozenBook(engine), wanted, replica?.view.head ? replica.view : null);
    book.comparison = comparison;
    outputs.push({ kind: 'check', key, value, comparison });
  }

  #bookOf(market: MarketRef, offset: bigint): Book {
    const key = marketKey(market);
    const known = this.books.get(key);
    if (known) return known;
    const engine = new BookEngine(market, this.#lastEpochs.get(key) ?? 0, this.#ignored);
    const book = this.#newBook(engine, offset, '');
    this.books.set(key, book);
    return book;
  }

  #describeTo(book: Book, outputs: BookOutput[]): void {
    const view = book.engine.marketView();
    const described = describe(view);
    if (view === null || described === book.described) return;
    book.described = described;
    outputs.push({ kind: 'market', key: book.key, value: encodeMessage('MarketView', view) });
  }

  #deadLetter({ offset, value }: InputRecord, error: unknown): BookOutput {
    const record = { partition: this.partition, offset, value };
    return { kind: 'dead', ...deadLetter('book-record', TOPICS.book, record, error, this.slot) };
  }
}

function decode({ value }: InputRecord): PartitionMessage | BadRecord {
  try {
    const decoded = decodeMessage(value);
    if (!BOOK_MESSAGES.has(decoded.name)) throw new RangeError(`${decoded.name} does not belong to a book`);
    return decoded as PartitionMessage;
  } catch (error) {
    return { name: 'bad', error };
  }
}

/** Whether the newest comparison of the book failed; finishes it when it is still running. */
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

// A market's description without its slot, as a text to compare.
function describe(view: MarketView | null): string {
  if (view === null) return '';
  const { slot: _, oracle, ...rest } = view;
  return [...Object.values(rest), ...Object.values(oracle ?? {})].map(String).join('\n');
}
