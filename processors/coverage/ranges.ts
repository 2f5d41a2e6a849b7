// The contiguous ranges of record numbers of one stream, with the slots at their ends.

/** Numbers `fromId` to `toId`, all stored, and the slots of the two. */
export interface StoredRange {
  fromId: number;
  toId: number;
  fromSlot: number;
  toSlot: number;
}

/** Ranges of a stream of a market, and of one of an account: accounts are many. */
const RANGES_MAX = 1_000;
export const ACCOUNT_RANGES_MAX = 50;

export class StoredRanges {
  readonly #ranges: StoredRange[];
  readonly #max: number;
  #forgottenId: number;

  /** Beyond `max` ranges the oldest two become one, and the hole between them is forgotten. */
  constructor(ranges: readonly StoredRange[] = [], max = RANGES_MAX, forgottenId = 0) {
    this.#max = max;
    this.#forgottenId = forgottenId;
    this.#ranges = ranges.map((range) => ({ ...range }));
  }

  /** Oldest first. */
  get ranges(): readonly StoredRange[] {
    return this.#ranges;
  }

  /** Newest number of a forgotten hole; 0 without one. */
  get forgottenId(): number {
    return this.#forgottenId;
  }

  has(id: number): boolean {
    return id <= (this.#ranges[this.#firstFrom(id) - 1]?.toId ?? 0);
  }

  /** Adds a number. False when it was known. The order of the calls makes no difference below the largest number of ranges. */
  add(id: number, slot: number): boolean {
    const ranges = this.#ranges;
    const at = this.#firstFrom(id);
    const before = ranges[at - 1];
    const after = ranges[at];
    if (before && id <= before.toId) return false;
    const isAfterBefore = before?.toId === id - 1;
    if (after?.fromId === id) return false;
    const isBeforeAfter = after?.fromId === id + 1;
    if (isAfterBefore && isBeforeAfter && before && after) {
      before.toId = after.toId;
      before.toSlot = after.toSlot;
      ranges.splice(at, 1);
    } else if (isAfterBefore && before) {
      before.toId = id;
      before.toSlot = slot;
    } else if (isBeforeAfter && after) {
      after.fromId = id;
      after.fromSlot = slot;
    } else ranges.splice(at, 0, { fromId: id, toId: id, fromSlot: slot, toSlot: slot });
    this.#bound();
    return true;
  }

  /** Index of the first range that begins above the number. */
  #firstFrom(id: number): number {
    let low = 0;
    let high = this.#ranges.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#ranges[middle]?.fromId ?? 0) <= id) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #bound(): void {
    const [first, second] = this.#ranges;
    if (this.#ranges.length <= this.#max || !first || !second) return;
    this.#forgottenId = second.fromId - 1;
    this.#ranges.splice(0, 2, { ...first, toId: second.toId, toSlot: second.toSlot });
  }
}
