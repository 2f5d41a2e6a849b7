// The newest changes of one market, encoded as the log holds them, contiguous in one epoch. Bounded in bytes, of each
// market and of all: what falls out is still in the log.

import { type BookViewDiff, decodeMessage } from '../../../schemas/index.ts';
import { RING_BYTES_MAX, RING_ENTRY_BYTES, RING_HELD_BYTES, RING_SHARE_BYTES, RINGS_BYTES_MAX } from './limits.ts';

/** A change as the log holds it. */
export interface StoredDiff {
  readonly seq: number;
  /** Offset in its partition of `views.book`. */
  readonly offset: bigint;
  readonly bytes: Uint8Array;
}

/** What the rings of a process take together, bytes. */
export interface RingSpace {
  bytes: number;
}

export class Ring {
  readonly #space: RingSpace;
  #epoch = 0;
  /** The state before the oldest change kept, and where in the log it was reached. */
  #baseSeq = 0;
  #baseOffset: bigint | null = null;
  /** Oldest first from `#start`; the part before it is empty and is cut off now and then. */
  #entries: (StoredDiff | null)[] = [];
  #start = 0;
  #bytes = 0;
  /** Clients that are being filled. */
  #holders = 0;

  constructor(space: RingSpace = { bytes: 0 }) {
    this.#space = space;
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
    this.#count(-this.#bytes);
  }

  /** The change after the newest one kept. The bytes are copied, because they may be part of a larger buffer. */
  push(seq: number, offset: bigint, bytes: Uint8Array): void {
    if (seq !== this.#baseSeq + this.size + 1) throw new Error(`change ${seq} does not follow in a ring`);
    this.#entries.push({ seq, offset, bytes: Uint8Array.from(bytes) });
    this.#count(bytes.byteLength + RING_ENTRY_BYTES);
    this.#trim();
  }

  /** Until it is released, less falls out. */
  hold(): void {
    this.#holders += 1;
  }

  release(): void {
    this.#holders -= 1;
    this.#trim();
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

  #trim(): void {
    const more = this.#holders > 0 ? RING_HELD_BYTES : 0;
    const isFull = (): boolean => {
      const isCrowded = this.#space.bytes > RINGS_BYTES_MAX;
      return this.#bytes > (isCrowded ? RING_SHARE_BYTES : RING_BYTES_MAX) + more;
    };
    while (this.size > 0 && isFull()) this.#drop();
    if (this.#start <= this.size) return;
    this.#entries = this.#entries.slice(this.#start);
    this.#start = 0;
  }

  #drop(): void {
    const { seq, offset, bytes } = this.#at(this.#baseSeq + 1);
    this.#baseSeq = seq;
    this.#baseOffset = offset;
    this.#entries[this.#start] = null;
    this.#start += 1;
    this.#count(-bytes.byteLength - RING_ENTRY_BYTES);
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    this.#space.bytes += bytes;
  }
}

/** Throws when the bytes are no change of a book. */
export function decodeDiff(bytes: Uint8Array): BookViewDiff {
  const message = decodeMessage(bytes);
  if (message.name !== 'BookViewDiff') throw new Error(`${message.name} is not a change of a book`);
  return message.value;
}
