// The chain as one node of the cluster sees it: the tip of each commitment level, and the accounts there.

import type { Commitment } from '../ledger-types.ts';
import type { AccountVersion } from './accounts.ts';
import type { History, StoredBlock, StoredTransaction } from './history.ts';
import type { LookupTables } from './lookup-tables.ts';

export interface ChainView {
  readonly genesisHash: string;
  readonly genesisSlot: number;
  /** Unix seconds. */
  readonly genesisTime: number;
  /** Transactions since the genesis. */
  readonly transactionCount: number;
  /** Blocks that the node can have, newer ones than its tips included. */
  readonly history: History;
  readonly lookups: LookupTables;
  /** Newest block of a level, or null while the level is at the genesis. */
  blockAt(commitment: Commitment): StoredBlock | null;
  slotAt(commitment: Commitment): number;
  heightAt(commitment: Commitment): number;
  blockhashAt(commitment: Commitment): string;
  /** Account state at a level, or null when it does not exist there. */
  account(pubkey: string, commitment: Commitment): AccountVersion | null;
  /** Accounts of a program at a level, in a fixed order. */
  owned(program: string, commitment: Commitment): readonly AccountVersion[];
  /** The transaction on the node's fork or below, or null. */
  transaction(signature: string): StoredTransaction | null;
  /** Whether the level's tip is the block or comes after it. */
  reached(block: StoredBlock, commitment: Commitment): boolean;
  /** The block of a slot on any fork that the node still knows, or null. */
  bankAt(slot: number): StoredBlock | null;
  /** Whether a transaction may still use the blockhash. */
  isBlockhashValid(blockhash: string, commitment: Commitment): boolean;
}

/** The tip of each commitment level, from its newest block. */
export abstract class Tips {
  abstract readonly genesisHash: string;
  abstract readonly genesisSlot: number;
  abstract blockAt(commitment: Commitment): StoredBlock | null;

  slotAt(commitment: Commitment): number {
    return this.blockAt(commitment)?.slot ?? this.genesisSlot;
  }

  heightAt(commitment: Commitment): number {
    return this.blockAt(commitment)?.height ?? 0;
  }

  blockhashAt(commitment: Commitment): string {
    return this.blockAt(commitment)?.blockhash ?? this.genesisHash;
  }
}
