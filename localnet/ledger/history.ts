// Recent blocks and transactions of the simulated chain, indexed by address. Bounded: the oldest blocks are dropped with
// their transactions, like on a node that prunes its ledger.

import type { AccountVersion } from './accounts.ts';

export interface StoredTransaction {
  readonly signature: string;
  readonly err: unknown;
  readonly logMessages: readonly string[];
  readonly accountKeys: readonly string[];
  /** Index in its block. */
  readonly index: number;
  /** Number of the transaction on the chain. */
  readonly sequence: number;
  readonly block: StoredBlock;
  /** Accounts after the transaction. Empty once every commitment has published the block. */
  writes: readonly AccountVersion[];
  /** Logs sent to subscribers when they are truncated. */
  cutLogs: readonly string[] | null;
  /** Indices of the records that execution cut from the log. Nobody has them. */
  readonly lostRecords: readonly number[];
  /** Whether keys come from lookup tables where these have them. */
  readonly usesLookups: boolean;
}

export interface StoredBlock {
  readonly slot: number;
  readonly parentSlot: number;
  readonly height: number;
  /** Unix seconds. */
  readonly blockTime: number;
  readonly blockhash: string;
  readonly previousBlockhash: string;
  readonly transactions: StoredTransaction[];
}

export interface Retention {
  /** Limit of blocks. */
  readonly blocks: number;
  /** Approximate limit of log lines and keys in bytes. */
  readonly bytes: number;
  /** Blocks kept whatever their bytes. */
  readonly blocksAtLeast: number;
}

/** A list that drops its old end in constant time. */
class Queue<T> {
  // Dropped items are released at once: a transaction references its block, and a block all its transactions.
  #items: (T | undefined)[] = [];
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  at(index: number): T | undefined {
    return index < 0 ? undefined : this.#items[this.#head + index];
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    const item = this.at(0);
    if (item === undefined) return undefined;
    this.#items[this.#head] = undefined;
    this.#head += 1;
    if (this.#head > 64 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }

  /** First index whose item is not below; items ascend by `key`. */
  lowerBound(value: number, key: (item: T) => number): number {
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const item = this.at(middle);
      if (item !== undefined && key(item) < value) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

export class History {
  readonly #retention: Retention;
  readonly #blocks = new Queue<StoredBlock>();
  readonly #bySignature = new Map<string, StoredTransaction>();
  readonly #byAddress = new Map<string, Queue<StoredTransaction>>();
  #bytes = 0;

  constructor(retention: Retention) {
    this.#retention = retention;
  }

  get blockCount(): number {
    return this.#blocks.length;
  }

  get transactionCount(): number {
    return this.#bySignature.size;
  }

  push(block: StoredBlock): void {
    this.#blocks.push(block);
    for (const transaction of block.transactions) this.#index(transaction);
    const { blocks, bytes, blocksAtLeast } = this.#retention;
    while (this.#blocks.length > blocks || (this.#bytes > bytes && this.#blocks.length > blocksAtLeast)) this.#drop();
  }

  /** The block `distance` blocks below the newest, or null when it has been dropped. */
  fromTip(distance: number): StoredBlock | null {
    return this.#blocks.at(this.#blocks.length - 1 - distance) ?? null;
  }

  oldest(): StoredBlock | null {
    return this.#blocks.at(0) ?? null;
  }

  block(slot: number): StoredBlock | null {
    const found = this.#blocks.at(this.#blocks.lowerBound(slot, (block) => block.slot));
    return found?.slot === slot ? found : null;
  }

  /** Blocks with `fromSlot <= slot <= toSlot`, oldest first, at most `limit`. */
  *range(fromSlot: number, toSlot: number, limit = Infinity): Generator<StoredBlock> {
    let given = 0;
    for (let i = this.#blocks.lowerBound(fromSlot, (block) => block.slot); given < limit; i++, given++) {
      const block = this.#blocks.at(i);
      if (block === undefined || block.slot > toSlot) return;
      yield block;
    }
  }

  transaction(signature: string): StoredTransaction | null {
    return this.#bySignature.get(signature) ?? null;
  }

  /**
   * Transactions that mention `address`, newest first: older than `before`, newer than `until`, in a block at or below
   * `highestSlot`. An unknown `before` gives nothing, an unknown `until` does not bound, as on a real node.
   */
  mentioning(
    address: string,
    query: { before: string | null; until: string | null; limit: number; highestSlot: number },
  ): StoredTransaction[] {
    const mentions = this.#byAddress.get(address);
    if (mentions === undefined) return [];
    let index = mentions.lowerBound(query.highestSlot + 1, (transaction) => transaction.block.slot);
    if (query.before !== null) {
      const before = this.#bySignature.get(query.before);
      if (before === undefined) return [];
      index = Math.min(
        index,
        mentions.lowerBound(before.sequence, (transaction) => transaction.sequence),
      );
    }
    const floor = query.until === null ? -1 : (this.#bySignature.get(query.until)?.sequence ?? -1);
    const found: StoredTransaction[] = [];
    while (index > 0 && found.length < query.limit) {
      index -= 1;
      const transaction = mentions.at(index);
      if (transaction === undefined || transaction.sequence <= floor) break;
      found.push(transaction);
    }
    return found;
  }

  #index(transaction: StoredTransaction): void {
    this.#bySignature.set(transaction.signature, transaction);
    this.#bytes += approximateBytes(transaction);
    for (const key of new Set(transaction.accountKeys)) {
      let mentions = this.#byAddress.get(key);
      if (mentions === undefined) {
        mentions = new Queue();
        this.#byAddress.set(key, mentions);
      }
      mentions.push(transaction);
    }
  }

  #drop(): void {
    const block = this.#blocks.shift();
    for (const transaction of block?.transactions ?? []) {
      if (this.#bySignature.get(transaction.signature) === transaction) this.#bySignature.delete(transaction.signature);
      this.#bytes -= approximateBytes(transaction);
      for (const key of new Set(transaction.accountKeys)) {
        const mentions = this.#byAddress.get(key);
        mentions?.shift();
        if (mentions?.length === 0) this.#byAddress.delete(key);
      }
    }
  }
}

function approximateBytes(transaction: StoredTransaction): number {
  let bytes = 400 + transaction.accountKeys.length * 16;
  for (const line of transaction.logMessages) bytes += line.length + 24;
  return bytes;
}
