// Numbers the records of each key, contiguous inside an epoch: fills of a market, order changes of an account. The numbers are part
// of the committed state, so a restarted role gives a repeated record its first number.

import type { StatePiece } from '../follow/pieces.ts';

/** An hour: fills that are more slots behind the newest event are history only. */
export const TRADE_AGE_SLOTS_MAX = 9_000;
const EPOCH = 'epoch';
const NEWEST_SLOT = 'newest-slot';
const KEY = 'key:';

export interface RecordNumber {
  readonly epoch: number;
  readonly seq: number;
}

export class Numbering {
  #epoch: number;
  #newestSlot = 0;
  readonly #seqs = new Map<string, number>();
  readonly #changed = new Set<string>();

  /** `firstEpoch`: the epoch without restored state; larger than every earlier one of the partition. */
  constructor(firstEpoch: number) {
    this.#epoch = firstEpoch;
    this.#changed.add(EPOCH);
  }

  /** Slot of the newest event. It is saved because it decides which records are published, and so their numbers. */
  get newestSlot(): number {
    return this.#newestSlot;
  }

  see(slot: number): void {
    if (slot <= this.#newestSlot) return;
    this.#newestSlot = slot;
    this.#changed.add(NEWEST_SLOT);
  }

  /** The number of the next record of a key. `take` uses it up. */
  next(key: string): RecordNumber {
    return { epoch: this.#epoch, seq: (this.#seqs.get(key) ?? 0) + 1 };
  }

  /** The number of the newest record of a key; `seq` 0 before the first. */
  last(key: string): RecordNumber {
    return { epoch: this.#epoch, seq: this.#seqs.get(key) ?? 0 };
  }

  take(key: string): void {
    this.#seqs.set(key, this.next(key).seq);
    this.#changed.add(KEY + key);
  }

  /** State changed since the last call. */
  takeChanges(): StatePiece[] {
    const pieces = [...this.#changed].map((name) => ({
      name,
      bytes: Buffer.from(String(this.#valueOf(name)), 'utf8'),
    }));
    this.#changed.clear();
    return pieces;
  }

  /** Restores pieces of `takeChanges`, in any order. */
  restore(pieces: Iterable<{ readonly name: string; readonly bytes: Uint8Array }>): void {
    for (const { name, bytes } of pieces) {
      const value = Number(Buffer.from(bytes).toString('utf8'));
      if (!Number.isSafeInteger(value) || value < 0) throw new Error(`the saved number of ${name} is unreadable`);
      if (name === EPOCH) {
        this.#epoch = value;
        this.#changed.delete(EPOCH);
      } else if (name === NEWEST_SLOT) this.#newestSlot = value;
      else if (name.startsWith(KEY)) this.#seqs.set(name.slice(KEY.length), value);
    }
  }

  #valueOf(name: string): number {
    if (name === EPOCH) return this.#epoch;
    if (name === NEWEST_SLOT) return this.#newestSlot;
    return this.#seqs.get(name.slice(KEY.length)) ?? 0;
  }
}
