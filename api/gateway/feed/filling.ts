// What brings clients from where they stand to where a stream stands, gathered a few changes at a time while the stream moves on:
// each change by itself, or all of them merged when they are too many for that; and nothing when even so they are more than the book.

import type { Steps } from '../../../processors/book/index.ts';
import type { BookViewDiff } from '../../../schemas/index.ts';
import { Changes } from './changes.ts';
import { FILL_DIFFS_AT_ONCE, FILL_STEP_DIFFS, RESUME_BYTES_MAX, RESUME_DIFFS_MAX } from './limits.ts';
import type { OlderDiffs } from './log-history.ts';
import type { Ring } from './ring.ts';
import { diffFrame } from './text.ts';

/** Where a filling finds changes: those that the ring has no longer in `older`. */
export interface FillingSources {
  readonly ring: Ring;
  readonly older: OlderDiffs | null;
}

export interface FillingOptions {
  readonly streamId: number;
  readonly level: 'l2' | 'l3';
  /** The sequence after which changes are missed. */
  readonly from: number;
  /** Whether changes may be told one by one. */
  readonly mayBeEach: boolean;
  /** Merged changes of levels or orders, beyond which the book itself is shorter. */
  readonly changesMax: number;
}

export class Filling {
  readonly from: number;
  readonly #options: FillingOptions;
  /** Every change up to here is in. */
  #at: number;
  #each: EachChange | null;
  readonly #merged: Changes;
  #isTooMuch = false;

  constructor(options: FillingOptions) {
    this.#options = options;
    this.from = options.from;
    this.#at = options.from;
    this.#each = options.mayBeEach ? new EachChange(options.streamId, options.from) : null;
    this.#merged = new Changes(options.level);
  }

  get at(): number {
    return this.#at;
  }

  /** Nothing more is gathered: the book itself is shorter than what was missed. */
  get isTooMuch(): boolean {
    return this.#isTooMuch;
  }

  /** Whether what is left up to `until` may be gathered in one turn. */
  isShort(until: number, { ring }: FillingSources): boolean {
    if (this.#isTooMuch) return true;
    if (this.#isEach(until)) return until - this.#at <= FILL_DIFFS_AT_ONCE;
    return this.#each === null && this.#at >= ring.baseSeq && until - this.#at <= FILL_DIFFS_AT_ONCE;
  }

  /**
   * Goes on to `until`, which may rise meanwhile. Ends before it where neither source has what comes next, and where it begins again
   * because there is too much to be told one by one; and for good where it is too much. Several clients may gather one filling:
   * after each pause it may be further than before.
   */
  *gather({ ring, older }: FillingSources, until: () => number): Steps<void> {
    for (let count = 1; this.#at < until() && !this.#isTooMuch; count += 1) {
      if (count % FILL_STEP_DIFFS === 0) {
        yield;
        continue;
      }
      if (this.#each && !this.#isEach(until())) return this.#merge();
      const isInRing = this.#at >= ring.baseSeq;
      if (!isInRing && (older === null || older.until <= this.#at)) return;
      if (!isInRing && older && this.#each === null) {
        yield* this.#merged.mergeInSteps(older.merged(this.#options.level), this.from);
        this.#at = Math.max(this.#at, older.until);
        this.#weigh();
        continue;
      }
      const diff = isInRing ? ring.diff(this.#at + 1) : older?.diff(this.#at + 1);
      if (!diff) return this.#merge();
      this.#take(diff);
    }
  }

  /** What was gathered as frames of one change each, the last one with a checksum; null when it is merged. */
  each(checksum: number | null): readonly Buffer[] | null {
    return this.#each?.frames(checksum) ?? null;
  }

  /** What was gathered, merged. */
  get merged(): Changes {
    return this.#merged;
  }

  #isEach(until: number): boolean {
    return this.#each !== null && until - this.from <= RESUME_DIFFS_MAX && this.#each.bytes <= RESUME_BYTES_MAX;
  }

  #merge(): void {
    this.#each = null;
    this.#at = this.from;
  }

  #take(diff: BookViewDiff): void {
    if (this.#each) {
      const changes = new Changes(this.#options.level);
      changes.add(diff);
      this.#each.add(diff, changes);
    } else {
      this.#merged.add(diff);
      this.#weigh();
    }
    this.#at = diff.seq;
  }

  #weigh(): void {
    if (this.#merged.size <= this.#options.changesMax) return;
    this.#isTooMuch = true;
    this.#merged.clear();
  }
}

/** Frames of one change each, without those that show nothing and are in the slot before. */
class EachChange {
  bytes = 0;
  readonly #streamId: number;
  readonly #frames: Buffer[] = [];
  #prevSeq: number;
  #slot = -1;
  /** Not yet in the frames: the last one is told always, and otherwise. */
  #last: { readonly diff: BookViewDiff; readonly changes: Changes } | null = null;

  constructor(streamId: number, from: number) {
    this.#streamId = streamId;
    this.#prevSeq = from;
  }

  add(diff: BookViewDiff, changes: Changes): void {
    const { diff: before, changes: told } = this.#last ?? {};
    this.#last = { diff, changes };
    if (!before || !told || (told.size === 0 && before.slot === this.#slot)) return;
    const frame = diffFrame(this.#streamId, before, this.#prevSeq, told.body(), null);
    this.bytes += frame.byteLength;
    this.#frames.push(frame);
    this.#prevSeq = before.seq;
    this.#slot = before.slot;
  }

  frames(checksum: number | null): readonly Buffer[] {
    if (this.#last === null) return this.#frames;
    const { diff, changes } = this.#last;
    return [...this.#frames, diffFrame(this.#streamId, diff, this.#prevSeq, changes.body(), checksum)];
  }
}
