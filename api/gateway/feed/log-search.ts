// Searches the changes of a market or an account backwards in one partition of a topic, one slice per turn of the loop.

import { type EventLog, nextTurn } from '../../../platform/index.ts';
import { partitionOf, type Topic } from '../../../schemas/index.ts';
import {
  LOG_PAGE_RECORDS,
  LOG_SCAN_BYTES_MAX,
  LOG_SLICE_MS,
  LOG_STRIDE_RECORDS,
  LOG_STRIDE_RECORDS_MAX,
} from './limits.ts';

/** Which records of a topic belong to a stream. */
export interface LogPlace {
  readonly key: string;
  /** Absent: the partition of the key. */
  readonly partition?: number | undefined;
}

export interface BackfillRequest extends LogPlace {
  readonly epoch: number;
  /** Requests the changes after this sequence, up to and including `until`. `untilOffset`: offset of `until`; null = unknown. */
  readonly after: number;
  readonly until: number;
  readonly untilOffset: bigint | null;
}

/** Collects the requested changes, newest strides first. */
export interface Collector<O> {
  /** True when all changes are found, or a bound is reached. Asked between strides, when everything down to one offset was taken. */
  readonly isOver: boolean;
  take(bytes: Uint8Array): void;
  result(): O;
}

/** Where the changes of a channel stand in the log. */
export interface LogSource<O> {
  readonly topic: Topic;
  collector(request: BackfillRequest): Collector<O>;
}

export interface SearchOptions<O> {
  readonly source: LogSource<O>;
  readonly log: EventLog;
  /** Monotonic milliseconds. */
  readonly clock: () => number;
  readonly request: BackfillRequest;
  /** False when no client waits for the result. */
  readonly isAwaited: () => boolean;
}

/**
 * Reads backwards in strides that double, because the offsets of the market's records are unknown. Ends when all changes are found
 * or a bound on slots or bytes is reached. Resolves with null when no client waits. Rejects when the log cannot be read.
 */
export async function searchBack<O>(search: SearchOptions<O>): Promise<O | null> {
  const { source, log, request } = search;
  const { key, partition = partitionOf(source.topic, key), after, until, untilOffset } = request;
  const { earliest, next } = await log.bounds(source.topic, partition);
  const collector = source.collector(request);
  const reader = new SlicedReader(search, partition, collector);
  let high = untilOffset === null ? next : untilOffset + 1n;
  let stride = Math.max(LOG_STRIDE_RECORDS, until - after);
  while (high > earliest && !collector.isOver && reader.scannedBytes < LOG_SCAN_BYTES_MAX) {
    const low = high - BigInt(Math.min(stride, LOG_STRIDE_RECORDS_MAX));
    if (!(await reader.read(low > earliest ? low : earliest, high))) return null;
    high = low;
    stride *= 2;
  }
  return collector.result();
}

class SlicedReader<O> {
  readonly #search: SearchOptions<O>;
  readonly #partition: number;
  readonly #collector: Collector<O>;
  #sliceEndsMs: number;
  /** Bytes of scanned records, of all markets. */
  scannedBytes = 0;

  constructor(search: SearchOptions<O>, partition: number, collector: Collector<O>) {
    this.#search = search;
    this.#partition = partition;
    this.#collector = collector;
    this.#sliceEndsMs = search.clock() + LOG_SLICE_MS;
  }

  /** Reads the offsets from `low` to before `high`; false when no client waits. */
  async read(low: bigint, high: bigint): Promise<boolean> {
    const { source, log, request } = this.#search;
    let offset = low;
    while (offset < high) {
      const records = await log.read(source.topic, this.#partition, offset, LOG_PAGE_RECORDS);
      const last = records.at(-1);
      if (!last) break;
      for (const { key, offset, value } of records) {
        if (offset >= high) break;
        this.scannedBytes += value.byteLength;
        if (key !== request.key) continue;
        this.#collector.take(value);
        if (!(await this.#pause())) return false;
      }
      if (!(await this.#pause())) return false;
      offset = last.offset + 1n;
    }
    return true;
  }

  /** Yields the loop when the slice is over; false when no client waits. */
  async #pause(): Promise<boolean> {
    const { clock, isAwaited } = this.#search;
    if (clock() < this.#sliceEndsMs) return true;
    await nextTurn();
    this.#sliceEndsMs = clock() + LOG_SLICE_MS;
    return isAwaited();
  }
}
