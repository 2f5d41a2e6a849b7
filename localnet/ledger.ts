// The simulated chain as a node knows it: blocks appended one by one, accounts and transactions readable at each
// commitment level. It decides nothing; the exchange computes the blocks, the RPC server reads.

import { createHash } from 'node:crypto';
import bs58 from 'bs58';
import { AccountStore, type AccountVersion } from './ledger/accounts.ts';
import { History, type StoredBlock, type StoredTransaction } from './ledger/history.ts';
import type { LedgerAccount, LedgerBlock } from './ledger-types.ts';

export type { AccountVersion, StoredBlock, StoredTransaction };

export type Commitment = 'processed' | 'confirmed' | 'finalized';

/** How many blocks each level stays behind the newest. */
export type CommitmentLags = Readonly<Record<Commitment, number>>;

/** A cluster roots a block about 32 slots after it was made. */
const DEFAULT_LAGS: CommitmentLags = { processed: 0, confirmed: 0, finalized: 32 };
/** Ten minutes of 400 ms slots. */
const DEFAULT_RETAINED_BLOCKS = 1500;
/** Log lines and keys held at most; at a laptop's load ten minutes need a quarter of it. */
const DEFAULT_RETAINED_BYTES = 128 * 1024 * 1024;
/** A blockhash can be used for this many blocks (MAX_PROCESSING_AGE of Solana). */
export const BLOCKHASH_AGE_BLOCKS = 150;

export interface LedgerOptions {
  /** base58, 32 bytes */
  readonly genesisHash: string;
  /** Slot that the accounts of the genesis carry; blocks come after it. */
  readonly genesisSlot: number;
  /** Unix seconds. */
  readonly genesisTime: number;
  readonly lags?: CommitmentLags;
  /** Blocks kept with their transactions; `Infinity` keeps all. */
  readonly retainedBlocks?: number;
  readonly retainedBytes?: number;
}

/** What a state file holds of the chain beside accounts and blocks. */
export interface LedgerHead {
  readonly genesisHash: string;
  readonly genesisSlot: number;
  readonly genesisTime: number;
  readonly transactionCount: number;
}

export class Ledger {
  readonly genesisHash: string;
  readonly genesisSlot: number;
  readonly genesisTime: number;
  readonly lags: CommitmentLags;
  readonly accounts = new AccountStore();
  readonly history: History;
  readonly #deepestLag: number;
  #transactionCount = 0;

  constructor(options: LedgerOptions) {
    this.genesisHash = options.genesisHash;
    this.genesisSlot = options.genesisSlot;
    this.genesisTime = options.genesisTime;
    this.lags = options.lags ?? DEFAULT_LAGS;
    this.#deepestLag = Math.max(this.lags.processed, this.lags.confirmed, this.lags.finalized);
    const blocksAtLeast = Math.max(this.#deepestLag, BLOCKHASH_AGE_BLOCKS) + 2;
    this.history = new History({
      blocks: Math.max(options.retainedBlocks ?? DEFAULT_RETAINED_BLOCKS, blocksAtLeast),
      bytes: options.retainedBytes ?? DEFAULT_RETAINED_BYTES,
      blocksAtLeast,
    });
  }

  /** Transactions since the genesis. */
  get transactionCount(): number {
    return this.#transactionCount;
  }

  /** Newest slot, whatever the commitment. */
  get tipSlot(): number {
    return this.history.fromTip(0)?.slot ?? this.genesisSlot;
  }

  /** Newest block that a level has reached, or null when only the genesis has. */
  blockAt(commitment: Commitment): StoredBlock | null {
    return this.history.fromTip(this.lags[commitment]);
  }

  slotAt(commitment: Commitment): number {
    return this.blockAt(commitment)?.slot ?? this.genesisSlot;
  }

  heightAt(commitment: Commitment): number {
    return this.blockAt(commitment)?.height ?? 0;
  }

  blockhashAt(commitment: Commitment): string {
    return this.blockAt(commitment)?.blockhash ?? this.genesisHash;
  }

  /** State of an account as a level sees it, or null when it does not exist there. */
  account(pubkey: string, commitment: Commitment): AccountVersion | null {
    return this.accounts.at(pubkey, this.slotAt(commitment));
  }

  /** Puts the accounts in place that exist before the first block. */
  begin(accounts: readonly LedgerAccount[]): void {
    for (const account of accounts) this.accounts.write(account, this.genesisSlot);
    this.accounts.settle(this.genesisSlot);
  }

  /**
   * Appends the next block and returns it as stored.
   * @throws when its slot is not above the newest one
   */
  append(block: LedgerBlock): StoredBlock {
    const parent = this.history.fromTip(0);
    const parentSlot = parent?.slot ?? this.genesisSlot;
    if (block.slot <= parentSlot) throw new Error(`slot ${block.slot} does not come after slot ${parentSlot}`);
    const previousBlockhash = parent?.blockhash ?? this.genesisHash;
    const stored: StoredBlock = {
      slot: block.slot,
      parentSlot,
      height: (parent?.height ?? 0) + 1,
      blockTime: block.blockTime,
      previousBlockhash,
      blockhash: blockhashOf(previousBlockhash, block),
      transactions: [],
    };
    for (const [index, transaction] of block.transactions.entries()) {
      stored.transactions.push({
        signature: transaction.signature,
        err: transaction.err ?? null,
        logMessages: transaction.logMessages,
        accountKeys: transaction.accountKeys,
        index,
        sequence: this.#transactionCount,
        block: stored,
        writes: transaction.writes.map((account) => this.accounts.write(account, block.slot)),
        cutLogs: null,
      });
      this.#transactionCount += 1;
    }
    this.#push(stored);
    return stored;
  }

  /** True while transactions may still name the blockhash. */
  isBlockhashValid(blockhash: string, commitment: Commitment): boolean {
    const lag = this.lags[commitment];
    for (let age = 0; age <= BLOCKHASH_AGE_BLOCKS; age++) {
      const block = this.history.fromTip(lag + age);
      if (block === null) return blockhash === this.genesisHash;
      if (block.blockhash === blockhash) return true;
    }
    return false;
  }

  head(): LedgerHead {
    return {
      genesisHash: this.genesisHash,
      genesisSlot: this.genesisSlot,
      genesisTime: this.genesisTime,
      transactionCount: this.#transactionCount,
    };
  }

  /** Puts back blocks read from a state file, oldest first; accounts are restored beside. */
  restoreBlock(block: StoredBlock): void {
    this.#push(block);
  }

  /** Ends a restore. */
  restored(head: LedgerHead): void {
    this.#transactionCount = head.transactionCount;
  }

  #push(block: StoredBlock): void {
    this.history.push(block);
    this.accounts.settle(this.history.fromTip(this.#deepestLag)?.slot ?? this.genesisSlot);
    // Every level has published the block below the deepest one, so its account states have no reader left.
    const published = this.history.fromTip(this.#deepestLag + 1);
    for (const transaction of published?.transactions ?? []) transaction.writes = [];
  }
}

/** Deterministic, and chained as on a real cluster: a different past gives different hashes from there on. */
function blockhashOf(previousBlockhash: string, block: LedgerBlock): string {
  const hash = createHash('sha256').update(previousBlockhash).update(`|${block.slot}|${block.blockTime}`);
  for (const transaction of block.transactions) hash.update('|').update(transaction.signature);
  return bs58.encode(hash.digest());
}
