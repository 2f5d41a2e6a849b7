// Work shared by the streams of one market at one state of its book: the window at the greatest depth, its changes from earlier
// windows, and checksums.

import type { PublishedBook } from '../../views/published-book.ts';
import type { StreamSpec } from './request.ts';
import { type ChecksumLines, checksumLines, checksumOf } from './text.ts';
import { type Window, WindowChange, windowOf } from './window.ts';

interface State {
  /** Head of the book at this state; each message replaces it. */
  readonly head: PublishedBook['head'];
  window: Window | null;
  /** Changes to `window`, by the earlier window. */
  readonly changes: Map<Window, WindowChange>;
  lines: ChecksumLines | null;
  readonly checksums: Map<number, number>;
}

export class SharedTop {
  readonly #level: 'l2' | 'l3';
  readonly #specs: () => Iterable<StreamSpec>;
  #state: State | null = null;

  /** `specs`: choices of all open streams, of any level. */
  constructor(level: 'l2' | 'l3', specs: () => Iterable<StreamSpec>) {
    this.#level = level;
    this.#specs = specs;
  }

  /** The window of the current book, at least `depth` price levels deep. */
  window(book: PublishedBook, depth: number, conflationMs: number): Window {
    const state = this.#at(book);
    if (state.window === null || state.window.depth < depth) {
      state.window = windowOf(book.view, this.#level, Math.max(depth, this.#deepest(conflationMs)));
      state.changes.clear();
    }
    return state.window;
  }

  /** The change from an earlier window to that of the current book. */
  change(book: PublishedBook, before: Window, after: Window): WindowChange {
    const { window, changes } = this.#at(book);
    if (after !== window) return new WindowChange(this.#level, before, after);
    const change = changes.get(before) ?? new WindowChange(this.#level, before, after);
    changes.set(before, change);
    return change;
  }

  /** CRC32 over the top `levels` price levels. */
  checksum(book: PublishedBook, levels: number): number {
    const state = this.#at(book);
    const known = state.checksums.get(levels);
    if (known !== undefined) return known;
    if (state.lines === null || state.lines.levels < levels) {
      state.lines = checksumLines(book.view, this.#level, Math.max(levels, this.#mostChecked()));
    }
    const checksum = checksumOf(state.lines, levels);
    state.checksums.set(levels, checksum);
    return checksum;
  }

  #at({ head }: PublishedBook): State {
    if (this.#state?.head !== head) {
      this.#state = { head, window: null, changes: new Map(), lines: null, checksums: new Map() };
    }
    return this.#state;
  }

  /** The greatest depth of the streams with this conflation, which are published together. */
  #deepest(conflationMs: number): number {
    let deepest = 0;
    for (const spec of this.#specs()) {
      if (spec.level === this.#level && spec.conflationMs === conflationMs)
        deepest = Math.max(deepest, spec.depth ?? 0);
    }
    return deepest;
  }

  #mostChecked(): number {
    let most = 0;
    for (const { level, checksumLevels } of this.#specs()) {
      if (level === this.#level) most = Math.max(most, checksumLevels);
    }
    return most;
  }
}
