// The newest changes of one market, encoded as the log holds them, contiguous in one epoch. Bounded in number and bytes:
// what falls out is still in the log.

import { type BookViewDiff, decodeMessage } from '../../../schemas/index.ts';
import { RING_BYTES_MAX, RING_DIFFS_MAX } from './limits.ts';

/** A change as the log holds it. */
export interface StoredDiff {
  readonly seq: number;
  /** Offset in its partition of `views.book`. */
  readonly offset: bigint;
  readonly bytes: Uint8Array;
}

export class Ring {
  readonly #countMax: number;
  readonly #bytesMax: number;
  #epoch = 0;
  /** The state before the oldest change kept, and where in the log it was reached. */
  #baseSeq = 0;
  #baseOffset: bigint | null = null;
  /** Oldest first from `#start`; the part before it is cut off now and then. */
  #entries: StoredDiff[] = [];
  #start = 0;
  #bytes = 0;

  constructor(countMax = RING_DIFFS_MAX, bytesMax = RING_BYTES_MAX) {
    this.#countMax = countMax;
    this.#bytesMax = bytesMax;
  }

  get epoch(): number {
    return this.#epoch;
  }

  /** Sequence after which everything is kept. */
  get baseSeq(): number {
    return this.#baseSeq;
  }

  get size(): number {
    return this.#entries.length - this.#start;
  }

  /** Begins anew at a state from which earlier ones cannot be told. `offset` null: the end of the log. */
  reset(epoch: number, seq: number, offset: bigint | null): void {
    this.#epoch = epoch;
    this.#baseSeq = seq;
    this.#baseOffset = offset;
    this.#entries = [];
    this.#start = 0;
    this.#bytes = 0;
  }

  /** The change after the newest one kept. The bytes are copied, because they may be part of a larger buffer. */
  push(seq: number, offset: bigint, bytes: Uint8Array): void {
    if (seq !== this.#baseSeq + this.size + 1) throw new Error(`change ${seq} does not follow in a ring`);
    this.#entries.push({ seq, offset, bytes: Uint8Array.from(bytes) });
    this.#bytes += bytes.byteLength;
    while (this.size > this.#countMax || (this.#bytes > this.#bytesMax && this.size > 0)) this.#drop();
    if (this.#start > this.#countMax) {
      this.#entries = this.#entries.slice(this.#start);
      this.#start = 0;
    }
  }

  /** A change that is kept, decoded. Throws a RangeError for any other. */
  diff(seq: number): BookViewDiff {
    return decodeDiff(this.#at(seq).bytes);
  }

  /** Sequence and offset somewhat inside the ring, so that what ends there still joins it after more has fallen out. */
  seam(): { readonly seq: number; readonly offset: bigint | null } {
    const inside = Math.floor(this.size / 4);
    if (inside === 0) return { seq: this.#baseSeq, offset: this.#baseOffset };
    const { seq, offset } = this.#at(this.#baseSeq + inside);
    return { seq, offset };
  }

  #at(seq: number): StoredDiff {
    const entry = this.#entries[this.#start + seq - this.#baseSeq - 1];
    if (!entry) throw new RangeError(`change ${seq} is not in the ring`);
    return entry;
  }

  #drop(): void {
    const { seq, offset, bytes } = this.#at(this.#baseSeq + 1);
    this.#baseSeq = seq;
    this.#baseOffset = offset;
    this.#bytes -= bytes.byteLength;
    this.#start += 1;
  }
}

/** Throws when the bytes are no change of a book. */
export function decodeDiff(bytes: Uint8Array): BookViewDiff {
  const message = decodeMessage(bytes);
  if (message.name !== 'BookViewDiff') throw new Error(`${message.name} is not a change of a book`);
  return message.value;
}
