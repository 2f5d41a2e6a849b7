// Numbered records that are read back from their topic.

import type { BookVersion, Topic } from '../../../schemas/index.ts';
import type { Older } from './log-history.ts';
import type { BackfillRequest, Collector, LogSource } from './log-search.ts';
import { RESUME_RECORDS_MAX } from './record-limits.ts';

export class OlderRecords implements Older {
  readonly epoch: number;
  readonly after: number;
  readonly until: number;
  readonly bytes: number;
  readonly #encoded: ReadonlyMap<number, Uint8Array>;

  constructor({ epoch, until }: BackfillRequest, after: number, encoded: ReadonlyMap<number, Uint8Array>) {
    this.epoch = epoch;
    this.after = after;
    this.until = until;
    this.#encoded = encoded;
    let bytes = 0;
    for (const { byteLength } of encoded.values()) bytes += byteLength;
    this.bytes = bytes;
  }

  /** One record, encoded; null when it was not read. */
  encoded(seq: number): Uint8Array | null {
    return this.#encoded.get(seq) ?? null;
  }
}

type NumberOf = (bytes: Uint8Array) => BookVersion | null;

class RecordCollector implements Collector<OlderRecords> {
  readonly #request: BackfillRequest;
  readonly #encoded = new Map<number, Uint8Array>();
  /** A record of an earlier epoch, or without a number, was found: older ones have nothing of this epoch. */
  #isAtEpochStart = false;

  readonly #numberOf: NumberOf;

  constructor(request: BackfillRequest, numberOf: NumberOf) {
    this.#request = request;
    this.#numberOf = numberOf;
  }

  get isOver(): boolean {
    const { after, until } = this.#request;
    return this.#isAtEpochStart || this.#encoded.size >= Math.min(until - after, RESUME_RECORDS_MAX);
  }

  /** A restarted role may have written a record twice; both copies are equal. */
  take(bytes: Uint8Array): void {
    const number = this.#numberOf(bytes);
    const { epoch, after, until } = this.#request;
    if ((number?.epoch ?? 0) < epoch) this.#isAtEpochStart = true;
    if (number?.epoch !== epoch || number.seq <= after || number.seq > until) return;
    this.#encoded.set(number.seq, Uint8Array.from(bytes));
  }

  result(): OlderRecords {
    let floor = this.#request.until;
    while (this.#encoded.has(floor)) floor -= 1;
    return new OlderRecords(this.#request, floor, this.#encoded);
  }
}

/** A topic of numbered records. `numberOf`: null for a record without a number. */
export function numberedRecords(topic: Topic, numberOf: NumberOf): LogSource<OlderRecords> {
  return { topic, collector: (request) => new RecordCollector(request, numberOf) };
}
