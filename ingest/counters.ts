// Newest count of each stream, waiting to be written, with the last slot of the previous count.

import type { NewRecord } from '../platform/index.ts';
import { encodeMessage, type StreamCount, type StreamCounter, streamKey } from '../schemas/index.ts';

/** Slots between two writes: counts change with every fill, and readers need them every few slots. */
const COUNTER_SLOTS = 10;
/** Counts of one write: some milliseconds of work. A full read brings those of all accounts. */
const WRITE_MAX = 1_000;
/** Counts that wait at most before a write is due. */
const WAITING_MAX = 20_000;
/** Limit during a full read. Smaller batches keep V8 from promoting the counts to the old generation. */
const WAITING_READ_MAX = 1_000;

export class CounterBuffer {
  readonly #waiting = new Map<string, StreamCounter>();
  #writtenSlot = 0;
  /** Counts that are still to be written, the oldest ones, since a write became due. */
  #due = 0;
  /** Newest slot whose account data all came; null when unknown. */
  #wholeSlot: number | null;
  #isWhole = false;

  /** `wholeSlot`: an earlier process delivered all account data up to it; null without one. */
  constructor(wholeSlot: number | null) {
    this.#wholeSlot = wholeSlot;
  }

  /** All account data up to this slot were delivered, unless the stream is interrupted. */
  slot(slot: number): void {
    if (this.#isWhole) this.#wholeSlot = slot;
  }

  /** Account data are missing until `resumed`. */
  interrupted(): void {
    this.#isWhole = false;
  }

  resumed(): void {
    this.#isWhole = true;
  }

  /** Whether a write left some due counts. */
  get isBehind(): boolean {
    return this.#due > 0;
  }

  note(count: StreamCount): void {
    const key = streamKey(count);
    const earlier = this.#waiting.get(key);
    this.#waiting.set(key, { ...count, ...(earlier ? originOf(earlier) : { fromSlot: this.#wholeSlot }) });
  }

  /** The records to write now; none before a write is due. The next calls return the rest. */
  take(newestSlot: number): NewRecord[] {
    if (this.#due === 0) {
      const waitingMax = this.#isWhole ? WAITING_MAX : WAITING_READ_MAX;
      const isDue = newestSlot >= this.#writtenSlot + COUNTER_SLOTS || this.#waiting.size >= waitingMax;
      if (!isDue || this.#waiting.size === 0) return [];
      this.#writtenSlot = newestSlot;
      this.#due = this.#waiting.size;
    }
    const records: NewRecord[] = [];
    for (const [key, value] of this.#waiting) {
      if (records.length === Math.min(WRITE_MAX, this.#due)) break;
      records.push({ key, value: encodeMessage('StreamCounter', value) });
      this.#waiting.delete(key);
    }
    this.#due -= records.length;
    return records;
  }
}

/** Where a count that waits began to rise. */
function originOf({ fromId, fromSlot, lastId, slot }: StreamCounter): Pick<StreamCounter, 'fromId' | 'fromSlot'> {
  return fromId === null ? { fromId: lastId, fromSlot: slot } : { fromId, fromSlot };
}
