// Changes that a ring no longer holds, read back from `views.book`: what makes a resume outlive a restart of the gateway.

import type { EventLog, Logger } from '../../../platform/index.ts';
import { type BookViewDiff, decodeMessage, partitionOf, TOPICS } from '../../../schemas/index.ts';
import { Changes } from './changes.ts';
import {
  LOG_KEPT_DIFFS_MAX,
  LOG_KEPT_MS,
  LOG_PAGE_RECORDS,
  LOG_READS_MAX,
  LOG_STRIDE_RECORDS,
  RESUME_LOG_DIFFS_MAX,
  RESUME_LOG_RECORDS_MAX,
} from './limits.ts';
import { decodeDiff } from './ring.ts';

/** Changes `after` < seq <= `until` of one epoch, without a hole. */
export class OlderDiffs {
  readonly epoch: number;
  readonly after: number;
  readonly until: number;
  readonly #bytes: ReadonlyMap<number, Uint8Array>;
  readonly #merged: Record<'l2' | 'l3', Changes>;

  constructor(epoch: number, after: number, until: number, found: Found) {
    this.epoch = epoch;
    this.after = after;
    this.until = until;
    this.#bytes = found.bytes;
    this.#merged = found.merged;
  }

  /** The newest state of everything that changed. */
  merged(level: 'l2' | 'l3'): Changes {
    return this.#merged[level];
  }

  *diffs(after: number): Generator<BookViewDiff> {
    for (let seq = after + 1; seq <= this.until; seq += 1) {
      const bytes = this.#bytes.get(seq);
      if (bytes) yield decodeDiff(bytes);
    }
  }
}

interface Found {
  readonly bytes: Map<number, Uint8Array>;
  readonly merged: Record<'l2' | 'l3', Changes>;
}

export interface Wanted {
  readonly key: string;
  readonly epoch: number;
  /** Changes after this sequence are wanted, up to and with `until`, which lies at `untilOffset` (null: somewhere). */
  readonly after: number;
  readonly until: number;
  readonly untilOffset: bigint | null;
}

export interface LogHistoryOptions {
  readonly log: EventLog;
  readonly logger: Logger;
  /** Monotonic milliseconds. */
  readonly clock: () => number;
}

export class LogHistory {
  readonly #options: LogHistoryOptions;
  readonly #kept = new Map<string, { readonly older: OlderDiffs; readonly untilMs: number }>();
  readonly #reading = new Map<string, Promise<void>>();
  #free = LOG_READS_MAX;
  readonly #queue: (() => void)[] = [];

  constructor(options: LogHistoryOptions) {
    this.#options = options;
  }

  /** What was read lately and covers the wanted changes and at least up to `joins`; null when it must be read. */
  kept(key: string, epoch: number, after: number, joins: number): OlderDiffs | null {
    this.#forget();
    const older = this.#kept.get(key)?.older;
    return older && older.epoch === epoch && older.after <= after && older.until >= joins ? older : null;
  }

  /** Reads the wanted changes of a market, one read per market at a time. Null when the log does not hold all. */
  async read(wanted: Wanted): Promise<OlderDiffs | null> {
    while (this.#reading.has(wanted.key)) await this.#reading.get(wanted.key);
    const kept = this.kept(wanted.key, wanted.epoch, wanted.after, wanted.until);
    if (kept) return kept;
    const reading = this.#turn(() => this.#search(wanted));
    const settled = reading.then(
      () => {},
      () => {},
    );
    this.#reading.set(wanted.key, settled);
    try {
      const older = await reading;
      if (older) this.#keep(wanted.key, older);
      return older;
    } catch (error) {
      this.#options.logger.error({ market: wanted.key, error: String(error) }, 'changes cannot be read back');
      return null;
    } finally {
      this.#reading.delete(wanted.key);
    }
  }

  #keep(key: string, older: OlderDiffs): void {
    this.#kept.delete(key); // so that insertion order is age
    this.#kept.set(key, { older, untilMs: this.#options.clock() + LOG_KEPT_MS });
    this.#forget();
    setTimeout(() => this.#forget(), LOG_KEPT_MS).unref();
  }

  #forget(): void {
    const nowMs = this.#options.clock();
    let count = 0;
    for (const { older } of this.#kept.values()) count += older.until - older.after;
    for (const [key, { older, untilMs }] of this.#kept) {
      if (untilMs > nowMs && count <= LOG_KEPT_DIFFS_MAX) continue;
      this.#kept.delete(key);
      count -= older.until - older.after;
    }
  }

  async #turn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free === 0) await new Promise<void>((resolve) => this.#queue.push(resolve));
    else this.#free -= 1;
    try {
      return await work();
    } finally {
      const next = this.#queue.shift();
      if (next) next();
      else this.#free += 1;
    }
  }

  /** Backwards in strides that double, because only the market's share of the partition is known, not where it lies. */
  async #search(wanted: Wanted): Promise<OlderDiffs | null> {
    const { key, epoch, after, until, untilOffset } = wanted;
    if (until - after > RESUME_LOG_DIFFS_MAX) return null;
    const partition = partitionOf(TOPICS.bookViews, key);
    const { earliest, next } = await this.#options.log.bounds(TOPICS.bookViews, partition);
    const found: Found = { bytes: new Map(), merged: { l2: new Changes('l2'), l3: new Changes('l3') } };
    const end = untilOffset === null ? next : untilOffset + 1n;
    const limit = end - BigInt(RESUME_LOG_RECORDS_MAX);
    const lowest = limit > earliest ? limit : earliest;
    let high = end;
    let stride = BigInt(Math.max(LOG_STRIDE_RECORDS, until - after));
    while (high > lowest && found.bytes.size < until - after) {
      const low = high - stride > lowest ? high - stride : lowest;
      await this.#collect(wanted, partition, low, high, found);
      high = low;
      stride *= 2n;
    }
    return found.bytes.size === until - after ? new OlderDiffs(epoch, after, until, found) : null;
  }

  async #collect(wanted: Wanted, partition: number, low: bigint, high: bigint, found: Found): Promise<void> {
    let position = low;
    while (position < high) {
      const records = await this.#options.log.read(TOPICS.bookViews, partition, position, LOG_PAGE_RECORDS);
      const last = records.at(-1);
      if (!last) return;
      for (const { key, offset, value } of records) {
        if (key === wanted.key && offset < high) take(wanted, value, found);
      }
      position = last.offset + 1n;
    }
  }
}

/** A restarted book role may have written a change twice; both copies are the same. */
function take({ epoch, after, until }: Wanted, bytes: Uint8Array, { bytes: kept, merged }: Found): void {
  const { name, value } = decodeMessage(bytes);
  if (name !== 'BookViewDiff' || value.epoch !== epoch || value.seq <= after || value.seq > until) return;
  if (kept.has(value.seq)) return;
  kept.set(value.seq, Uint8Array.from(bytes));
  merged.l2.add(value);
  merged.l3.add(value);
}
