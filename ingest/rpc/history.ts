// Makes sure that no transaction is missed: pages the programs' signatures back to what is known, fetches what was not
// seen live, and moves the resume point only past what was handed over.

import { type Connection, PublicKey } from '@solana/web3.js';
import { RESUME_MARGIN_SLOTS, type ResumePoint, type TransactionLogs } from '../source.ts';
import { type JsonRpc, TRANSACTION_BATCH } from './json-rpc.ts';

const PAGE = 1000;
const FETCHES_IN_FLIGHT = 4;

export type Finality = 'confirmed' | 'finalized';

export interface HistoryOptions {
  readonly programs: readonly string[];
  readonly commitment: Finality;
  /** Without a resume point at most this many signatures per program are read back. */
  readonly firstSignaturesMax: number;
  /** Name of the chain in resume points. */
  readonly chain: string;
}

interface Listed {
  readonly signature: string;
  readonly slot: number;
  readonly failed: boolean;
}

export interface Sweep {
  /** Newly fetched transactions, oldest first. */
  readonly found: number;
  /** Signatures whose transaction the node does not give yet; the resume point waits before the oldest. */
  readonly missing: number;
  /** There is more history than `firstSignaturesMax`; it is not read. */
  readonly cut: boolean;
}

export class History {
  readonly #connection: Connection;
  readonly #rpc: JsonRpc;
  readonly #options: HistoryOptions;
  /** Signatures handed over, with their slots; what is below the floor is never listed again. */
  readonly #seen = new Map<string, number>();
  #resume: ResumePoint | null;
  /** Transactions below this slot were all handed over, by this process or an earlier one. */
  #floor: number;

  constructor(connection: Connection, rpc: JsonRpc, options: HistoryOptions, resume: ResumePoint | null) {
    this.#connection = connection;
    this.#rpc = rpc;
    this.#options = options;
    this.#resume = resume;
    this.#floor = resume === null ? -1 : Math.max(0, resume.slot - RESUME_MARGIN_SLOTS);
  }

  /** Null until a first sweep was complete. */
  get resume(): ResumePoint | null {
    return this.#resume;
  }

  /** Notes a transaction as handed over. False when it was already, or lies where all were. */
  take(signature: string, slot: number): boolean {
    if (slot < this.#floor || this.#seen.has(signature)) return false;
    this.#seen.set(signature, slot);
    return true;
  }

  /**
   * Hands over, oldest first, every successful transaction up to `toSlot` that was not seen, and moves the resume point.
   * Rejects when the node fails; what was handed over until then counts.
   */
  async sweep(
    toSlot: number,
    hand: (transaction: TransactionLogs) => Promise<void>,
    signal: AbortSignal,
  ): Promise<Sweep> {
    const lists: Listed[][] = [];
    let cut = false;
    for (const program of this.#options.programs) {
      const listed = await this.#list(program, signal);
      cut ||= listed.cut;
      lists.push(listed.entries.filter((entry) => entry.slot <= toSlot));
    }
    const unseen = this.#unseen(lists);
    let found = 0;
    let missing: number | null = null;
    let missingCount = 0;
    for await (const [entry, transaction] of this.#fetch(unseen, signal)) {
      if (transaction === null) {
        missingCount += 1;
        missing = Math.min(missing ?? entry.slot, entry.slot);
      } else if (this.take(entry.signature, entry.slot)) {
        found += 1;
        await hand(transaction);
      }
    }
    this.#advance(lists, missing === null ? toSlot : Math.min(toSlot, missing - 1));
    return { found, missing: missingCount, cut };
  }

  /** Signatures of a program from the floor on, oldest first. */
  async #list(program: string, signal: AbortSignal): Promise<{ entries: Listed[]; cut: boolean }> {
    const { commitment, firstSignaturesMax } = this.#options;
    const entries: Listed[] = [];
    let before: string | undefined;
    while (!signal.aborted) {
      const options = before === undefined ? { limit: PAGE } : { limit: PAGE, before };
      const page = await this.#connection.getSignaturesForAddress(new PublicKey(program), options, commitment);
      for (const { signature, slot, err } of page) {
        if (slot < this.#floor) return { entries: entries.reverse(), cut: false };
        entries.push({ signature, slot, failed: err !== null });
      }
      const last = page.at(-1);
      if (!last || page.length < PAGE) break;
      if (this.#floor < 0 && entries.length >= firstSignaturesMax) return { entries: entries.reverse(), cut: true };
      before = last.signature;
    }
    return { entries: entries.reverse(), cut: false };
  }

  /** What no program's list had handed over, by slot; inside a slot in the order of the lists. */
  #unseen(lists: readonly (readonly Listed[])[]): Listed[] {
    const unique = new Map<string, Listed>();
    for (const entry of lists.flat()) {
      if (!entry.failed && !this.#seen.has(entry.signature)) unique.set(entry.signature, entry);
    }
    return [...unique.values()].sort((a, b) => a.slot - b.slot);
  }

  async *#fetch(
    entries: readonly Listed[],
    signal: AbortSignal,
  ): AsyncGenerator<readonly [Listed, TransactionLogs | null]> {
    const round = TRANSACTION_BATCH * FETCHES_IN_FLIGHT;
    for (let from = 0; from < entries.length && !signal.aborted; from += round) {
      const part = entries.slice(from, from + round);
      const batches: Promise<readonly (TransactionLogs | null)[]>[] = [];
      for (let at = 0; at < part.length; at += TRANSACTION_BATCH) {
        const signatures = part.slice(at, at + TRANSACTION_BATCH).map((entry) => entry.signature);
        batches.push(this.#rpc.transactions(signatures, this.#options.commitment));
      }
      const transactions = (await Promise.all(batches)).flat();
      for (const [index, entry] of part.entries()) yield [entry, transactions[index] ?? null];
    }
    signal.throwIfAborted();
  }

  #advance(lists: readonly (readonly Listed[])[], slot: number): void {
    if (this.#resume !== null && slot <= this.#resume.slot) return;
    const signatures: Record<string, string> = { ...this.#resume?.signatures };
    for (const [index, program] of this.#options.programs.entries()) {
      const newest = lists[index]?.findLast((entry) => entry.slot <= slot);
      if (newest) signatures[program] = newest.signature;
    }
    this.#resume = { slot, signatures, chain: this.#options.chain };
    this.#floor = Math.max(this.#floor, slot - RESUME_MARGIN_SLOTS);
    for (const [signature, seenSlot] of this.#seen) if (seenSlot < this.#floor) this.#seen.delete(signature);
  }
}
