// Expected time span of a list's next page, from its last one. With it a page query reads one span instead of searching for
// its rows (docs/benchmarks/2026-11-29.md, "Plans of a page"). A wrong span costs a second query; it never changes an answer.

import { LRUCache } from 'lru-cache';

/** Lists remembered; the least recently learned goes first. */
const MAX_LISTS = 10_000;
/** Factor on the span of the last page. */
const MARGIN = 2;

export class PageSpans {
  readonly #secondsPerRow = new LRUCache<string, number>({ max: MAX_LISTS });

  /** Expected start of the span of `rows` rows that ends at `top`, Unix seconds; null for an unknown list. */
  start(list: string, top: number, rows: number): number | null {
    const known = this.#secondsPerRow.peek(list);
    return known === undefined ? null : Math.floor(top - MARGIN * known * rows) - 1;
  }

  /** Remembers a page of `rows` rows from `top` back to `bottom` that is not the last page. */
  learn(list: string, top: number, bottom: number, rows: number): void {
    this.#secondsPerRow.set(list, Math.max(0, top - bottom) / rows);
  }

  forget(list: string): void {
    this.#secondsPerRow.delete(list);
  }
}
