// Books at commitment processed: compares the accounts at the tip of the node's fork with those before, and writes the changes to
// `book.processed`. Confirmed states come from the main stream, which this never delays.

import type { Logger, NewRecord } from '../../platform/index.ts';
import { encodeMessage, type MessageName, type MessageTypes, marketKey, TOPICS } from '../../schemas/index.ts';
import type { Output } from '../diff/output.ts';
import type { Differ } from '../differ.ts';
import { changed, packed, unpacked } from '../packed-update.ts';
import type { AccountUpdate, SourceUpdate } from '../source.ts';
import type { LogWriter } from '../writer.ts';
import type { ForkMetrics } from './metrics.ts';
import { type ConfirmedState, ForkStates } from './states.ts';
import type { FollowedFork } from './trades.ts';

/** Records that wait for the log. Beyond it they are dropped, and every book is written anew when the log is back. */
const WAITING_MAX = 100_000;
/** Key of the records that go to every partition. */
const SLOT_KEY = 'slot';

export interface ProcessedBooksParts {
  /** Has the confirmed states. */
  readonly confirmed: Differ;
  readonly newDiffer: () => Differ;
  readonly writer: Pick<LogWriter, 'append'>;
  readonly metrics: ForkMetrics;
  readonly logger: Logger;
  /** The fork that the node follows may have changed. */
  readonly moved?: () => void;
  readonly waitingMax?: number;
}

export class ProcessedBooks {
  readonly #parts: ProcessedBooksParts;
  readonly #forks: ForkStates;
  /** Null until all confirmed accounts are known. */
  #differ: Differ | null = null;
  /** Newest slot of any record. It never goes back, so that a book's slot does not. */
  #slot = 0;
  #completeSlot = -1;
  /** A confirmed slot that awaits its label. Null once its accounts may be those of a later slot. */
  #dueLabel: number | null = null;
  #tip = -1;
  /** News that wait for the end of a read of all accounts; null outside of one. */
  #held: ((forks: ForkStates) => void)[] | null = null;
  /** All accounts must be read again. */
  #isReadDue = false;
  #records: NewRecord[] = [];
  #isWriting = false;
  #isOverfull = false;

