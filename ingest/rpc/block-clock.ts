// Requests a block time every few slots, beside the stream: nothing waits for the answer.

import type { TimeUpdate } from '../source.ts';

/** A node may know a time a little later than the slot. A slot without a block never gets a time. */
const TRIES_MAX = 20;

export class BlockClock {
  readonly #everySlots: number;
  readonly #fetchTime: (slot: number) => Promise<number | null>;
  readonly #deliver: (update: TimeUpdate) => void;
  /** Slot with a pending time request; null when none is pending. */
  #pendingSlot: number | null = null;
  #tries = 0;
  #nextSlot = 0;
  #isAsking = false;

  constructor(
    everySlots: number,
    fetchTime: (slot: number) => Promise<number | null>,
    deliver: (update: TimeUpdate) => void,
  ) {
    this.#everySlots = everySlots;
    this.#fetchTime = fetchTime;
    this.#deliver = deliver;
  }

  /** Reports a new slot. Runs at most one request at a time, and repeats it at the next slot when it had no answer. */
  slot(slot: number): void {
    if (this.#pendingSlot === null && slot >= this.#nextSlot) {
      this.#pendingSlot = slot;
      this.#tries = 0;
    }
    if (this.#pendingSlot !== null && !this.#isAsking) void this.#turn(this.#pendingSlot);
  }

  async #turn(slot: number): Promise<void> {
    this.#isAsking = true;
    this.#tries += 1;
    // A failed request counts as no answer: the stream itself detects a lost node.
    const ts = await this.#fetchTime(slot).catch(() => null);
    this.#isAsking = false;
    if (ts !== null) {
      this.#nextSlot = slot + this.#everySlots;
      this.#deliver({ kind: 'time', slot, ts });
    }
    if (ts !== null || this.#tries >= TRIES_MAX) this.#pendingSlot = null;
  }
}
