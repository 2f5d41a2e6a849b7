// The newest state of every account. User accounts are packed, except those that changed last: the next change reads them again.

import { LRUCache } from 'lru-cache';
import { LargeMap } from './large-map.ts';
import type { StoredAccount } from './stored-account.ts';

/** Changed accounts that stay as they came: at most 75 MB. Packing one at each change costs a tenth of ingest. */
const RECENT_MAX = 16_384;

export class AccountStore {
  readonly #accounts = new LargeMap<StoredAccount>();
  /** The accounts that are not packed, by key. */
  readonly #recent: LRUCache<string, StoredAccount>;
  #open = 0;

  constructor(recentMax = RECENT_MAX) {
    this.#recent = new LRUCache({
      max: recentMax,
      dispose: (account, _key, reason) => {
        if (reason === 'evict') account.pack();
      },
    });
  }

  get(key: string): StoredAccount | undefined {
    return this.#accounts.get(key);
  }

  /** A state may be replaced meanwhile. */
  values(): Iterable<StoredAccount> {
    return this.#accounts.values();
  }

  /** Open and closed ones. */
  get isEmpty(): boolean {
    return this.#accounts.size === 0;
  }

  /** Number of open accounts. */
  get open(): number {
    return this.#open;
  }

  /** `isActive`: the account changes, so it may soon change again. */
  set(account: StoredAccount, isActive: boolean): void {
    if (this.#accounts.get(account.key)?.isOpen) this.#open -= 1;
    if (account.isOpen) this.#open += 1;
    this.#accounts.set(account.key, account);
    if (account.kind !== 'user' || !account.isOpen) return;
    if (isActive) this.#recent.set(account.key, account);
    else account.pack();
  }

  clear(): void {
    this.#accounts.clear();
    this.#recent.clear();
    this.#open = 0;
  }
}
