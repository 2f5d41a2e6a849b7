// A second node of the same cluster. It follows the winning fork, some blocks behind, so that two answers behind one address
// can go back in time and come from two forks.

import { BLOCKHASH_AGE_BLOCKS, type Commitment, type Ledger } from '../ledger.ts';
import type { AccountVersion } from './accounts.ts';
import type { History, StoredBlock, StoredTransaction } from './history.ts';
import type { LookupTables } from './lookup-tables.ts';
import { type ChainView, Tips } from './view.ts';

export class BehindView extends Tips implements ChainView {
  readonly genesisHash: string;
  readonly genesisSlot: number;
  readonly genesisTime: number;
  readonly history: History;
  readonly #ledger: Ledger;
  readonly #blocks: number;

  /** @throws RangeError when the ledger does not keep account states for that long */
  constructor(ledger: Ledger, blocks: number) {
    super();
    if (blocks > ledger.behindBlocks) throw new RangeError(`a node is at most ${ledger.behindBlocks} blocks behind`);
    this.#ledger = ledger;
    this.#blocks = blocks;
    this.genesisHash = ledger.genesisHash;
    this.genesisSlot = ledger.genesisSlot;
    this.genesisTime = ledger.genesisTime;
    this.history = ledger.history;
  }

  get transactionCount(): number {
    return this.#ledger.transactionCount;
  }

  get lookups(): LookupTables {
    return this.#ledger.lookups;
  }

  blockAt(commitment: Commitment): StoredBlock | null {
    return this.history.fromTip(this.#ledger.distance(commitment, this.#blocks));
  }

  account(pubkey: string, commitment: Commitment): AccountVersion | null {
    return this.#ledger.accounts.at(pubkey, this.slotAt(commitment));
  }

  owned(program: string, commitment: Commitment): readonly AccountVersion[] {
    return this.#ledger.accounts.ownedAt(program, this.slotAt(commitment));
  }

  transaction(signature: string): StoredTransaction | null {
    return this.history.transaction(signature);
  }

  reached(block: StoredBlock, commitment: Commitment): boolean {
    return block.slot <= this.slotAt(commitment) && this.history.block(block.slot) === block;
  }

  bankAt(slot: number): StoredBlock | null {
    return slot <= this.slotAt('processed') ? this.history.block(slot) : null;
  }

  isBlockhashValid(blockhash: string, commitment: Commitment): boolean {
    const lag = this.#ledger.distance(commitment, this.#blocks);
    for (let age = 0; age <= BLOCKHASH_AGE_BLOCKS; age++) {
      const block = this.history.fromTip(lag + age);
      if (block === null) return blockhash === this.genesisHash;
      if (block.blockhash === blockhash) return true;
    }
    return false;
  }
}
