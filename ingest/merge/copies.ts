// Chooses among the copies of a transaction that several sources bring: each passes once. Pure.

import { isTruncated } from '../../schemas/index.ts';
import type { TransactionLogs } from '../source.ts';
import { Signatures } from './signatures.ts';

/** A copy further ahead of the complete slots does not wait: the leader stands still, or the slot is a lie. */
const AHEAD_SLOTS_MAX = 32;
/** Waiting copies; further ones pass at once. */
const WAITING_MAX = 50_000;

export class Copies {
  readonly #signatures = new Signatures();
  /** By signature, while a better copy may come. */
  readonly #waiting = new Map<string, TransactionLogs>();

  /**
   * The copy that passes now, null when none does. Until `complete`, the newest complete slot, is that of the copy, a cut log waits for
   * a whole one, and a follower's copy without its index for the leader's.
   */
  take(copy: TransactionLogs, complete: number, isLeader: boolean): TransactionLogs | null {
    const { signature } = copy;
    if (this.#signatures.has(signature)) return null;
    const earlier = this.#waiting.get(signature);
    const best = earlier ? better(earlier, copy) : copy;
    const isInTime = complete < best.slot && best.slot - complete <= AHEAD_SLOTS_MAX;
    if (!isInTime || isEnough(best, isLeader) || this.#waiting.size >= WAITING_MAX) return this.#passed(best);
    this.#waiting.set(signature, best);
    return null;
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

/** A leader that knows no index never brings a better copy. */
function isEnough({ failed, logs, blockIndex }: TransactionLogs, isLeader: boolean): boolean {
  return failed || (!isTruncated(logs) && (blockIndex !== null || isLeader));
}

/** A whole log, and the index that either knows. Copies of different slots are not mixed: the later one is where it landed. */
function better(earlier: TransactionLogs, later: TransactionLogs): TransactionLogs {
  if (earlier.slot !== later.slot) return later;
  const [best, other] = isTruncated(later.logs) ? [earlier, later] : [later, earlier];
  return best.blockIndex === null ? { ...best, blockIndex: other.blockIndex } : best;
}
