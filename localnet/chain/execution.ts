// Changes a transaction by its execution, before a reader sees it. Other programs log first, the log is cut at its limit, and
// keys come from lookup tables. All of it follows from the seed and the signature.

import { chanceOf } from '../chance.ts';
import type { LedgerBlock, LedgerTransaction } from '../ledger-types.ts';
import type { Profile } from './profile.ts';

const MEMO_PROGRAM = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr';
const MEMO_LINE_BYTES = 900;
/** Last line of a cut log, in the words of Agave. */
export const LOG_TRUNCATED = 'Log truncated';

export class Execution {
  readonly #seed: number;
  readonly #profile: Profile;

  constructor(seed: number, profile: Profile) {
    this.#seed = seed;
    this.#profile = profile;
  }

  block(block: LedgerBlock): LedgerBlock {
    const { logBytesMax, memoShare, lookupShare } = this.#profile;
    if (logBytesMax === null && memoShare === 0 && lookupShare === 0) return block;
    return { ...block, transactions: block.transactions.map((one) => this.#executed(one)) };
  }

  #executed(transaction: LedgerTransaction): LedgerTransaction {
    const { logBytesMax, memoShare, lookupShare } = this.#profile;
    const { signature } = transaction;
    const mayHaveMemo = !transaction.isSubmitted && (transaction.recordLines?.length ?? 0) > 0;
    const hasMemo = mayHaveMemo && this.#chance(`noisy|${signature}`) < memoShare;
    const executed = hasMemo ? withMemo(transaction, this.#chance(`noise|${signature}`)) : transaction;
    const cut = logBytesMax === null ? executed : cutAtLimit(executed, logBytesMax);
    return this.#chance(`lookup|${signature}`) < lookupShare ? { ...cut, usesLookups: true } : cut;
  }

  #chance(text: string): number {
    return chanceOf(`execution|${this.#seed}|${text}`);
  }
}

/** Puts a memo in front that leaves room for a part of the transaction's own lines. */
function withMemo(transaction: LedgerTransaction, share: number): LedgerTransaction {
  const own = transaction.logMessages.reduce((sum, line) => sum + line.length, 0);
  const bytes = 10_000 - Math.floor(own * share);
  const memo = [`Program ${MEMO_PROGRAM} invoke [1]`];
  for (let left = bytes - 220; left > 0; left -= MEMO_LINE_BYTES) {
    const text = 'x'.repeat(Math.min(left, MEMO_LINE_BYTES));
    memo.push(`Program log: Memo (len ${text.length}): "${text}"`);
  }
  memo.push(`Program ${MEMO_PROGRAM} consumed 9000 of 1400000 compute units`, `Program ${MEMO_PROGRAM} success`);
  return {
    ...transaction,
    accountKeys: [...transaction.accountKeys, MEMO_PROGRAM],
    logMessages: [...memo, ...transaction.logMessages],
    recordLines: (transaction.recordLines ?? []).map((line) => line + memo.length),
  };
}

/**
 * Cuts the log like Agave's collector: a line that reaches the limit is dropped, the first time with a note in its place. A
 * later line that is short enough still comes in, but readers stop at the note. Nobody knows which program wrote that line, or
 * how many records stood before it. So every record from the first dropped line on is lost.
 */
export function cutAtLimit(transaction: LedgerTransaction, bytesMax: number): LedgerTransaction {
  const kept: string[] = [];
  let cutFrom = Number.POSITIVE_INFINITY;
  const places = new Map<number, number>();
  let bytes = 0;
  for (const [number, line] of transaction.logMessages.entries()) {
    const length = bytes + Buffer.byteLength(line);
    if (length >= bytesMax) {
      if (cutFrom === Number.POSITIVE_INFINITY) kept.push(LOG_TRUNCATED);
      cutFrom = Math.min(cutFrom, number);
      continue;
    }
    bytes = length;
    places.set(number, kept.length);
    kept.push(line);
  }
  if (cutFrom === Number.POSITIVE_INFINITY) return transaction;
  const records = transaction.recordLines ?? [];
  return {
    ...transaction,
    logMessages: kept,
    recordLines: records.flatMap((line) => (line < cutFrom ? (places.get(line) ?? []) : [])),
    lostRecords: [...records.entries()].filter(([, line]) => line >= cutFrom).map(([index]) => index),
  };
}
