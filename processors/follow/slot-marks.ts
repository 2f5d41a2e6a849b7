// Offsets by chain slot, for a reducer that reads a part of its topics again. A backfill puts old records behind new ones, so
// no record of the log shows by its own slot where a newer one begins.

/** About ten minutes. */
const STEP_SLOTS = 1_500;
/** Six weeks of marks: 24 bytes each. A read of older slots begins with the oldest record. */
const MARKS_MAX = 6_000;
const NUMBER_BYTES = 8;

interface Mark {
  /** No record before the offsets has a higher slot. */
  readonly slot: number;
  /** Next offset of each topic. */
  readonly offsets: readonly bigint[];
}

/** Where the records after a slot begin, in one partition of several topics. */
export class SlotMarks {
  readonly #topics: number;
  #marks: Mark[] = [];
  #isSaved = true;

  /** `topics`: the number of topics. */
  constructor(topics: number) {
    this.#topics = topics;
  }

  /** `newest`: no record before the offsets has a higher slot. Offsets fall only where a partition lost its tail: marks behind it go. */
  note(newest: number, offsets: readonly bigint[]): void {
    while (this.#marks.at(-1)?.offsets.some((offset, topic) => offset > (offsets[topic] ?? 0n))) {
      this.#marks.pop();
      this.#isSaved = false;
    }
    if (newest < (this.#marks.at(-1)?.slot ?? 0) + STEP_SLOTS) return;
    this.#marks.push({ slot: newest, offsets });
    if (this.#marks.length > MARKS_MAX) this.#marks.shift();
    this.#isSaved = false;
  }

  /** Offsets by topic from which on all records above a slot lie, `earlier` marks before the best ones; null for the oldest records. */
  before(slot: number, earlier = 0): readonly bigint[] | null {
    const best = this.#marks.findLastIndex((mark) => mark.slot <= slot);
    return this.#marks[best - earlier]?.offsets ?? null;
  }

  /** All marks, if they changed since the last call; else null. */
  takeChange(): Buffer | null {
    if (this.#isSaved) return null;
    this.#isSaved = true;
    const bytes = Buffer.alloc(this.#marks.length * this.#markBytes);
    for (const [index, { slot, offsets }] of this.#marks.entries()) {
      const at = index * this.#markBytes;
      bytes.writeDoubleLE(slot, at);
      for (const [topic, offset] of offsets.entries()) bytes.writeBigUInt64LE(offset, at + (topic + 1) * NUMBER_BYTES);
    }
    return bytes;
  }

  /** Restores the bytes of `takeChange`. */
  restore(bytes: Uint8Array): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#marks = [];
    for (let at = 0; at + this.#markBytes <= bytes.length; at += this.#markBytes) {
      const offsets = Array.from({ length: this.#topics }, (_, topic) =>
        view.getBigUint64(at + (topic + 1) * NUMBER_BYTES, true),
      );
      this.#marks.push({ slot: view.getFloat64(at, true), offsets });
    }
  }

  get #markBytes(): number {
    return (this.#topics + 1) * NUMBER_BYTES;
  }
}
