// Decides when a slot is complete: its label follows all account data of the slot at the commitment in use.
// Pure: the caller supplies the answers of the node.

/** A slot whose accounts have all arrived, or null. */
export type Label = number | null;

/** An announcement further ahead than this counts only when the next one agrees: longer than any outage of a cluster's slots. */
const ANNOUNCED_AHEAD_MAX = 500;

/** An answer of the node while no account data came. */
interface Answer {
  /** Newest slot at the commitment in use. */
  readonly slot: number;
  /** Newest slot of all. */
  readonly processedSlot: number;
}

export class SlotLabels {
  /** Newest slot with account data. */
  #data: number;
  /** Last slot that the node announced. It may be of an earlier commitment than the data. */
  #announced = -1;
  /** An announcement far ahead of the one before. */
  #far: number | null = null;
  #answer: Answer | null = null;
  #labelled: number;
  #late = 0;

  /** `from`: slot of the last label. No label is at or below it. `data`: newest slot whose data is delivered. */
  constructor(from: number, data = from) {
    this.#labelled = from;
    this.#data = data;
  }

  /** Slot of the last label. */
  get labelledSlot(): number {
    return this.#labelled;
  }

  /** Newest slot with account data. */
  get dataSlot(): number {
    return this.#data;
  }

  get announcedSlot(): number {
    return this.#announced;
  }

  /** Account updates that came after the label of their slot. */
  get late(): number {
    return this.#late;
  }

  /** Account data of a slot arrived. Data of a newer slot completes the slot before it: one connection keeps their order. */
  data(slot: number): Label {
    if (slot <= this.#labelled) this.#late += 1;
    if (slot <= this.#data) return null;
    const complete = this.#data;
    this.#data = slot;
    return this.#label(complete);
  }

  /** The node announced a slot. All that it sent before has arrived, because one connection keeps the order. */
  announced(slot: number): void {
    const isFar = this.#announced >= 0 && slot > this.#announced + ANNOUNCED_AHEAD_MAX;
    const isAlone = this.#far === null || slot < this.#far;
    this.#far = isFar ? slot : null;
    if (!(isFar && isAlone)) this.#announced = slot;
  }

  /** The snapshot holds data of these slots. Labels continue at the newest. */
  snapshot(newest: number): void {
    this.#data = Math.max(this.#data, newest);
  }

  /** Whether slots without account data may have passed. */
  get mayLag(): boolean {
    return this.#announced > this.#labelled;
  }

  /**
   * No data came for a while, and the node answered its newest slot at the commitment in use and its newest slot of all. The
   * first is complete at a later answer, once the node announced the second or a later one. An announcement alone proves nothing:
   * that of a slot on another fork, or of one that the node has only begun, was sent before the answer.
   */
  quiet(slot: number, processedSlot: number): Label {
    const before = this.#answer;
    this.#answer = slot <= processedSlot ? { slot, processedSlot } : null;
    if (before === null) return null;
    const stands = before.processedSlot === processedSlot && this.#announced === processedSlot;
    return stands || this.#announced > before.processedSlot ? this.complete(before.slot) : null;
  }

  /** The source has delivered all account data up to this slot. */
  complete(slot: number): Label {
    // Newer data is delivered: the books are already ahead of this slot.
    return slot < this.#data ? null : this.#label(slot);
  }

  #label(slot: number): Label {
    if (slot <= this.#labelled) return null;
    this.#labelled = slot;
    this.#data = Math.max(this.#data, slot);
    return slot;
  }
}
