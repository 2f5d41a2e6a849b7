// The newest state of every account. User accounts are packed, except those that changed last: the next change reads them again.

import type { StoredAccount } from './stored-account.ts';

/** Changed accounts that stay as they came: some megabytes. */
const RECENT_MAX = 4_096;

export class AccountStore {
  readonly #accounts = new Map<string, StoredAccount>();
  /** A ring of the accounts that are not packed yet. */
  readonly #recent: StoredAccount[] = [];
  readonly #recentMax: number;
  #next = 0;
  #open = 0;

  constructor(recentMax = RECENT_MAX) {
    this.#recentMax = recentMax;
  }

  get(key: string): StoredAccount | undefined {
    return this.#accounts.get(key);
  }

  /** In the order of their first states. A state may be replaced meanwhile. */
  values(): IterableIterator<StoredAccount> {
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
    if (isActive) this.#keep(account);
    else account.pack();
  }

  clear(): void {
    this.#accounts.clear();
    this.#open = 0;
  }

  #keep(account: StoredAccount): void {
    const oldest = this.#recent[this.#next];
    // A state that was replaced since is not worth packing.
    if (oldest && this.#accounts.get(oldest.key) === oldest) oldest.pack();
    this.#recent[this.#next] = account;
    this.#next = (this.#next + 1) % this.#recentMax;
  }
}
