// When this process took in the newest change of each slot: the log holds no clock, so `ts` of an earlier book is known
// only as far back as this.

/** Slots remembered per market: 27 minutes of 400 ms slots, 64 KB. */
const SLOTS = 4_096;

interface Ring {
  readonly slots: Float64Array;
  readonly atMs: Float64Array;
}

export class PublishTimes {
  readonly #rings = new Map<string, Ring>();

  /** A change of a market's book was taken in; `atMs` is unix milliseconds. */
  note(key: string, slot: number, atMs: number): void {
    let ring = this.#rings.get(key);
    if (!ring) {
      ring = { slots: new Float64Array(SLOTS), atMs: new Float64Array(SLOTS) };
      this.#rings.set(key, ring);
    }
    ring.slots[slot % SLOTS] = slot;
    ring.atMs[slot % SLOTS] = atMs;
  }

  /** NaN when it is not known. */
  at(key: string, slot: number): number {
    const ring = this.#rings.get(key);
    if (ring?.slots[slot % SLOTS] !== slot) return Number.NaN;
    return ring.atMs[slot % SLOTS] ?? Number.NaN;
  }
}
