// Follows the chain's finality. After a block time it asks the node for its finalized slot and the time of that block, beside
// the stream. It asks again until that slot has reached the block time, so that a chain that stops becomes final too.

import type { FinalUpdate, TimeUpdate } from '../source.ts';

/** A cluster finalizes a slot about 13 s after its block. */
const ASK_AGAIN_MS = 5_000;

/** Requests to the node. */
export interface FinalityNode {
  /** Newest finalized slot. */
  readonly slot: () => Promise<number>;
  /** Unix seconds of a block; null when the node has none for the slot. */
  readonly time: (slot: number) => Promise<number | null>;
}

export class FinalityClock {
  readonly #everySlots: number;
  readonly #node: FinalityNode;
  readonly #deliver: (update: FinalUpdate) => void;
  readonly #signal: AbortSignal;
  /** Slot of the newest block time. */
  #newest = -1;
  /** Block times before it cause no request. */
  #nextSlot = 0;
  #delivered = -1;
  #isAsking = false;
  #again: NodeJS.Timeout | null = null;

  /** Block times within `everySlots` of the one before cause no request. */
  constructor(everySlots: number, node: FinalityNode, deliver: (update: FinalUpdate) => void, signal: AbortSignal) {
    this.#everySlots = everySlots;
    this.#node = node;
    this.#deliver = deliver;
    this.#signal = signal;
    signal.addEventListener('abort', () => this.#rest(), { once: true });
  }

  /** Reports a block time. Runs at most one request at a time. */
  time({ slot }: TimeUpdate): void {
    this.#newest = Math.max(this.#newest, slot);
    if (slot < this.#nextSlot) return;
    this.#nextSlot = slot + this.#everySlots;
    if (!this.#isAsking) void this.#turn();
  }

  async #turn(): Promise<void> {
    this.#isAsking = true;
    this.#rest();
    const slot = await this.#node.slot().catch(() => -1);
    const ts = slot > this.#delivered ? await this.#node.time(slot).catch(() => null) : null;
    this.#isAsking = false;
    if (this.#signal.aborted) return;
    if (ts !== null) {
      this.#delivered = slot;
      this.#deliver({ kind: 'final', slot, ts });
    }
    if (this.#delivered < this.#newest) this.#again = setTimeout(() => void this.#turn(), ASK_AGAIN_MS).unref();
  }

  #rest(): void {
    if (this.#again) clearTimeout(this.#again);
    this.#again = null;
  }
}
