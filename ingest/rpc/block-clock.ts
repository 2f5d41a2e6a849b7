// Asks for the time of a block now and then, beside the stream: nothing waits for the answer.

import type { TimeUpdate } from '../source.ts';

/** A node may know a time a little later than the slot; a slot without a block never gets one. */
const TRIES_MAX = 20;

export class BlockClock {
  readonly #everySlots: number;
  readonly #ask: (slot: number) => Promise<number | null>;
  readonly #tell: (update: TimeUpdate) => void;
  /** Slot whose time is wanted, null while none is. */
  #wanted: number | null = null;
  #tries = 0;
  #nextSlot = 0;
  #isAsking = false;

  constructor(everySlots: number, ask: (slot: number) => Promise<number | null>, tell: (update: TimeUpdate) => void) {
    this.#everySlots = everySlots;
    this.#ask = ask;
    this.#tell = tell;
  }

  /** A slot was reached. Asks at most once at a time, again at the next slot when there was no answer. */
  slot(slot: number): void {
    if (this.#wanted === null && slot >= this.#nextSlot) {
      this.#wanted = slot;
      this.#tries = 0;
    }
    if (this.#wanted !== null && !this.#isAsking) void this.#turn(this.#wanted);
  }

  async #turn(slot: number): Promise<void> {
    this.#isAsking = true;
    this.#tries += 1;
    // A failure is a missing answer: the stream itself notices when the node is gone.
    const ts = await this.#ask(slot).catch(() => null);
    this.#isAsking = false;
    if (ts !== null) {
      this.#nextSlot = slot + this.#everySlots;
      this.#tell({ kind: 'time', slot, ts });
    }
    if (ts !== null || this.#tries >= TRIES_MAX) this.#wanted = null;
  }
}
