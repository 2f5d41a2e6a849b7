// Asks nodes which transactions the finalized chain has. Statuses of signatures answer for most of them in one call; only a
// slot with an unproven transaction costs a block.

import type { FinalityReader, TransactionPlace } from '../source.ts';
import { BlockLists } from './block-lists.ts';
import { RpcError } from './errors.ts';
import { TRANSACTION_VERSION_MAX } from './json-rpc.ts';
import type { Nodes } from './nodes.ts';

/** Largest number of signatures in one `getSignatureStatuses`. */
const STATUSES_MAX = 256;

interface Status {
  readonly slot?: unknown;
  readonly confirmationStatus?: unknown;
  readonly err?: unknown;
}

export class FinalizedChain implements FinalityReader {
  readonly #nodes: Nodes;
  readonly #blocks: BlockLists;
  readonly #signal: AbortSignal;

  constructor(nodes: Nodes, signal: AbortSignal) {
    this.#nodes = nodes;
    this.#blocks = new BlockLists(nodes);
    this.#signal = signal;
  }

  async lacking(places: readonly TransactionPlace[]): Promise<readonly TransactionPlace[]> {
    const statuses = await this.#statuses(places.map(({ signature }) => signature));
    const unproven = places.filter(({ slot }, index) => !isFinalAt(statuses[index], slot));
    // Another block of the same slot may have the transaction too: one that fails there has no events.
    const lacking = places.filter(({ slot }, index) => isFinalAt(statuses[index], slot) && hasFailed(statuses[index]));
    for (const slot of new Set(unproven.map((place) => place.slot))) {
      const signatures = await this.#signatures(slot);
      lacking.push(...unproven.filter((place) => place.slot === slot && !signatures.has(place.signature)));
    }
    return lacking;
  }

  async landed(signatures: readonly string[]): Promise<readonly TransactionPlace[]> {
    const statuses = await this.#statuses(signatures);
    return signatures.flatMap((signature, index) => {
      const slot = Number(statuses[index]?.slot);
      return isFinalAt(statuses[index], slot) ? [{ signature, slot }] : [];
    });
  }

  /** Statuses in the order of the signatures. A node forgets them after some minutes. */
  async #statuses(signatures: readonly string[]): Promise<readonly (Status | null | undefined)[]> {
    const statuses: (Status | null)[] = [];
    for (let from = 0; from < signatures.length; from += STATUSES_MAX) {
      const some = signatures.slice(from, from + STATUSES_MAX);
      const answer = await this.#call('getSignatureStatuses', [some]);
      const { value } = (answer ?? {}) as { readonly value?: unknown };
      if (!Array.isArray(value)) throw new RpcError('getSignatureStatuses: unreadable answer');
      statuses.push(...some.map((_, index) => value[index] as Status | null));
    }
    return statuses;
  }

  /** Signatures of the finalized block of a slot; none for a slot without one. */
  async #signatures(slot: number): Promise<ReadonlySet<string>> {
    const details = { transactionDetails: 'signatures', rewards: false };
    const config = { commitment: 'finalized', ...details, maxSupportedTransactionVersion: TRANSACTION_VERSION_MAX };
    try {
      const block = (await this.#call('getBlock', [slot, config])) as { readonly signatures?: unknown } | null;
      if (!Array.isArray(block?.signatures)) throw new RpcError('getBlock: no signatures');
      return new Set(block.signatures.map(String));
    } catch (error) {
      if (error instanceof RpcError && error.isSkippedSlot && (await this.#isSkipped(slot))) return new Set();
      throw error;
    }
  }

  /** The error for a skipped slot also stands for a block that the node lost, and a node that lags has no later block. */
  async #isSkipped(slot: number): Promise<boolean> {
    const options = { commitment: 'finalized', isBackground: true, signal: this.#signal };
    const { slots, missing } = await this.#blocks.inRange({ fromSlot: slot, toSlot: slot }, options);
    return slots.length === 0 && missing.length === 0;
  }

  #call(method: string, params: readonly unknown[]): Promise<unknown> {
    return this.#nodes.call({ method, params }, { isBackground: true, signal: this.#signal });
  }
}

const hasFailed = (status: Status | null | undefined): boolean => (status?.err ?? null) !== null;

const isFinalAt = (status: Status | null | undefined, slot: number): boolean =>
  status?.slot === slot && status.confirmationStatus === 'finalized';
