// Changes of a book that are read back from `views.book`.

import { type BookViewDiff, decodeMessage, TOPICS } from '../../../schemas/index.ts';
import { Changes } from './changes.ts';
import {
  MERGED_CHANGE_BYTES,
  RESUME_DIFFS_MAX,
  RESUME_LOG_BYTES_MAX,
  RESUME_LOG_EXTRA_BYTES,
  RESUME_LOG_SLOTS,
} from './limits.ts';
import type { Older } from './log-history.ts';
import type { BackfillRequest, Collector, LogSource } from './log-search.ts';
import { decodeDiff } from './ring.ts';

export interface FoundDiffs {
  /** The newest RESUME_DIFFS_MAX changes, encoded, by sequence. */
  readonly newest: ReadonlyMap<number, Uint8Array>;
  readonly merged: Readonly<Record<'l2' | 'l3', Changes>>;
  /** Approximate memory, bytes. */
  readonly bytes: number;
}

/** All changes `after` < seq <= `until` of one epoch. */
export class OlderDiffs implements Older {
  readonly epoch: number;
  readonly after: number;
  readonly until: number;
  readonly #found: FoundDiffs;

  constructor(epoch: number, after: number, until: number, found: FoundDiffs) {
    this.epoch = epoch;
    this.after = after;
    this.until = until;
    this.#found = found;
  }

  /** Approximate memory, bytes. */
  get bytes(): number {
    return this.#found.bytes;
  }

  /** The newest state of every changed level or order. */
  merged(level: 'l2' | 'l3'): Changes {
    return this.#found.merged[level];
  }

  /** One change; null when it is more than RESUME_DIFFS_MAX before `until`. */
  diff(seq: number): BookViewDiff | null {
    const bytes = this.#found.newest.get(seq);
    return bytes ? decodeDiff(bytes) : null;
  }
}

class DiffCollector implements Collector<OlderDiffs> {
  readonly #request: BackfillRequest;
  readonly #seqs = new Set<number>();
  readonly #newest = new Map<number, Uint8Array>();
  readonly #merged = { l2: new Changes('l2'), l3: new Changes('l3') };
  #bytes = 0;
  #newestSlot = Number.NEGATIVE_INFINITY;
  #oldestSlot = Number.POSITIVE_INFINITY;
  /** A record of an earlier epoch was found: older records hold nothing of this epoch. */
  #isAtEpochStart = false;

  constructor(request: BackfillRequest) {
    this.#request = request;
  }

  get isOver(): boolean {
    const { after, until } = this.#request;
    const isFarBack = this.#newestSlot - this.#oldestSlot > RESUME_LOG_SLOTS;
    const isTooMuch = this.#bytes > (isFarBack ? RESUME_LOG_EXTRA_BYTES : RESUME_LOG_BYTES_MAX);
    return isTooMuch || this.#isAtEpochStart || this.#seqs.size >= until - after;
  }

  /** Takes a record. A restarted book role may have written a change twice; both copies are equal. */
  take(bytes: Uint8Array): void {
    const { name, value } = decodeMessage(bytes);
    if (name !== 'BookViewDiff' && name !== 'BookViewSnapshot') return;
    const { epoch, after, until } = this.#request;
    if (value.epoch < epoch) this.#isAtEpochStart = true;
    if (name !== 'BookViewDiff' || value.epoch !== epoch || value.seq > until) return;
    this.#newestSlot = Math.max(this.#newestSlot, value.slot);
    this.#oldestSlot = Math.min(this.#oldestSlot, value.slot);
    if (value.seq <= after || this.#seqs.has(value.seq)) return;
    this.#seqs.add(value.seq);
    this.#bytes += bytes.byteLength;
    if (value.seq > until - RESUME_DIFFS_MAX) this.#newest.set(value.seq, Uint8Array.from(bytes));
    this.#merged.l2.add(value);
    this.#merged.l3.add(value);
  }

  result(): OlderDiffs {
    const { epoch, until } = this.#request;
    let floor = until;
    while (this.#seqs.has(floor)) floor -= 1;
    const { l2, l3 } = this.#merged;
    let bytes = (l2.size + l3.size) * MERGED_CHANGE_BYTES;
    for (const { byteLength } of this.#newest.values()) bytes += byteLength;
    return new OlderDiffs(epoch, floor, until, { newest: this.#newest, merged: this.#merged, bytes });
  }
}

export const BOOK_CHANGES: LogSource<OlderDiffs> = {
  topic: TOPICS.bookViews,
  collector: (request) => new DiffCollector(request),
};
