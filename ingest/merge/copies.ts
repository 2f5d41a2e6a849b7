// Chooses among the copies of a transaction that several sources bring: each passes once. Pure.

import { isTruncated } from '../../schemas/index.ts';
import type { TransactionLogs } from '../source.ts';
import { Signatures } from './signatures.ts';

/** Copies further ahead of the complete slots do not wait: the leader stands still, or the slot is a lie. */
const AHEAD_SLOTS_MAX = 32;
/** Waiting copies; further ones pass at once. */
const WAITING_MAX = 50_000;

export class Copies {
  readonly #signatures = new Signatures();
  /** By signature, while a better copy may come. */
  readonly #waiting = new Map<string, TransactionLogs>();

  /**
   * The copies that pass now. Until `complete`, the newest complete slot, is that of the copy, a cut log waits for a whole one. So does
   * a copy without its index, where `mayIndex` says that another source may bring it.
   */
  take(copy: TransactionLogs, complete: number, mayIndex: boolean): readonly TransactionLogs[] {
    const { signature } = copy;
    if (this.#signatures.has(signature)) return [];
    const earlier = this.#waiting.get(signature);
    const best = earlier ? better(earlier, copy) : copy;
    if (best.slot - complete > AHEAD_SLOTS_MAX || this.#waiting.size >= WAITING_MAX) {
      this.#waiting.delete(signature);
      return [...this.until(best.slot), this.#passed(best)];
    }
    if (best.slot <= complete || isEnough(best, mayIndex)) return [this.#passed(best)];
    this.#waiting.set(signature, best);
    return [];
  }

  /** The copies that have waited for this slot to be complete. */
  until(complete: number): TransactionLogs[] {
    const due = [...this.#waiting.values()].filter(({ slot }) => slot <= complete);
    return due.map((copy) => this.#passed(copy));
  }

  #passed(copy: TransactionLogs): TransactionLogs {
    this.#waiting.delete(copy.signature);
    this.#signatures.add(copy.signature);
    return copy;
  }
}

function isEnough({ failed, logs, blockIndex }: TransactionLogs, mayIndex: boolean): boolean {
  return failed || (!isTruncated(logs) && (blockIndex !== null || !mayIndex));
}

/**
 * A whole log, and the index and raw signature that either knows. Copies of different slots are not mixed: the later one is where it
 * landed.
 */
function better(earlier: TransactionLogs, later: TransactionLogs): TransactionLogs {
  if (earlier.slot !== later.slot) return later;
  const [best, other] = isTruncated(later.logs) ? [earlier, later] : [later, earlier];
  const signatureBytes = best.signatureBytes ?? other.signatureBytes;
  return { ...best, ...(signatureBytes && { signatureBytes }), blockIndex: best.blockIndex ?? other.blockIndex };
}
