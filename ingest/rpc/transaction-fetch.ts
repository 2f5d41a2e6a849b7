// Fetches listed transactions in batches. It distinguishes a transaction that no node has from nodes that are away.

import type { HistoryCommitment } from './commitment.ts';
import { RpcError } from './errors.ts';
import { type JsonRpc, type ListedSignature, TRANSACTION_BATCH, type TransactionOutcome } from './json-rpc.ts';

const FETCHES_IN_FLIGHT = 4;
/** Transactions of a sweep that fail when they are asked for alone, before it goes on: each costs some seconds of retries. */
const ALONE_FAILURES_MAX = 8;

export class TransactionFetch {
  readonly #rpc: Pick<JsonRpc, 'transactions'>;
  readonly #commitment: HistoryCommitment;
  /** A transaction that a node had: the one delivered last. Nodes that answer for it are not away. */
  #control: string | null = null;
  /** The last round of transactions had no answer. The next ones are small, so that the nodes ask for short pauses. */
  #isHalted = false;

  constructor(rpc: Pick<JsonRpc, 'transactions'>, commitment: HistoryCommitment) {
    this.#rpc = rpc;
    this.#commitment = commitment;
  }

  /** Notes a transaction that is delivered. */
  had(signature: string): void {
    this.#control = signature;
  }

  /** Each listed transaction with its outcome, in their order. Rejects when no node answers for a whole round. */
  async *all(
    entries: readonly ListedSignature[],
    signal: AbortSignal,
  ): AsyncGenerator<readonly [ListedSignature, TransactionOutcome]> {
    const alone = { failures: 0 };
    for (let from = 0, part = entries; from < entries.length; from += part.length) {
      signal.throwIfAborted();
      part = entries.slice(from, from + TRANSACTION_BATCH * (this.#isHalted ? 1 : FETCHES_IN_FLIGHT));
      const batches: Promise<readonly TransactionOutcome[]>[] = [];
      for (let at = 0; at < part.length; at += TRANSACTION_BATCH) {
        const signatures = part.slice(at, at + TRANSACTION_BATCH).map((entry) => entry.signature);
        batches.push(this.#transactions(signatures, signal));
      }
      const outcomes = await this.#alone(part, (await Promise.all(batches)).flat(), alone, signal);
      this.#isHalted = outcomes.every(isUnanswered);
      const outage = this.#isHalted ? outcomes[0] : undefined;
      if (outage?.found === null) throw new RpcError(outage.reason, null, { isTransport: true });
      for (const [index, entry] of part.entries()) {
        const outcome = outcomes[index];
        if (outcome !== undefined) yield [entry, outcome];
      }
    }
  }

  /** The other batches of a round keep their answers when the nodes fail at one. */
  async #transactions(signatures: readonly string[], signal: AbortSignal): Promise<readonly TransactionOutcome[]> {
    try {
      return await this.#rpc.transactions(signatures, this.#commitment, { signal });
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      const miss = error.isBusy ? 'busy' : 'broken';
      return signatures.map(() => ({ found: null, reason: error.message, miss }));
    }
  }

  /**
   * Asks alone for the transactions of requests at which the nodes failed: one of them may be the cause. One that fails alone
   * too, while the nodes answer for another one, counts as lacking.
   */
  async #alone(
    entries: readonly ListedSignature[],
    together: readonly TransactionOutcome[],
    alone: { failures: number },
    signal: AbortSignal,
  ): Promise<readonly TransactionOutcome[]> {
    const outcomes = [...together];
    const broken = [...entries.entries()].filter(([index]) => isBroken(outcomes[index]));
    if (broken.length === 0) return outcomes;
    // In an outage this is the only further request.
    if (entries.length > 1 && outcomes.every(isUnanswered) && (await this.#isAway(signal)) === true) return outcomes;
    for (const [index, { signature }] of broken) {
      if (alone.failures >= ALONE_FAILURES_MAX) break;
      if (entries.length > 1) outcomes.splice(index, 1, ...(await this.#transactions([signature], signal)));
      const outcome = outcomes[index];
      if (outcome?.found) this.#control ??= signature;
      if (!isBroken(outcome)) continue;
      alone.failures += 1;
      const isAway = await this.#isAway(signal);
      if (isAway === true) break;
      if (isAway === false) outcomes[index] = { ...outcome, miss: 'lacking' };
    }
    return outcomes;
  }

  /** Whether no node answers for the control either. Null: there is none yet. */
  async #isAway(signal: AbortSignal): Promise<boolean | null> {
    if (this.#control === null) return null;
    return (await this.#transactions([this.#control], signal)).every(isUnanswered);
  }
}

/** Whether no node answered for the transaction. */
function isUnanswered(outcome: TransactionOutcome): boolean {
  return outcome.found === null && outcome.miss !== 'lacking';
}

function isBroken(outcome: TransactionOutcome | undefined): outcome is TransactionOutcome & { readonly found: null } {
  return outcome?.found === null && outcome.miss === 'broken';
}
