// The book of one market as this process last saw it published, with what readers must know beyond the book itself.

import { BookView, isLater, type PublishedDifference, type Steps } from '../../processors/book/index.ts';
import type { BookViewDiff, BookViewHead, BookViewSnapshot } from '../../schemas/index.ts';
import { ViewCheck } from './view-check.ts';

/** `hole`: the sequence has just broken; the book keeps its last state until a snapshot comes. */
export type Taken = 'changed' | 'ignored' | 'hole';

export class PublishedBook {
  readonly view = new BookView();
  #version = 0;
  #publishedAtMs = 0;
  #heardSlot = -1;
  #comparisons = 0;
  #differences = 0;
  #comparedSlot: number | null = null;
  #hasDiffered = false;
  /** Under way. */
  #check: ViewCheck | null = null;

  /** Grows with every applied message; equal versions are equal books. 0 = nothing applied yet. */
  get version(): number {
    return this.#version;
  }

  /** Wall-clock milliseconds at which the newest message was taken in. */
  get publishedAtMs(): number {
    return this.#publishedAtMs;
  }

  /** Head of the newest message. Throws an Error before the first one. */
  get head(): BookViewHead {
    const { head } = this.view;
    if (!head) throw new Error('a book without messages was read');
    return head;
  }

  /** Newest slot of any message heard, whether it could be applied or not; -1 before the first. */
  get heardSlot(): number {
    return this.#heardSlot;
  }

  /** Comparisons of this book with published snapshots, since this process began to follow it. */
  get comparisons() {
    const lastResult = this.#comparedSlot === null ? 'none' : this.#hasDiffered ? 'differs' : 'equal';
    return {
      comparisons: this.#comparisons,
      differences: this.#differences,
      lastSlot: this.#comparedSlot,
      lastResult,
    };
  }

  /** Takes one message in; `nowMs` is wall-clock milliseconds. */
  take(message: BookViewSnapshot | BookViewDiff, nowMs: number): Taken {
    this.#heardSlot = Math.max(this.#heardSlot, message.slot);
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

  /** Whether a snapshot with this head would be taken in, or is behind what this book has come to. */
  wants(head: BookViewHead): boolean {
    return this.view.head === null || isLater(head, this.view.head);
  }

  /**
   * Hears a snapshot that is not wanted. One of the very change that a sound book stands at is compared with it: the steps return
   * how the book differed, null when it did not or when it has begun anew meanwhile. A book that differed is put right by the last
   * of them. Null when there is nothing to compare, or when an earlier comparison is under way.
   */
  hear(head: BookViewHead, bytes: Uint8Array): Steps<PublishedDifference | null> | null {
    this.#heardSlot = Math.max(this.#heardSlot, head.slot);
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
