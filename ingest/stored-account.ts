// The newest state of an account, as the differ keeps it.

import type { AccountUpdate } from './source.ts';

export type Kind = 'state' | 'market' | 'oracle' | 'user' | 'clob' | 'vault' | 'builder';
/** Order of kinds in the first snapshot: each kind comes after the kinds that it looks up. */
export const KIND_ORDER: readonly Kind[] = ['state', 'market', 'oracle', 'user', 'clob', 'vault', 'builder'];
/** Kinds that a later complete read applies at its end: their slot must not name a book whose orders are still to come. */
export const AFTER_ORDERS: ReadonlySet<Kind | null> = new Set<Kind>(['state', 'market', 'oracle']);

export interface StoredAccount {
  /** Newest slot in which the account had these bytes; `since` is the first. */
  slot: number;
  readonly since: number;
  writeVersion: bigint | null;
  data: Uint8Array;
  readonly kind: Kind;
  readonly owner: Uint8Array;
  readonly pubkey: Uint8Array;
}

/** Listens to changes of the stored accounts. */
export interface Watcher {
  /** The account has new bytes instead of `before`, since the slot of the update. */
  changed(key: string, before: AccountState | null, slot: number): void;
  /** All accounts were read again: states of earlier slots may have been incomplete. */
  reread(): void;
}

/** The stored state of an account. `data` is empty for a closed account. */
export interface AccountState {
  readonly slot: number;
  readonly since: number;
  readonly data: Uint8Array;
}

export function updateOf({ since, pubkey, owner, data }: StoredAccount): AccountUpdate {
  return { kind: 'account', slot: since, writeVersion: null, pubkey, owner, data };
}

/** The stored state as an update of its newest slot. */
export function currentOf(stored: StoredAccount): AccountUpdate {
  return { ...updateOf(stored), slot: stored.slot, writeVersion: stored.writeVersion };
}

/** Compares slots, then write versions if both are known. Of two equal ones the later arrival wins. */
export function isOlder(update: AccountUpdate, stored: StoredAccount): boolean {
  if (update.slot !== stored.slot) return update.slot < stored.slot;
  if (update.writeVersion === null || stored.writeVersion === null) return false;
  return update.writeVersion < stored.writeVersion;
}