  constructor(parts: ProcessedBooksParts) {
    this.#parts = parts;
    this.#forks = new ForkStates({
      confirmed: (key) => this.#confirmed(key),
      emit: (update) => this.#take(update),
      reverted: (slot) => this.#revert(slot),
    });
  }

  /** The fork that the node follows. */
  get fork(): FollowedFork {
    return this.#forks;
  }

  /** Applies news of the node's fork, after a read of all accounts that is under way. */
  news(step: (forks: ForkStates) => void): void {
    if (this.#held) this.#held.push(step);
    else this.#apply(step);
  }

  /** Like `news`: the state of an account, then the rest of its message. A state that waits is packed. */
  account(update: AccountUpdate, step: (forks: ForkStates) => void): void {
    const waiting = this.#held ? packed(update) : update;
    this.news((forks) => {
      forks.account(unpacked(waiting));
      step(forks);
    });
  }

  #apply(step: (forks: ForkStates) => void): void {
    step(this.#forks);
    const { slot } = this.#forks;
    // Data of a later slot completes the one before it.
    if (slot > this.#tip) this.#complete(this.#tip);
    this.#tip = slot;
    this.#completeDue();
    this.#parts.metrics.undoBytes.set(this.#forks.bytes);
    this.#parts.metrics.slot.set(slot);
    this.#write();
    this.#parts.moved?.();
  }

  /**
   * Follows the confirmed stream: the confirmed states contain this update, and nothing after it. Returns the rest of the work
   * as small steps. Between two of them the confirmed states must not change.
   */
  applied(update: SourceUpdate): Generator<void> | null {
    if (update.kind === 'account') {
      this.#dueLabel = null;
      this.#forks.confirmed(update.pubkey);
    } else if (update.kind === 'slot') this.#label(update.slot);
    return this.#isReadDue || update.kind === 'snapshotEnd' ? this.#readAll() : null;
  }

  /** The books are those of a confirmed slot while they show no state that is newer. */
  #label(slot: number): void {
    const wasAhead = this.#forks.isAhead(-1);
    // The states that waited for this slot are shown at once, and some may be of blocks that are not complete.
    if (!wasAhead) this.#complete(slot);
    this.#forks.confirm(slot);
    this.#dueLabel = wasAhead ? slot : null;
    this.#completeDue();
  }

  /** The label of a slot that newer states hid comes when an undo has taken them back. */
  #completeDue(): void {
    if (this.#dueLabel === null || this.#forks.isAhead(this.#dueLabel)) return;
    this.#complete(this.#dueLabel);
    this.#dueLabel = null;
  }

  /** A batch of the confirmed stream is in the log. */
  written(): void {
    this.news(() => {});
  }

  /** Confirmed states were put right outside their stream. Returns steps like `applied`. */
  corrected(): Generator<void> | null {
    return this.#differ ? this.#readAll() : null;
  }

  #confirmed(key: string): ConfirmedState | null {
    const { confirmed } = this.#parts;
    const stored = confirmed.stored(key);
    if (!stored) return null;
    // Most questions are about the slot alone, and an update is made of copies.
    const update = () => confirmed.lastUpdate(key);
    return {
      slot: stored.slot,
      get update() {
        return update();
      },
    };
  }

  /** The first time it writes every book in full, later only differences. News wait until the end. */
  *#readAll(): Generator<void> {
    const differ = this.#differ ?? this.#parts.newDiffer();
    const isFirst = this.#differ === null;
    this.#differ = differ;
    this.#isReadDue = false;
    const held: ((forks: ForkStates) => void)[] = [];
    this.#held = held;
    // An earlier process may have ended within an undo.
    if (isFirst) this.#everywhere('BookRevert', { slot: this.#slot, reverted: null });
    differ.snapshotBegin();
    for (const accounts of [this.#parts.confirmed.accounts(), this.#forks.current()]) {
      for (const update of accounts) {
        this.#take(update);
        yield;
      }
    }
    for (const _ of differ.snapshotEnding(this.#slot, this.#emit)) {
      // Records were dropped meanwhile: another read follows, which writes every book in full.
      if (this.#differ !== differ) break;
      if (!this.#isWriting) this.#write();
      yield;
    }
    // The loop also applies steps that arrive while it runs.
    for (const step of held) {
      this.#apply(step);
      yield;
    }
    this.#held = null;
    this.#write();
  }

  #take(update: AccountUpdate): void {
    this.#slot = Math.max(this.#slot, update.slot);
    // States go back as well as forth, so the order of the calls counts, not the slots.
    this.#differ?.account(changed(update, { slot: this.#slot, writeVersion: null }), this.#emit);
  }

  #revert(reverted: number | null): void {
    if (reverted !== null) {
      this.#parts.metrics.reverts.inc();
      this.#parts.logger.info({ reverted, slot: this.#slot }, 'an abandoned slot is undone');
    }
    if (this.#differ) this.#everywhere('BookRevert', { slot: this.#slot, reverted });
  }

  #complete(slot: number): void {
    if (slot <= this.#completeSlot || !this.#differ) return;
    this.#completeSlot = slot;
    this.#slot = Math.max(this.#slot, slot);
    this.#everywhere('BookSlot', { slot });
  }

  #everywhere<N extends 'BookSlot' | 'BookRevert'>(name: N, message: MessageTypes[N]): void {
    const value = encodeMessage(name, message);
    for (let partition = 0; partition < TOPICS.processedBook.partitions; partition++) {
      this.#records.push({ key: SLOT_KEY, value, partition });
    }
  }

  readonly #emit = (output: Output): void => {
    switch (output.name) {
      case 'BookOrders':
      case 'BookMarket':
      case 'BookOracle':
      case 'BookSnapshotBegin':
      case 'BookSnapshotEnd':
        this.#record(output.name, marketKey(output.value), output.value);
        break;
      default: // Positions, margins and unreadable accounts are matters of the confirmed stream.
    }
  };

  #record<N extends MessageName>(name: N, key: string, message: MessageTypes[N]): void {
    try {
      this.#records.push({ key, value: encodeMessage(name, message) });
    } catch (error) {
      // The confirmed stream parks numbers that no message can carry.
      if (!(error instanceof RangeError)) throw error;
    }
  }

  /** One append at a time; records that arrive meanwhile leave together. */
  #write(): void {
    const { waitingMax = WAITING_MAX } = this.#parts;
    if (this.#isWriting) {
      // A read of all accounts makes more records than may wait, once.
      this.#isOverfull ||= this.#held === null && this.#records.length > waitingMax;
      if (this.#isOverfull) this.#records = [];
      return;
    }
    if (this.#records.length === 0) return;
    this.#isWriting = true;
    // Records of one turn of the event loop leave in one append.
    setImmediate(() => this.#append());
  }

  #append(): void {
    const { writer } = this.#parts;
    const records = this.#records;
    this.#records = [];
    const written = (): void => {
      this.#isWriting = false;
      if (this.#isOverfull) this.#readAgain();
      this.#write();
    };
    // Rejects only when ingest stops.
    writer.append(TOPICS.processedBook, records).then(written, () => {});
  }

  /** With the next update of the confirmed stream. Until then nothing is shown. */
  #readAgain(): void {
    this.#isOverfull = false;
    this.#differ = null;
    this.#records = [];
    this.#isReadDue = true;
  }
}
