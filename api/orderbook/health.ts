// Whether the slot source runs, judged when asked (reference 5.1); it recovers by itself.

/** Slots per second below which an advancing slot still counts as stalled (`MIN_SLOT_RATE` of reference 5.1). */
const MIN_SLOT_RATE = 0.03;

export interface SlotSight {
  /** Newest slot seen, null before the first. */
  readonly slot: number | null;
  /** Wall-clock milliseconds at which it was first seen (or at which watching began). */
  readonly advancedAtMs: number;
}

export class SlotHealth {
  readonly #stallMs: number;
  #last: { slot: number; atMs: number } | null = null;

  /** `stallMs`: how long the slot may stand still. */
  constructor(stallMs: number) {
    this.#stallMs = stallMs;
  }

  /** True while slots advance; `nowMs` is wall-clock milliseconds. */
  healthy({ slot, advancedAtMs }: SlotSight, nowMs: number): boolean {
    if (nowMs - advancedAtMs > this.#stallMs) return false;
    if (slot === null || this.#last === null) {
      if (slot !== null) this.#last = { slot, atMs: nowMs };
      return true;
    }
    const { slot: lastSlot, atMs } = this.#last;
    if (slot <= lastSlot) return true;
    this.#last = { slot, atMs: nowMs };
    return ((slot - lastSlot) * 1000) / Math.max(1, nowMs - atMs) >= MIN_SLOT_RATE;
  }
}
