// The book of one market as this process last saw it published, with what readers must know beyond the book itself.

import { BookView } from '../../processors/book/index.ts';
import type { BookViewDiff, BookViewHead, BookViewSnapshot } from '../../schemas/index.ts';

/**
 * `hole`: the sequence has just broken; the book keeps its last state until a snapshot comes. `corrected`: a snapshot of the
 * change that the book stood at said otherwise, and was taken over.
 */
export type Taken = 'changed' | 'ignored' | 'hole' | 'corrected';

export class PublishedBook {
  readonly view = new BookView();
  #version = 0;
  #publishedAtMs = 0;
  #heardSlot = -1;
  #differences = 0;
  #comparedSlot: number | null = null;
  #hasDiffered = false;

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
      comparisons: this.view.comparisons,
      differences: this.#differences,
      lastSlot: this.#comparedSlot,
      lastResult,
    };
  }

  /** Takes one message in; `nowMs` is wall-clock milliseconds. */
  take(message: BookViewSnapshot | BookViewDiff, nowMs: number): Taken {
    this.#heardSlot = Math.max(this.#heardSlot, message.slot);
    const wasSound = this.#version > 0 && !this.view.isStale;
    const { comparisons } = this.view;
    const applied = this.view.apply(message);
    if (this.view.comparisons > comparisons) {
      this.#comparedSlot = message.slot;
      this.#hasDiffered = applied === 'differs';
      if (this.#hasDiffered) this.#differences += 1;
    }
    if (applied === 'gap') return wasSound ? 'hole' : 'ignored';
    if (applied === 'duplicate') return 'ignored';
    this.#version += 1;
    this.#publishedAtMs = nowMs;
    return applied === 'differs' ? 'corrected' : 'changed';
  }
}
