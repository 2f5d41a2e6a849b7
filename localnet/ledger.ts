// The simulated chain from a node's view: it appends blocks and reads accounts and transactions at each commitment level. It
// decides nothing: the exchange computes the blocks, the RPC server reads.

import { createHash } from 'node:crypto';
import bs58 from 'bs58';
import { AccountStore, type AccountVersion } from './ledger/accounts.ts';
import { Branch } from './ledger/branch.ts';
import { History, type StoredBlock, type StoredTransaction } from './ledger/history.ts';
import { LOOKUP_TABLE_PROGRAM, LookupTables } from './ledger/lookup-tables.ts';
import { type ChainView, Tips } from './ledger/view.ts';
import type { Commitment, LedgerAccount, LedgerBlock } from './ledger-types.ts';

export type { AccountVersion, Commitment, StoredBlock, StoredTransaction };

/** Blocks that each level lags behind the newest. */
export type CommitmentLags = Readonly<Record<Commitment, number>>;

/** A cluster roots a block after about 32 slots. */
const DEFAULT_LAGS: CommitmentLags = { processed: 0, confirmed: 0, finalized: 32 };
/** Ten minutes of 400 ms slots. */
const DEFAULT_RETAINED_BLOCKS = 1500;
/** Limit of log lines and keys; at a laptop's load ten minutes need a quarter of it. */
const DEFAULT_RETAINED_BYTES = 128 * 1024 * 1024;
/** Blocks for which a blockhash is valid (MAX_PROCESSING_AGE of Solana). */
export const BLOCKHASH_AGE_BLOCKS = 150;
/** Blocks of lost forks in memory: more than any test makes between two looks. */
const ABANDONED_BLOCKS_MAX = 512;

export interface LedgerOptions {
  /** base58, 32 bytes */
  readonly genesisHash: string;
  /** Slot of the genesis accounts; blocks come after it. */
  readonly genesisSlot: number;
  /** Unix seconds. */
  readonly genesisTime: number;
  readonly lags?: CommitmentLags;
  /** Blocks that a second node can be behind, so account states stay so much longer. Default 0. */
  readonly behindBlocks?: number;
  /** Blocks with their transactions in memory; `Infinity` keeps all. */
  readonly retainedBlocks?: number;
  readonly retainedBytes?: number;
}

/** State of the chain in a state file, besides accounts and blocks. */
export interface LedgerHead {
  readonly genesisHash: string;
  readonly genesisSlot: number;
  readonly genesisTime: number;
  readonly transactionCount: number;
}

export class Ledger extends Tips implements ChainView {
  readonly genesisHash: string;
  readonly genesisSlot: number;
  readonly genesisTime: number;
  readonly lags: CommitmentLags;
  readonly behindBlocks: number;
  readonly accounts = new AccountStore();
  readonly history: History;
  readonly #deepestLag: number;
  #transactionCount = 0;
  #branch: Branch | null = null;
  #isBranchConfirmed = false;
  /** Blocks of the winning chain above the base of the open fork. */
  #hidden = 0;
  #abandoned: StoredBlock[] = [];
  #lookups = new LookupTables([]);

