// Finds the index in its block of the transaction that wrote an account: account updates and transactions have the same signature.

import { keyText } from '../schemas/index.ts';
import { changed } from './packed-update.ts';
import type { AccountUpdate, SourceUpdate } from './source.ts';

/** Transactions that are remembered: some slots of a full chain, about 2 MB. */
const TRANSACTIONS_MAX = 20_000;

export class BlockIndexes {
  /** By raw signature as text, oldest first. */
  readonly #indexes = new Map<string, number>();

  /** Takes the transactions of a batch. Call it before the batch's account updates are asked about, in whatever order they came. */
  take(batch: readonly SourceUpdate[]): void {
    for (const update of batch) {
      if (update.kind !== 'transaction' || update.blockIndex === null || !update.signatureBytes) continue;
      this.#indexes.set(keyText(update.signatureBytes), update.blockIndex);
    }
    for (const oldest of this.#indexes.keys()) {
      if (this.#indexes.size <= TRANSACTIONS_MAX) return;
      this.#indexes.delete(oldest);
    }
  }

  /**
   * The update with the index of its transaction. Without it when the transaction has not come yet, or never comes: those of
   * other programs do not, and PubSub names neither.
   */
  joined(update: AccountUpdate): AccountUpdate {
    if (update.signature === undefined) return update;
    const blockIndex = this.#indexes.get(keyText(update.signature));
    return blockIndex === undefined ? update : changed(update, { blockIndex });
  }
}
