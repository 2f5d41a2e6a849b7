// The search for a market's changes backwards in its partition of `views.book`, a moment in each turn of the loop.

import { type EventLog, nextTurn } from '../../../platform/index.ts';
import { decodeMessage, partitionOf, TOPICS } from '../../../schemas/index.ts';
import { Changes } from './changes.ts';
import {
  LOG_PAGE_RECORDS,
  LOG_PASSED_BYTES_MAX,
  LOG_SLICE_MS,
  LOG_STRIDE_RECORDS,
  LOG_STRIDE_RECORDS_MAX,
  MERGED_CHANGE_BYTES,
  RESUME_DIFFS_MAX,
  RESUME_LOG_BYTES_MAX,
  RESUME_LOG_SLOTS,
  RESUME_LOG_SPARE_BYTES,
} from './limits.ts';
import type { Wanted } from './log-history.ts';

/** Changes of one market that lead to `until` of what was wanted. */
export interface Found {
  /** Every change after this sequence is there; that of what was wanted when the log holds all of it. */
  readonly floor: number;
  /** The newest changes, as many as may be told one by one, encoded. */
  readonly newest: ReadonlyMap<number, Uint8Array>;
  readonly merged: Readonly<Record<'l2' | 'l3', Changes>>;
  /** What all this takes in memory, about. */
  readonly bytes: number;
}

export interface Search {
  readonly log: EventLog;
  /** Monotonic milliseconds. */
  readonly clock: () => number;
  readonly wanted: Wanted;
  /** False when nobody waits for the result any more. */
  readonly isAwaited: () => boolean;
}

/**
 * Backwards in strides that double, because only the market's share of the partition is known, not where it lies: until all is
 * found, or so many slots or bytes were gone through. Null when nobody waits any more. Rejects when the log cannot be read.
 */
export async function searchBack(search: Search): Promise<Found | null> {
  const { log, wanted } = search;
  const { key, after, until, untilOffset } = wanted;
  const partition = partitionOf(TOPICS.bookViews, key);
  const { earliest, next } = await log.bounds(TOPICS.bookViews, partition);
  const finding = new Finding(wanted);
  const reader = new SlicedReader(search, partition, finding);
  let high = untilOffset === null ? next : untilOffset + 1n;
  let stride = Math.max(LOG_STRIDE_RECORDS, until - after);
  while (high > earliest && !finding.isOver && reader.passedBytes < LOG_PASSED_BYTES_MAX) {
    const low = high - BigInt(Math.min(stride, LOG_STRIDE_RECORDS_MAX));
    if (!(await reader.read(low > earliest ? low : earliest, high))) return null;
    high = low;
    stride *= 2;
  }
  return finding.found();
}

class SlicedReader {
  readonly #search: Search;
  readonly #partition: number;
  readonly #finding: Finding;
  #sliceEndsMs: number;
  /** Of records of all markets. */
  passedBytes = 0;

  constructor(search: Search, partition: number, finding: Finding) {
    this.#search = search;
    this.#partition = partition;
    this.#finding = finding;
    this.#sliceEndsMs = search.clock() + LOG_SLICE_MS;
  }

  /** Reads from `low` to before `high`; false when nobody waits any more. */
  async read(low: bigint, high: bigint): Promise<boolean> {
    const { log, wanted } = this.#search;
    let position = low;
    while (position < high) {
      const records = await log.read(TOPICS.bookViews, this.#partition, position, LOG_PAGE_RECORDS);
      const last = records.at(-1);
      if (!last) break;
      for (const { key, offset, value } of records) {
        if (offset >= high) break;
        this.passedBytes += value.byteLength;
        if (key !== wanted.key) continue;
        this.#finding.take(value);
        if (!(await this.#pause())) return false;
      }
      if (!(await this.#pause())) return false;
      position = last.offset + 1n;
    }
    return true;
  }

  /** Lets others have the loop when the slice is over. */
  async #pause(): Promise<boolean> {
    const { clock, isAwaited } = this.#search;
    if (clock() < this.#sliceEndsMs) return true;
    await nextTurn();
    this.#sliceEndsMs = clock() + LOG_SLICE_MS;
    return isAwaited();
  }
}

class Finding {
  readonly #wanted: Wanted;
  readonly #seqs = new Set<number>();
  readonly #newest = new Map<number, Uint8Array>();
  readonly #merged = { l2: new Changes('l2'), l3: new Changes('l3') };
  #bytes = 0;
  #newestSlot = Number.NEGATIVE_INFINITY;
  #oldestSlot = Number.POSITIVE_INFINITY;
  /** An earlier epoch was met: nothing of this one lies before. */
  #isAtBeginning = false;

  constructor(wanted: Wanted) {
    this.#wanted = wanted;
  }

  /** To be asked between strides, when what was taken is everything down to some offset. */
  get isOver(): boolean {
    const { after, until } = this.#wanted;
    const isFarBack = this.#newestSlot - this.#oldestSlot > RESUME_LOG_SLOTS;
    const isTooMuch = this.#bytes > (isFarBack ? RESUME_LOG_SPARE_BYTES : RESUME_LOG_BYTES_MAX);
    return isTooMuch || this.#isAtBeginning || this.#seqs.size >= until - after;
  }

  /** A restarted book role may have written a change twice; both copies are the same. */
  take(bytes: Uint8Array): void {
    const { name, value } = decodeMessage(bytes);
    if (name !== 'BookViewDiff' && name !== 'BookViewSnapshot') return;
    const { epoch, after, until } = this.#wanted;
    if (value.epoch < epoch) this.#isAtBeginning = true;
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

  found(): Found {
    const { until } = this.#wanted;
    let floor = until;
    while (this.#seqs.has(floor)) floor -= 1;
    const { l2, l3 } = this.#merged;
    let bytes = (l2.size + l3.size) * MERGED_CHANGE_BYTES;
    for (const { byteLength } of this.#newest.values()) bytes += byteLength;
    return { floor, newest: this.#newest, merged: this.#merged, bytes };
  }
}
