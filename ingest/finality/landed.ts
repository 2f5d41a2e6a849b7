// Follows transactions of dropped slots until they have expired: one that lands again gets its events with the new slot.

import type { Logger } from '../../platform/index.ts';
import type { FinalityReader, TransactionPlace } from '../source.ts';

/** A transaction is valid for 150 blocks after its block hash; the double leaves room for skipped slots. */
const VALID_SLOTS = 300;

export interface LandedAgainParts {
  readonly reader: FinalityReader;
  /** Writes the events of final transactions with the slots they have there. Returns those that no node returned. */
  readonly write: (places: readonly TransactionPlace[]) => Promise<readonly TransactionPlace[]>;
  /** Counts transactions that were given up. */
  readonly unchecked: (transactions: number) => void;
  readonly logger: Logger;
}

export class LandedAgain {
  readonly #parts: LandedAgainParts;
  /** Dropped slot by signature. */
  readonly #waiting = new Map<string, number>();

  constructor(parts: LandedAgainParts) {
    this.#parts = parts;
  }

  /** Transactions of a dropped slot, now or in an earlier process. */
  dropped(slot: number, signatures: readonly string[]): void {
    for (const signature of signatures) this.#waiting.set(signature, slot);
  }

  /**
   * Writes transactions that have landed, and forgets expired ones. Rejects when no node answers; the next round repeats it.
   */
  async round(finalSlot: number): Promise<void> {
    if (this.#waiting.size === 0) return;
    const places = await this.#parts.reader.landed([...this.#waiting.keys()]);
    const found = places.filter(({ signature, slot }) => slot !== this.#waiting.get(signature));
    const lost = found.length > 0 ? await this.#parts.write(found) : [];
    const open = new Set(lost.map(({ signature }) => signature));
    for (const { signature } of found) if (!open.has(signature)) this.#waiting.delete(signature);
    this.#expire(finalSlot, open);
  }

  #expire(finalSlot: number, open: ReadonlySet<string>): void {
    for (const [signature, slot] of this.#waiting) {
      if (slot + VALID_SLOTS >= finalSlot) continue;
      this.#waiting.delete(signature);
      if (!open.has(signature)) continue;
      this.#parts.unchecked(1);
      this.#parts.logger.warn({ signature, slot }, 'could not fetch a transaction that landed again');
    }
  }
}
