// The book of one market as this process last received it, with its version, its time and its comparisons.

import { BookView, isLater, type PublishedDifference, type Steps } from '../../processors/book/index.ts';
import type { BookViewDiff, BookViewHead, BookViewSnapshot } from '../../schemas/index.ts';
import { ViewCheck } from './view-check.ts';

/** `hole`: this message broke the sequence. The book keeps its state until the next snapshot. */
export type TakeResult = 'changed' | 'ignored' | 'hole';

export class PublishedBook {
  readonly view = new BookView();
  #version = 0;
  #publishedAtMs = 0;
  #receivedSlot = -1;
  #comparisons = 0;
  #differences = 0;
  #comparedSlot: number | null = null;
  #hasDiffered = false;
  /** The comparison in progress. */
  #check: ViewCheck | null = null;

  /** Grows with every applied message. Equal versions mean equal books; 0 before the first message. */
  get version(): number {
    return this.#version;
  }

  /** Wall-clock milliseconds at which the newest message arrived. */
  get publishedAtMs(): number {
    return this.#publishedAtMs;
  }

  /** Head of the newest message. Throws an Error before the first. */
  get head(): BookViewHead {
    const { head } = this.view;
    if (!head) throw new Error('a book without messages was read');
    return head;
  }

  /** Newest slot of any message, applied or not; -1 before the first. */
  get receivedSlot(): number {
    return this.#receivedSlot;
  }

  /** Comparisons of this book with published snapshots since the start of the process. */
  get comparisons() {
    const lastResult = this.#comparedSlot === null ? 'none' : this.#hasDiffered ? 'differs' : 'equal';
    return {
      comparisons: this.#comparisons,
      differences: this.#differences,
      lastSlot: this.#comparedSlot,
      lastResult,
    };
  }

  /** Applies one message. `nowMs` is wall-clock milliseconds. */
  take(message: BookViewSnapshot | BookViewDiff, nowMs: number): TakeResult {
    this.#receivedSlot = Math.max(this.#receivedSlot, message.slot);
    const wasSound = this.#version > 0 && !this.view.isStale;
    const epoch = this.view.head?.epoch;
    const applied = this.view.apply(message);
    if (applied === 'gap') return wasSound ? 'hole' : 'ignored';
    if (applied === 'duplicate') return 'ignored';
    if ('gone' in message && message.epoch === epoch) this.#check?.since.push(message);
    else this.#check = null;
    this.#version += 1;
    this.#publishedAtMs = nowMs;
    return 'changed';
  }

  /** True if a snapshot with this head is newer than the book. */
  isBehind(head: BookViewHead): boolean {
    return this.view.head === null || isLater(head, this.view.head);
  }

  /**
   * Starts to compare the book with a snapshot of the same version. The steps return the difference and correct the book by the
   * snapshot. They return null for an equal book, and for one that began a new epoch meanwhile. Returns null without steps for
   * a snapshot of another version, a book with a hole, or while another comparison runs.
   */
  compareSnapshot(head: BookViewHead, bytes: Uint8Array): Steps<PublishedDifference | null> | null {
    this.#receivedSlot = Math.max(this.#receivedSlot, head.slot);
    const { view } = this;
    const isSame = view.head?.epoch === head.epoch && view.head.seq === head.seq;
    if (!isSame || view.isStale || this.#check !== null) return null;
    this.#check = new ViewCheck(view, bytes);
    return this.#compare(this.#check);
  }

  *#compare(check: ViewCheck): Steps<PublishedDifference | null> {
    try {
      const fault = yield* check.steps();
      if (this.#check !== check) return null;
      this.#comparisons += 1;
      this.#comparedSlot = check.slot;
      this.#hasDiffered = fault !== null;
      if (fault === null) return null;
      this.#differences += 1;
      this.#version += 1;
      this.view.correct(fault.snapshot, check.since);
      return fault.difference;
    } finally {
      if (this.#check === check) this.#check = null;
    }
  }
}
