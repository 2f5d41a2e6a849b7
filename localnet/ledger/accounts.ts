// Account states of the simulated chain: every account by key and by owner, as each commitment level sees it.
// A version that no level can see any more is forgotten, so memory follows the accounts, not the writes.

import { asBuffer } from '../../schemas/index.ts';
import type { LedgerAccount } from '../ledger-types.ts';

/** One state of one account. Never changed after it was written; `data` belongs to the ledger from then on. */
export interface AccountVersion {
  readonly pubkey: string;
  readonly owner: string;
  readonly lamports: number;
  readonly data: Buffer;
  readonly slot: number;
  /** Counts every write of the chain, so it orders writes inside a slot. */
  readonly writeVersion: number;
  /** base64 of the zstd-compressed data, filled by the first reader that asks for it. */
  zstd: string | null;
}

interface Entry {
  readonly pubkey: string;
  /** Ascending by slot, at most one per slot. */
  versions: AccountVersion[];
}

interface Written {
  readonly slot: number;
  readonly entry: Entry;
}

/** Compact the queue of pending forgets once this many heads are spent. */
const QUEUE_COMPACT_LENGTH = 4096;

export class AccountStore {
  readonly #entries = new Map<string, Entry>();
  readonly #byOwner = new Map<string, Set<Entry>>();
  #unsettled: Written[] = [];
  #unsettledHead = 0;
  #writeVersion = 0;

  /** Accounts that any commitment level can still see, closed ones among them. */
  get size(): number {
    return this.#entries.size;
  }

  /** Records the state an account has from `slot` on. A later write of the same slot replaces the earlier one. */
  write(account: LedgerAccount, slot: number): AccountVersion {
    this.#writeVersion += 1;
    const version: AccountVersion = {
      pubkey: account.pubkey,
      owner: account.owner,
      lamports: account.data.length === 0 ? 0 : account.lamports,
      data: asBuffer(account.data),
      slot,
      writeVersion: this.#writeVersion,
      zstd: null,
    };
    this.#place(version);
    return version;
  }

  /** Puts a version back that was read from a state file. Versions of one account must come in order. */
  restore(version: AccountVersion): void {
    this.#writeVersion = Math.max(this.#writeVersion, version.writeVersion);
    this.#place(version);
  }

  /** State of an account at `slot`, or null when it did not exist then. */
  at(pubkey: string, slot: number): AccountVersion | null {
    const entry = this.#entries.get(pubkey);
    return entry === undefined ? null : versionAt(entry, slot);
  }

  /** Every account that `owner` owned at `slot`. */
  ownedAt(owner: string, slot: number): AccountVersion[] {
    const owned: AccountVersion[] = [];
    for (const entry of this.#byOwner.get(owner) ?? []) {
      const version = versionAt(entry, slot);
      if (version !== null && version.owner === owner) owned.push(version);
    }
    return owned;
  }

  /** Forgets what nobody can see once no level reads below `slot`. */
  settle(slot: number): void {
    while (this.#unsettledHead < this.#unsettled.length) {
      const written = this.#unsettled[this.#unsettledHead];
      if (written === undefined || written.slot > slot) break;
      this.#unsettledHead += 1;
      this.#forgetBefore(written.entry, slot);
    }
    if (this.#unsettledHead > QUEUE_COMPACT_LENGTH) {
      this.#unsettled = this.#unsettled.slice(this.#unsettledHead);
      this.#unsettledHead = 0;
    }
  }

  /** All versions held, those of one account together and in order. */
  versions(): AccountVersion[] {
    const all: AccountVersion[] = [];
    for (const entry of this.#entries.values()) all.push(...entry.versions);
    return all;
  }

  #place(version: AccountVersion): void {
    let entry = this.#entries.get(version.pubkey);
    if (entry === undefined) {
      entry = { pubkey: version.pubkey, versions: [] };
      this.#entries.set(version.pubkey, entry);
    }
    const last = entry.versions.at(-1);
    if (last !== undefined && last.slot > version.slot) throw new Error('account versions must come in slot order');
    if (last !== undefined && last.slot === version.slot) entry.versions[entry.versions.length - 1] = version;
    else entry.versions.push(version);
    let owned = this.#byOwner.get(version.owner);
    if (owned === undefined) {
      owned = new Set();
      this.#byOwner.set(version.owner, owned);
    }
    owned.add(entry);
    this.#unsettled.push({ slot: version.slot, entry });
  }

  #forgetBefore(entry: Entry, slot: number): void {
    let keep = 0;
    for (let i = 0; i < entry.versions.length; i++) if ((entry.versions[i]?.slot ?? Infinity) <= slot) keep = i;
    const forgotten = entry.versions.slice(0, keep);
    entry.versions = entry.versions.slice(keep);
    const only = entry.versions.length === 1 ? entry.versions[0] : undefined;
    const gone = only !== undefined && only.data.length === 0 && only.slot <= slot;
    if (gone) {
      this.#entries.delete(entry.pubkey);
      entry.versions = [];
      forgotten.push(only);
    }
    for (const version of forgotten) this.#disown(entry, version.owner);
  }

  #disown(entry: Entry, owner: string): void {
    if (entry.versions.some((version) => version.owner === owner)) return;
    const owned = this.#byOwner.get(owner);
    owned?.delete(entry);
    if (owned?.size === 0) this.#byOwner.delete(owner);
  }
}

function versionAt(entry: Entry, slot: number): AccountVersion | null {
  for (let i = entry.versions.length - 1; i >= 0; i--) {
    const version = entry.versions[i];
    if (version !== undefined && version.slot <= slot) return version.data.length === 0 ? null : version;
  }
  return null;
}
