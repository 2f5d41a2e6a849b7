// Transactions that the chain dropped, by slot. They are rare, so the set is kept for good: their events may be read later.

import { keyText, SIGNATURE_BYTES, type SlotRetraction } from '../../schemas/index.ts';

export interface WithdrawnPiece {
  readonly name: string;
  readonly bytes: Uint8Array;
}

export class Withdrawn {
  readonly #bySlot = new Map<number, Set<string>>();
  readonly #changed = new Set<number>();

  /** Whether a slot has dropped transactions. */
  hasSlot(slot: number): boolean {
    return this.#bySlot.has(slot);
  }

  has(slot: number, signature: Uint8Array): boolean {
    return this.#bySlot.get(slot)?.has(keyText(signature)) ?? false;
  }

  add({ slot, signatures }: SlotRetraction): void {
    const own = this.#bySlot.get(slot) ?? new Set();
    for (const signature of signatures) own.add(keyText(signature));
    this.#bySlot.set(slot, own);
    this.#changed.add(slot);
  }

  /** Slots changed since the last call, with all their transactions. */
  takeChanges(): WithdrawnPiece[] {
    const pieces = [...this.#changed].map((slot) => {
      const bytes = Buffer.from([...(this.#bySlot.get(slot) ?? [])].join(''), 'latin1');
      return { name: String(slot), bytes };
    });
    this.#changed.clear();
    return pieces;
  }

  /** Restores a piece of `takeChanges`. */
  restore({ name, bytes }: WithdrawnPiece): void {
    const own = new Set<string>();
    for (let at = 0; at < bytes.length; at += SIGNATURE_BYTES)
      own.add(keyText(bytes.subarray(at, at + SIGNATURE_BYTES)));
    this.#bySlot.set(Number(name), own);
  }
}
