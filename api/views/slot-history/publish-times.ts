// The time at which this process received the newest change of each slot. The log stores no times, so `ts` of an earlier book
// is known only from here.

/** Slots per market: 27 minutes of 400 ms slots, 64 KB. */
const SLOTS = 4_096;

interface Ring {
  readonly slots: Float64Array;
  readonly atMs: Float64Array;
}

export class PublishTimes {
  readonly #rings = new Map<string, Ring>();

  /** Stores the time of a change of a market's book; `atMs` is unix milliseconds. */
  note(key: string, slot: number, atMs: number): void {
    let ring = this.#rings.get(key);
    if (!ring) {
      ring = { slots: new Float64Array(SLOTS), atMs: new Float64Array(SLOTS) };
      this.#rings.set(key, ring);
    }
    ring.slots[slot % SLOTS] = slot;
    ring.atMs[slot % SLOTS] = atMs;
  }

  /** Unix milliseconds; NaN when unknown. */
  at(key: string, slot: number): number {
    const ring = this.#rings.get(key);
    if (ring?.slots[slot % SLOTS] !== slot) return Number.NaN;
    return ring.atMs[slot % SLOTS] ?? Number.NaN;
  }
}
