// The book of one market as this process last saw it published, with what readers must know of it.

import type { BookView } from '../../processors/book/index.ts';
import type { BookViewDiff, BookViewSnapshot, MarketRef } from '../../schemas/index.ts';

/** What became of a message: `gap` means that the sequence has a hole, and nothing is applied until a snapshot comes. */
export type Applied = 'changed' | 'old' | 'gap';

export class PublishedBook {
  readonly market: MarketRef;
  readonly view: BookView;
  #epoch = -1;
  #seq = 0;
  #broken = false;
  #version = 0;
  #publishedAtMs = 0;

  constructor(market: MarketRef, view: BookView) {
    this.market = market;
    this.view = view;
  }

  /** Grows with every applied message; equal versions are equal books. */
  get version(): number {
    return this.#version;
  }

  /** Wall-clock milliseconds at which the newest message was taken in. */
  get publishedAtMs(): number {
    return this.#publishedAtMs;
  }

  /** True once a snapshot or the first change of an epoch was seen; false from a hole to the next of these. */
  get complete(): boolean {
    return this.#version > 0 && !this.#broken;
  }

  /** Applies one message if it is next in its epoch; `nowMs` is wall-clock milliseconds. */
  apply(kind: 'snapshot' | 'diff', message: BookViewSnapshot | BookViewDiff, nowMs: number): Applied {
    const { epoch, seq } = message;
    if (epoch < this.#epoch || (epoch === this.#epoch && seq <= this.#seq && !this.#broken)) return 'old';
    if (kind === 'diff' && !this.#isNext(epoch, seq)) {
      const news = !this.#broken;
      this.#broken = this.#version > 0;
      return news && this.#broken ? 'gap' : 'old';
    }
    this.view.apply(message);
    this.#epoch = epoch;
    this.#seq = seq;
    this.#broken = false;
    this.#version += 1;
    this.#publishedAtMs = nowMs;
    return 'changed';
  }

  // An epoch begins with an empty book, so its first change stands alone.
  #isNext(epoch: number, seq: number): boolean {
    if (seq === 1) return epoch > this.#epoch;
    return !this.#broken && epoch === this.#epoch && seq === this.#seq + 1;
  }
}
