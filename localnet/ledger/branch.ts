// A fork that the node follows for a while and that then loses. It has blocks on top of one of the winning chain, and the
// account states after them.

import type { AccountVersion } from './accounts.ts';
import type { StoredBlock, StoredTransaction } from './history.ts';

export class Branch {
  /** Block of the winning chain below the fork; null: the genesis. */
  readonly base: StoredBlock | null;
  readonly blocks: StoredBlock[] = [];
  readonly #accounts = new Map<string, AccountVersion>();
  readonly #transactions = new Map<string, StoredTransaction>();

  constructor(base: StoredBlock | null) {
    this.base = base;
  }

  get tip(): StoredBlock | null {
    return this.blocks.at(-1) ?? null;
  }

  push(block: StoredBlock): void {
    this.blocks.push(block);
    for (const transaction of block.transactions) {
      this.#transactions.set(transaction.signature, transaction);
      for (const version of transaction.writes) this.#accounts.set(version.pubkey, version);
    }
  }

  transaction(signature: string): StoredTransaction | null {
    return this.#transactions.get(signature) ?? null;
  }

  /** State at the tip of the branch: null when closed there, undefined when the branch did not write it. */
  account(pubkey: string): AccountVersion | null | undefined {
    const version = this.#accounts.get(pubkey);
    if (version === undefined) return undefined;
    return version.data.length === 0 ? null : version;
  }

  /** Accounts of a program at the tip, given those below the branch. */
  owned(owner: string, below: readonly AccountVersion[]): AccountVersion[] {
    const untouched = below.filter(({ pubkey }) => !this.#accounts.has(pubkey));
    const written = [...this.#accounts.values()].filter((one) => one.owner === owner && one.data.length > 0);
    return [...untouched, ...written];
  }

  /** Keys of the accounts that the branch wrote. */
  written(): ReadonlySet<string> {
    return new Set(this.#accounts.keys());
  }
}