  constructor(options: LedgerOptions) {
    super();
    this.genesisHash = options.genesisHash;
    this.genesisSlot = options.genesisSlot;
    this.genesisTime = options.genesisTime;
    this.lags = options.lags ?? DEFAULT_LAGS;
    this.behindBlocks = options.behindBlocks ?? 0;
    this.#deepestLag = Math.max(this.lags.processed, this.lags.confirmed, this.lags.finalized) + this.behindBlocks;
    const blocksAtLeast = Math.max(this.#deepestLag, BLOCKHASH_AGE_BLOCKS) + 2;
    this.history = new History({
      blocks: Math.max(options.retainedBlocks ?? DEFAULT_RETAINED_BLOCKS, blocksAtLeast),
      bytes: options.retainedBytes ?? DEFAULT_RETAINED_BYTES,
      blocksAtLeast,
    });
  }

  /** Lookup tables of the genesis. */
  get lookups(): LookupTables {
    return this.#lookups;
  }

  /** Transactions since the genesis. */
  get transactionCount(): number {
    return this.#transactionCount;
  }

  /** Newest slot of the fork that the node follows. */
  get tipSlot(): number {
    return (this.#branch?.tip ?? this.history.fromTip(0))?.slot ?? this.genesisSlot;
  }

  /** The open fork has been confirmed, although it will lose. */
  get isBranchConfirmed(): boolean {
    return this.#isBranchConfirmed;
  }

  /** Blocks of forks that lost, oldest first. */
  get abandoned(): readonly StoredBlock[] {
    return this.#abandoned;
  }

  /** Blocks of the fork that the node follows and that will lose; empty without one. */
  get branchBlocks(): readonly StoredBlock[] {
    return this.#branch?.blocks ?? [];
  }

  /** Blocks of the winning chain that a level is behind its newest block, as a node sees it that is `behind` more behind. */
  distance(commitment: Commitment, behind = 0): number {
    const lag = this.lags[commitment] + behind;
    // No level above `processed` moves on while two forks are open.
    return commitment === 'processed' ? lag : Math.max(lag, this.#hidden);
  }

  /** Newest block of a level, or null while the level is at the genesis. */
  blockAt(commitment: Commitment): StoredBlock | null {
    if (this.#isOnBranch(commitment)) return this.#branch?.tip ?? null;
    return this.history.fromTip(this.distance(commitment));
  }

  account(pubkey: string, commitment: Commitment): AccountVersion | null {
    const written = this.#isOnBranch(commitment) ? this.#branch?.account(pubkey) : undefined;
    return written === undefined ? this.accounts.at(pubkey, this.#winningSlot(commitment)) : written;
  }

  owned(program: string, commitment: Commitment): readonly AccountVersion[] {
    const below = this.accounts.ownedAt(program, this.#winningSlot(commitment));
    return this.#branch !== null && this.#isOnBranch(commitment) ? this.#branch.owned(program, below) : below;
  }

  transaction(signature: string): StoredTransaction | null {
    return this.#branch?.transaction(signature) ?? this.history.transaction(signature);
  }

  reached(block: StoredBlock, commitment: Commitment): boolean {
    if (this.#isOnBranch(commitment) && this.#branch?.blocks.includes(block)) return true;
    return block.slot <= this.#winningSlot(commitment) && this.history.block(block.slot) === block;
  }

  bankAt(slot: number): StoredBlock | null {
    const known = this.history.block(slot) ?? this.#branch?.blocks.find((block) => block.slot === slot);
    if (known !== undefined && known !== null) return known;
    return slot <= this.slotAt('finalized') ? null : (this.#abandoned.find((block) => block.slot === slot) ?? null);
  }

  /** Adds the accounts of the genesis. */
  begin(accounts: readonly LedgerAccount[]): void {
    for (const account of accounts) this.accounts.write(account, this.genesisSlot);
    this.#lookups = new LookupTables(accounts);
    this.accounts.settle(this.genesisSlot);
  }

  /**
   * Appends the next block of the winning chain and returns it as stored. The node leaves an open fork for it, unless the
   * block is `hidden`.
   * @throws when its slot is not above the newest one
   */
  append(block: LedgerBlock, hidden = false): StoredBlock {
    const stored = this.#stored(block, this.history.fromTip(0), (account) => this.accounts.write(account, block.slot));
    this.#transactionCount += stored.transactions.length;
    if (hidden) this.#hidden += 1;
    else this.#leaveBranch();
    this.#push(stored);
    return stored;
  }

  /**
   * Appends a block to the fork that the node follows and that will lose. Opens one on the winning chain's newest block.
   * `isConfirmed`: the cluster confirms the fork before it loses, which must never happen and can.
   */
  appendToBranch(block: LedgerBlock, isConfirmed = false): StoredBlock {
    this.#isBranchConfirmed ||= isConfirmed;
    this.#branch ??= new Branch(this.history.fromTip(0));
    const parent = this.#branch.tip ?? this.#branch.base;
    const stored = this.#stored(block, parent, (account) => this.accounts.version(account, block.slot));
    this.#branch.push(stored);
    return stored;
  }

  /** Keys of the accounts that the open fork wrote, or null without one. */
  branchWrites(): ReadonlySet<string> | null {
    return this.#branch?.written() ?? null;
  }

  isBlockhashValid(blockhash: string, commitment: Commitment): boolean {
    if (commitment === 'processed' && this.#branch?.blocks.some((block) => block.blockhash === blockhash)) return true;
    const nearest = commitment === 'processed' ? this.#hidden + this.lags.processed : this.distance(commitment);
    for (let age = 0; age <= BLOCKHASH_AGE_BLOCKS; age++) {
      const block = this.history.fromTip(nearest + age);
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

  /** Restores blocks from a state file, oldest first. Accounts are restored separately. */
  restoreBlock(block: StoredBlock): void {
    this.#push(block);
  }

  /** Ends a restore. */
  restored(head: LedgerHead): void {
    this.#transactionCount = head.transactionCount;
    this.#lookups = new LookupTables(this.accounts.ownedAt(LOOKUP_TABLE_PROGRAM, this.tipSlot));
  }

  /** Slot of the winning chain whose account states a level reads. */
  #winningSlot(commitment: Commitment): number {
    return this.#isOnBranch(commitment) ? (this.#branch?.base?.slot ?? this.genesisSlot) : this.slotAt(commitment);
  }

  #isOnBranch(commitment: Commitment): boolean {
    return (
      this.#branch !== null && (commitment === 'processed' || (commitment === 'confirmed' && this.#isBranchConfirmed))
    );
  }

  #stored(
    block: LedgerBlock,
    parent: StoredBlock | null,
    write: (account: LedgerAccount) => AccountVersion,
  ): StoredBlock {
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
        sequence: this.#transactionCount + index,
        block: stored,
        writes: transaction.writes.map(write),
        cutLogs: null,
        lostRecords: transaction.lostRecords ?? [],
        usesLookups: transaction.usesLookups ?? false,
      });
    }
    return stored;
  }

  #leaveBranch(): void {
    if (this.#branch === null) return;
    this.#abandoned.push(...this.#branch.blocks);
    if (this.#abandoned.length > ABANDONED_BLOCKS_MAX) this.#abandoned = this.#abandoned.slice(-ABANDONED_BLOCKS_MAX);
    this.#branch = null;
    this.#isBranchConfirmed = false;
    this.#hidden = 0;
  }

  #push(block: StoredBlock): void {
    this.history.push(block);
    this.accounts.settle(this.history.fromTip(this.#deepestLag)?.slot ?? this.genesisSlot);
    // Every level has published the block below the deepest one, so nothing reads its account states any more.
    const published = this.history.fromTip(this.#deepestLag + 1);
    for (const transaction of published?.transactions ?? []) transaction.writes = [];
  }
}

/** Deterministic, and chained as on a real cluster: a different past gives different later hashes. */
function blockhashOf(previousBlockhash: string, block: LedgerBlock): string {
  const hash = createHash('sha256').update(previousBlockhash).update(`|${block.slot}|${block.blockTime}`);
  for (const transaction of block.transactions) hash.update('|').update(transaction.signature);
  return bs58.encode(hash.digest());
}
