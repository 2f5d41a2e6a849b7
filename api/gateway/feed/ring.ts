// The newest changes of one market in memory, encoded, contiguous in one epoch. Bounded in bytes per market and for all markets;
// dropped changes remain in the log.

import { type BookViewDiff, decodeMessage } from '../../../schemas/index.ts';
import { RING_BACKFILL_BYTES, RING_BYTES_MAX, RING_ENTRY_BYTES, RING_SHARE_BYTES, RINGS_BYTES_MAX } from './limits.ts';

/**
 * Changes share memory: an array for each one would cost the garbage collector more than the change. A chunk stays as long as
 * one of its changes.
 */
const CHUNK_BYTES = 8 * 1024;

/** A change as encoded in the log. */
interface StoredDiff {
  readonly seq: number;
  /** Offset in the market's partition of the topic. */
  readonly offset: bigint;
  /** Its bytes are those of the chunk between `from` and `to`. */
  readonly chunk: Uint8Array;
  readonly from: number;
  readonly to: number;
}

/** Memory of all rings of a process, bytes. */
export interface RingSpace {
  bytes: number;
}

export class Ring {
  readonly #space: RingSpace;
  #epoch = 0;
  /** Sequence before the oldest change in the ring, and its offset in the log. */
  #baseSeq = 0;
  #baseOffset: bigint | null = null;
  /** Oldest first from `#start`; the empty part before it is cut off at times. */
  #entries: (StoredDiff | null)[] = [];
  #start = 0;
  #bytes = 0;
  /** Where the next changes go, and how much of it is used. */
  #chunk = new Uint8Array(0);
  #used = 0;
  /** Number of clients whose backfill uses the ring. */
  #pins = 0;

  constructor(space: RingSpace = { bytes: 0 }) {
    this.#space = space;
  }

  get epoch(): number {
    return this.#epoch;
  }

  /** The ring holds every change after this sequence. */
  get baseSeq(): number {
    return this.#baseSeq;
  }

  get size(): number {
    return this.#entries.length - this.#start;
  }

  /** Empties the ring at a new state. `offset` null: the end of the log. */
  reset(epoch: number, seq: number, offset: bigint | null): void {
    this.#epoch = epoch;
    this.#baseSeq = seq;
    this.#baseOffset = offset;
    this.#entries = [];
    this.#start = 0;
    this.#count(-this.#bytes);
  }

  /** Appends the next change. Copies the bytes, because they may belong to a larger buffer. */
  push(seq: number, offset: bigint, bytes: Uint8Array): void {
    if (seq !== this.#baseSeq + this.size + 1)
      throw new Error(`change ${seq} does not follow the newest one in the ring`);
    const size = bytes.byteLength;
    if (this.#used + size > this.#chunk.length) {
      this.#chunk = new Uint8Array(Math.max(CHUNK_BYTES, size));
      this.#used = 0;
    }
    const [from, to] = [this.#used, this.#used + size];
    this.#chunk.set(bytes, from);
    this.#used = to;
    this.#entries.push({ seq, offset, chunk: this.#chunk, from, to });
    this.#count(size + RING_ENTRY_BYTES);
    this.#trim();
  }

  /** Gives the ring RING_BACKFILL_BYTES more room until `unpin`, so that a backfill finds its changes. */
  pin(): void {
    this.#pins += 1;
  }

  unpin(): void {
    this.#pins -= 1;
    this.#trim();
  }

  /** One change of a book, decoded. Throws a RangeError when the ring does not hold it. */
  diff(seq: number): BookViewDiff {
    return decodeDiff(this.encoded(seq));
  }

  /** One change, encoded. Throws a RangeError when the ring does not hold it. */
  encoded(seq: number): Uint8Array {
    const { chunk, from, to } = this.#at(seq);
    return chunk.subarray(from, to);
  }

  /** A change a quarter into the ring. A log read that ends there still meets the ring after it drops some changes. */
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
    const more = this.#pins > 0 ? RING_BACKFILL_BYTES : 0;
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
    const { seq, offset, from, to } = this.#at(this.#baseSeq + 1);
    this.#baseSeq = seq;
    this.#baseOffset = offset;
    this.#entries[this.#start] = null;
    this.#start += 1;
    this.#count(from - to - RING_ENTRY_BYTES);
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    this.#space.bytes += bytes;
  }
}

/** Decodes a change; throws for any other message. */
export function decodeDiff(bytes: Uint8Array): BookViewDiff {
  const message = decodeMessage(bytes);
  if (message.name !== 'BookViewDiff') throw new Error(`${message.name} is not a change of a book`);
  return message.value;
}
