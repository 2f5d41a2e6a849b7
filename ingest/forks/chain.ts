// Which slots above the newest confirmed one belong to the fork that the node follows. Pure: news of slots in any order.

/** Slots of which news is kept: over three minutes of 400 ms slots without a confirmed one, as when the cluster has stopped. */
const SLOTS_MAX = 512;

/** Whether a block belongs to the fork that the node follows, as far as is known. */
export type Place = 'followed' | 'left' | 'unknown';

export class ForkChain {
  readonly #parents = new Map<number, number>();
  readonly #dead = new Set<number>();
  /** Slots whose data the node sent. */
  readonly #delivered = new Set<number>();
  /** Slots of the fork that the node changed to, whose data it did not send. */
  readonly #hidden = new Set<number>();
  #confirmed = -1;
  #tip = -1;
  /**
   * True while the node's fork is unknown: before its first data, and after the chain has decided between forks. A node may
   * stay on the lost one.
   */
  #isLost = true;
  /** The confirmed slot must reach this one first, because data up to here may be missing. */
  #completeAfter = Number.POSITIVE_INFINITY;
  #slots: ReadonlySet<number> = new Set();
  /** The greatest of them; -1 without any. */
  #newestSlot = -1;
  /** From the tip down to the confirmed slot, with slots behind hidden ones. */
  #path: ReadonlySet<number> = new Set();
  /** Confirmed slots whose block, if any, is not on the confirmed chain. */
  readonly #bypassed = new Set<number>();
  /** Parents of slots up to the confirmed one. */
  readonly #past = new Map<number, number>();
  /** Confirmed blocks whose parent no news has named, with the slot down to which their ancestors are looked for. */
  readonly #unlinked = new Map<number, number>();
  #version = 0;

  /** Changes whenever the place of a slot may have changed. */
  get version(): number {
    return this.#version;
  }

  /** Slots above the confirmed one that belong to the fork. A fork that contradicts the confirmed slot has none. */
  get slots(): ReadonlySet<number> {
    return this.#slots;
  }

  get confirmed(): number {
    return this.#confirmed;
  }

