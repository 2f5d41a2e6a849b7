// Account states of the simulated chain by key and by owner, for each commitment level. Drops versions that no level can
// read any more, so memory follows the number of accounts, not of writes.

import { asBuffer } from '../../schemas/index.ts';
import type { LedgerAccount } from '../ledger-types.ts';

/** One state of one account. Immutable; the ledger owns `data`. */
export interface AccountVersion {
  readonly pubkey: string;
  readonly owner: string;
  readonly lamports: number;
  readonly data: Buffer;
  readonly slot: number;
  /** Number of the write on the chain. Orders writes inside a slot. */
  readonly writeVersion: number;
  /** base64 of the zstd-compressed data, cached by its first reader. */
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

/** Owner of wallets. */
const SYSTEM_PROGRAM = '11111111111111111111111111111111';
/** Number of consumed entries at which the queue of pending drops is compacted. */
const QUEUE_COMPACT_LENGTH = 4096;

export class AccountStore {
  readonly #entries = new Map<string, Entry>();
  readonly #byOwner = new Map<string, Set<Entry>>();
  #unsettled: Written[] = [];
  #unsettledHead = 0;
  #writeVersion = 0;

  /** Accounts that some commitment level can read, including closed ones. */
  get size(): number {
    return this.#entries.size;
  }

  /** Sets an account's state from `slot` on. A later write of the same slot replaces it. */
  write(account: LedgerAccount, slot: number): AccountVersion {
    const version = this.version(account, slot);
    this.#place(version);
    return version;
  }

  /** A state that only a fork has. */
  version(account: LedgerAccount, slot: number): AccountVersion {
    this.#writeVersion += 1;
    return {
      pubkey: account.pubkey,
      owner: account.owner,
      lamports: account.data.length === 0 && account.owner !== SYSTEM_PROGRAM ? 0 : account.lamports,
      data: asBuffer(account.data),
      slot,
      writeVersion: this.#writeVersion,
      zstd: null,
    };
  }

  /** Restores a version from a state file. Versions of one account must come in order. */
  restore(version: AccountVersion): void {
    this.#writeVersion = Math.max(this.#writeVersion, version.writeVersion);
    this.#place(version);
  }

  /** Account state at `slot`, or null when it did not exist. */
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

  /** Drops versions that no level can read once all levels are at `slot` or later. */
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

  /** All versions in memory, grouped by account and in order. */
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
    const gone = only !== undefined && isClosed(only) && only.slot <= slot;
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

/** A wallet has lamports and no data; any other account without data is closed. */
function isClosed({ data, lamports }: AccountVersion): boolean {
  return data.length === 0 && lamports === 0;
}

function versionAt(entry: Entry, slot: number): AccountVersion | null {
  for (let i = entry.versions.length - 1; i >= 0; i--) {
    const version = entry.versions[i];
    if (version !== undefined && version.slot <= slot) return isClosed(version) ? null : version;
  }
  return null;
}
