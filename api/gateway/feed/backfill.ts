// Gathers the changes that a resuming client missed, in slices, while its stream advances: singly, or merged when there are too
// many. Gathering ends when even the merged changes exceed the book: the client then gets a snapshot.

import type { Steps } from '../../../processors/book/index.ts';
import type { BookViewDiff } from '../../../schemas/index.ts';
import { Changes } from './changes.ts';
import { BACKFILL_DIFFS_AT_ONCE, BACKFILL_STEP_DIFFS, RESUME_BYTES_MAX, RESUME_DIFFS_MAX } from './limits.ts';
import type { OlderDiffs } from './older-diffs.ts';
import type { Ring } from './ring.ts';
import { diffFrame } from './text.ts';

/** Sources of missed changes: the ring, and `older` for changes that have left the ring. */
export interface BackfillSources {
  readonly ring: Ring;
  readonly older: OlderDiffs | null;
}

export interface BackfillOptions {
  readonly streamId: number;
  readonly level: 'l2' | 'l3';
  /** Entries have the causes of their orders. */
  readonly hasCause: boolean;
  /** Sequence that the client holds; later changes are missed. */
  readonly from: number;
  /** Whether changes may be sent singly. */
  readonly allowsSingles: boolean;
  /** Number of merged changes beyond which the snapshot is shorter. */
  readonly changesMax: number;
  /** Wall clock, milliseconds. */
  readonly now: () => number;
}

export class Backfill {
  readonly from: number;
  readonly #options: BackfillOptions;
  /** All changes up to this sequence are gathered. */
  #at: number;
  #singles: SingleFrames | null;
  readonly #merged: Changes;
  #exceedsBook = false;

  constructor(options: BackfillOptions) {
    this.#options = options;
    this.from = options.from;
    this.#at = options.from;
    this.#singles = options.allowsSingles ? new SingleFrames(options) : null;
    this.#merged = new Changes(options.level);
  }

  get at(): number {
    return this.#at;
  }

  /** True when the book is shorter than the missed changes; gathering has then ended. */
  get exceedsBook(): boolean {
    return this.#exceedsBook;
  }

  /** Whether one turn of the loop may gather the rest up to `until`. */
  fitsOneTurn(until: number, { ring }: BackfillSources): boolean {
    if (this.#exceedsBook) return true;
    if (this.#fitsSingly(until)) return until - this.#at <= BACKFILL_DIFFS_AT_ONCE;
    return this.#singles === null && this.#at >= ring.baseSeq && until - this.#at <= BACKFILL_DIFFS_AT_ONCE;
  }

  /**
   * Gathers up to `until`, which may rise during pauses. Ends early when no source has the next change, and when the merged
   * changes exceed the book. Also when single changes are too many: the next call then starts merging. Several clients may
   * gather the same backfill, so it may have advanced after each pause.
   */
  *gather({ ring, older }: BackfillSources, until: () => number): Steps<void> {
    for (let count = 1; this.#at < until() && !this.#exceedsBook; count += 1) {
      if (count % BACKFILL_STEP_DIFFS === 0) {
        yield;
        continue;
      }
      if (this.#singles && !this.#fitsSingly(until())) return this.#startMerging();
      const isInRing = this.#at >= ring.baseSeq;
      if (!isInRing && (older === null || older.until <= this.#at)) return;
      if (!isInRing && older && this.#singles === null) {
        yield* this.#merged.mergeInSteps(older.merged(this.#options.level), this.from);
        this.#at = Math.max(this.#at, older.until);
        this.#checkSize();
        continue;
      }
      const diff = isInRing ? ring.diff(this.#at + 1) : older?.diff(this.#at + 1);
      if (!diff) return this.#startMerging();
      this.#take(diff);
    }
  }

  /** One frame per change, the last with a checksum; null when the changes are merged. */
  singleFrames(checksum: number | null): readonly Buffer[] | null {
    return this.#singles?.frames(checksum) ?? null;
  }

  /** The merged changes. */
  get merged(): Changes {
    return this.#merged;
  }

  #fitsSingly(until: number): boolean {
    return this.#singles !== null && until - this.from <= RESUME_DIFFS_MAX && this.#singles.bytes <= RESUME_BYTES_MAX;
  }

  #startMerging(): void {
    this.#singles = null;
    this.#at = this.from;
  }

  #take(diff: BookViewDiff): void {
    if (this.#singles) {
      const changes = new Changes(this.#options.level);
      changes.add(diff);
      this.#singles.add(diff, changes);
    } else {
      this.#merged.add(diff);
      this.#checkSize();
    }
    this.#at = diff.seq;
  }

  #checkSize(): void {
    if (this.#merged.size <= this.#options.changesMax) return;
    this.#exceedsBook = true;
    this.#merged.clear();
  }
}

/** One frame per change. Leaves out changes that neither show anything nor move the slot. */
class SingleFrames {
  bytes = 0;
  readonly #streamId: number;
  readonly #hasCause: boolean;
  readonly #now: () => number;
  readonly #frames: Buffer[] = [];
  #prevSeq: number;
  #slot = -1;
  /** The newest change, not yet a frame: as the last one it always gets a frame, otherwise only if it shows something. */
  #last: { readonly diff: BookViewDiff; readonly changes: Changes } | null = null;

  constructor({ streamId, hasCause, from, now }: BackfillOptions) {
    this.#streamId = streamId;
    this.#hasCause = hasCause;
    this.#now = now;
    this.#prevSeq = from;
  }

  add(diff: BookViewDiff, changes: Changes): void {
    const { diff: before, changes: beforeChanges } = this.#last ?? {};
    this.#last = { diff, changes };
    if (!before || !beforeChanges || (beforeChanges.size === 0 && before.slot === this.#slot)) return;
    const frame = this.#frame(before, beforeChanges, null);
    this.bytes += frame.byteLength;
    this.#frames.push(frame);
    this.#prevSeq = before.seq;
    this.#slot = before.slot;
  }

  frames(checksum: number | null): readonly Buffer[] {
    if (this.#last === null) return this.#frames;
    const { diff, changes } = this.#last;
    return [...this.#frames, this.#frame(diff, changes, checksum)];
  }

  /** `ts` is the current time: the log does not record when a change was first published. */
  #frame({ epoch, seq, slot }: BookViewDiff, changes: Changes, checksum: number | null): Buffer {
    const state = { epoch, seq, slot, ts: this.#now() };
    const body = changes.body(this.#hasCause);
    return diffFrame(this.#streamId, state, this.#prevSeq, body, checksum, changes.revert);
  }
}
