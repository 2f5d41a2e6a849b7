// Which fills of processed slots stand on the fork that the node follows. Pure: no clock, no I/O.

import type { EncodedEvent } from '../decode/transaction.ts';
import type { Place } from './chain.ts';

/** Transactions with fills above the resolved slot: more than the chain has in two minutes. Beyond it the oldest are forgotten. */
const TRANSACTIONS_MAX = 20_000;

/** A transaction in a slot, with its fills. On another fork it is another one. */
export interface ForkTransaction {
  readonly slot: number;
  /** base58 */
  readonly signature: string;
  readonly fills: readonly EncodedEvent[];
}

/** Withdrawals come first: a transaction may move to another slot. */
export interface FillChanges {
  readonly withdrawn: readonly ForkTransaction[];
  readonly published: readonly ForkTransaction[];
}

export class ForkFills {
  readonly #transactionsMax: number;
  /** By slot and signature, in the order of arrival. */
  readonly #held = new Map<string, ForkTransaction>();
  readonly #published = new Set<string>();
  #resolved = -1;

  constructor(transactionsMax = TRANSACTIONS_MAX) {
    this.#transactionsMax = transactionsMax;
  }

  /** Takes a transaction of any fork. A repeated one, and one of a resolved slot, changes nothing. */
  take(transaction: ForkTransaction): void {
    const id = idOf(transaction);
    if (transaction.slot <= this.#resolved || this.#held.has(id)) return;
    this.#held.set(id, transaction);
    if (this.#held.size <= this.#transactionsMax) return;
    const [oldest] = this.#held.keys();
    if (oldest !== undefined) this.#forget(oldest);
  }

  /** The changes that follow from these places of slots, for all transactions or one alone. A place that is unknown changes nothing. */
  settle(placeOf: (slot: number) => Place, one?: ForkTransaction): FillChanges {
    const withdrawn: ForkTransaction[] = [];
    const published: ForkTransaction[] = [];
    for (const [id, transaction] of one ? this.#entryOf(one) : this.#held) {
      const place = placeOf(transaction.slot);
      if (place === 'left' && this.#published.delete(id)) withdrawn.push(transaction);
      if (place !== 'followed' || this.#published.has(id)) continue;
      this.#published.add(id);
      published.push(transaction);
    }
    return { withdrawn, published: published.sort((one, other) => one.slot - other.slot) };
  }

  /** All confirmed transactions up to `slot` are known. They decide which fills stay. */
  resolve(slot: number): void {
    this.#resolved = Math.max(this.#resolved, slot);
    for (const [id, transaction] of this.#held) if (transaction.slot <= slot) this.#forget(id);
  }

  #entryOf(transaction: ForkTransaction): readonly (readonly [string, ForkTransaction])[] {
    const id = idOf(transaction);
    const held = this.#held.get(id);
    return held ? [[id, held]] : [];
  }

  #forget(id: string): void {
    this.#held.delete(id);
    this.#published.delete(id);
  }
}

function idOf({ slot, signature }: ForkTransaction): string {
  return `${slot}:${signature}`;
}