  /** Newest of `slots`; the confirmed slot while there are none. */
  get newest(): number {
    return Math.max(this.#confirmed, this.#newestSlot);
  }

  /** Newest slot that the node follows, dead or not; -1 before the first. */
  get tip(): number {
    return this.#tip;
  }

  /** A slot before the confirmed one is known to be left only where the parents in between are known. */
  placeOf(slot: number): Place {
    if (slot <= this.#confirmed) return this.#bypassed.has(slot) ? 'left' : 'unknown';
    if (this.#path.has(slot)) return 'followed';
    if (this.#dead.has(slot)) return 'left';
    return this.#isComplete && slot <= this.#tip ? 'left' : 'unknown';
  }

  /** Whether the confirmed block of `slot` is of another fork, and does not stand on the block of `earlier`, as far as is known. */
  hasLeft(earlier: number, slot: number): boolean {
    return this.placeOf(slot) === 'left' && !this.#standsOn(slot, earlier);
  }

  /** Nothing counts until the chain has confirmed `slot`: data of it and of slots before it may be missing. */
  restart(slot: number): void {
    for (const news of [this.#parents, this.#dead, this.#delivered, this.#hidden]) news.clear();
    this.#tip = -1;
    this.#isLost = true;
    this.#completeAfter = slot;
    this.#slots = new Set();
    this.#newestSlot = -1;
    this.#path = new Set();
    this.#version += 1;
  }

  /** The block of `slot` stands on the block of `parent`. */
  link(slot: number, parent: number): void {
    if (parent >= slot) return;
    if (slot <= this.#confirmed) {
      this.#linkPast(slot, parent);
      return;
    }
    this.#parents.set(slot, parent);
    if (this.#parents.size > SLOTS_MAX) this.restart(Math.max(...this.#parents.keys()));
    this.#evaluate();
  }

  /** News of a confirmed block may come after its confirmation, which another stream brings. */
  #linkPast(slot: number, parent: number): void {
    if (slot < this.#confirmed - SLOTS_MAX) return;
    this.#past.set(slot, parent);
    const lowest = this.#unlinked.get(slot);
    if (lowest === undefined) return;
    this.#unlinked.delete(slot);
    this.#bypass(slot, lowest);
    this.#version += 1;
  }

  /** The block of `slot` is invalid, and so is every block on it. */
  dead(slot: number): void {
    if (slot <= this.#confirmed) return;
    this.#dead.add(slot);
    this.#evaluate();
  }

  /** The node sent data of this slot. */
  delivered(slot: number): void {
    if (slot > this.#confirmed) this.#delivered.add(slot);
  }

  /** The node's newest block is that of `slot`. News of an older slot changes nothing. */
  follow(slot: number): void {
    if (slot <= this.#tip || slot <= this.#confirmed) return;
    if (!this.isUncontested(slot)) this.#hide(slot);
    this.#tip = slot;
    this.#isLost = false;
    this.#evaluate();
  }

  /** Whether the block of `slot` stands on the newest block that the node followed, as far as is known. */
  extends(slot: number): boolean {
    return this.#branch(slot) !== null;
  }

  /** Whether it does, and no newer block than that one is of another fork. Only then the node follows it also without data. */
  isUncontested(slot: number): boolean {
    const branch = this.#branch(slot);
    if (branch === null) return false;
    const newest = this.#newestAlive();
    const others = [...this.#parents.keys()].filter((other) => other > newest && !branch.includes(other));
    return others.every((other) => this.#standsOn(other, slot) || this.#isInvalid(other));
  }

  /** Whether one block is another, or stands on it, as far as is known. */
  #standsOn(slot: number, earlier: number): boolean {
    let at: number | undefined = slot;
    while (at !== undefined && at > earlier) at = this.#parents.get(at);
    return at === earlier;
  }

  /** Whether a block is dead, or one that it stands on. */
  #isInvalid(slot: number): boolean {
    let at: number | undefined = slot;
    while (at !== undefined && !this.#dead.has(at)) at = this.#parents.get(at);
    return at !== undefined;
  }

  /** Slots from this one down to the newest block that the node followed, without that one; null when they do not lead there. */
  #branch(slot: number): readonly number[] | null {
    if (this.#isLost) return null;
    const newest = this.#newestAlive();
    const branch: number[] = [];
    let at = slot;
    while (at > newest) {
      const parent = this.#parents.get(at);
      if (parent === undefined || this.#dead.has(at)) return null;
      branch.push(at);
      at = parent;
    }
    return at === newest ? branch : null;
  }

  /** The newest followed block without a dead one below it, also on a fork that lost; the confirmed slot when there is none. */
  #newestAlive(): number {
    let newest = this.#tip;
    for (let at: number | undefined = this.#tip; at !== undefined && at > this.#confirmed; at = this.#parents.get(at)) {
      if (this.#dead.has(at)) newest = this.#parents.get(at) ?? this.#confirmed;
    }
    return Math.max(this.#confirmed, newest);
  }

  /** The chain has confirmed `slot`, and all its accounts up to there are known. */
  confirm(slot: number): void {
    if (slot <= this.#confirmed) return;
    const newest = this.#newestAlive();
    for (const [one, parent] of this.#parents) if (one <= slot) this.#past.set(one, parent);
    this.#bypass(slot, Math.max(this.#confirmed, slot - SLOTS_MAX));
    const isLeft = (one: number) => one >= newest && this.#bypassed.has(one) && !this.#isInvalid(one);
    this.#isLost ||= [newest, ...this.#parents.keys()].some(isLeft);
    this.#confirmed = slot;
    this.#forget(slot - SLOTS_MAX);
    for (const one of this.#parents.keys()) if (one <= slot) this.#parents.delete(one);
    for (const slots of [this.#dead, this.#delivered, this.#hidden]) {
      for (const one of slots) if (one <= slot) slots.delete(one);
    }
    this.#evaluate();
  }

  /** Walks from a confirmed slot down to `lowest`, or to the first unknown parent. */
  #bypass(slot: number, lowest: number): void {
    let at = slot;
    while (at > lowest + 1) {
      const parent = this.#past.get(at);
      if (parent === undefined) {
        this.#unlinked.set(at, lowest);
        return;
      }
      for (let one = at - 1; one > Math.max(parent, lowest); one--) this.#bypassed.add(one);
      at = parent;
    }
  }

  /** Forgets confirmed slots before this one. */
  #forget(before: number): void {
    for (const slots of [this.#bypassed, this.#past, this.#unlinked]) {
      for (const one of slots.keys()) if (one < before) slots.delete(one);
    }
  }

  get #isComplete(): boolean {
    return this.#confirmed >= this.#completeAfter;
  }

  /** A node that changes its fork sends the data of the newest block alone, and may have changed it where two forks compete. */
  #hide(tip: number): void {
    for (let slot = this.#parents.get(tip) ?? -1; slot > this.#confirmed; slot = this.#parents.get(slot) ?? -1) {
      if (this.#slots.has(slot)) return;
      if (!this.#delivered.has(slot)) this.#hidden.add(slot);
    }
  }

  #evaluate(): void {
    const path = this.#isComplete ? this.#walk() : [];
    const hidden = Math.min(...path.filter((slot) => this.#hidden.has(slot)));
    // Blocks above a block without data are unknown, too.
    this.#slots = new Set(path.filter((slot) => slot < hidden));
    this.#newestSlot = Math.max(-1, ...this.#slots);
    this.#path = new Set(path);
    this.#version += 1;
  }

  /** From the tip down to the confirmed slot. */
  #walk(): number[] {
    let path: number[] = [];
    let slot = this.#tip;
    while (slot > this.#confirmed) {
      if (this.#dead.has(slot)) path = [];
      else path.push(slot);
      const parent = this.#parents.get(slot);
      if (parent === undefined) return [...path, ...this.#unlinkedBelow(slot)];
      slot = parent;
    }
    return slot === this.#confirmed || this.#tip <= this.#confirmed ? path : [];
  }

  /** Without news of a parent, the slots before it stay as they are. */
  #unlinkedBelow(slot: number): number[] {
    return [...this.#path].filter((one) => one < slot && one > this.#confirmed && !this.#dead.has(one));
  }
}
