// The newest state of an account, as the differ keeps it.

import { keyBytes, keyText } from '../schemas/index.ts';
import { Packed, type PackRoom } from './packed.ts';
import { hasBytes, owned, PackedUpdate, sizeOf } from './packed-update.ts';
import type { AccountUpdate } from './source.ts';

export type Kind = 'state' | 'market' | 'oracle' | 'user' | 'clob' | 'vault' | 'builder';
/** Order of kinds in the first snapshot: each kind comes after the kinds that it looks up. */
export const KIND_ORDER: readonly Kind[] = ['state', 'market', 'oracle', 'user', 'clob', 'vault', 'builder'];
/** Kinds whose accounts are closed when a complete read lacks them. */
const CLOSING: ReadonlySet<Kind> = new Set<Kind>(['user', 'clob']);

/** The stored state of an account. `data` is empty for a closed account. */
export interface AccountState {
  /** Newest slot in which the account had these bytes; `since` is the first. */
  readonly slot: number;
  readonly since: number;
  readonly data: Uint8Array;
  /** Whether the update has the same bytes. */
  holds(update: AccountUpdate): boolean;
}

/** Listens to changes of the stored accounts. */
export interface Watcher {
  /** The account has new bytes instead of `before`, since the slot of the update. */
  changed(key: string, before: AccountState | null, slot: number): void;
  /** All accounts were read again: states of earlier slots may have been incomplete. */
  reread(): void;
}

export class StoredAccount implements AccountState {
  /** Text of the address (`keyText`). */
  readonly key: string;
  readonly kind: Kind;
  readonly owner: Uint8Array;
  readonly since: number;
  readonly isOpen: boolean;
  slot: number;
  writeVersion: bigint | null;
  /** Number of the newest complete read that has the account. */
  read = 0;
  #bytes: Uint8Array | Packed;

  /**
   * `keepsPack`: packed data stay within the pack of their read, which pays when all its accounts are kept. `before`: the stored
   * state that this one follows.
   */
  constructor(update: AccountUpdate, kind: Kind, keepsPack = false, before: StoredAccount | null = null) {
    const { slot, writeVersion, owner, pubkey } = update;
    this.key = before?.key ?? keyText(pubkey);
    this.kind = kind;
    const isSameOwner = before !== null && Buffer.compare(before.owner, owner) === 0;
    this.owner = isSameOwner ? before.owner : owned(owner);
    this.since = slot;
    this.isOpen = sizeOf(update) > 0;
    this.slot = slot;
    this.writeVersion = writeVersion;
    if (kind !== 'user' || !(update instanceof PackedUpdate)) this.#bytes = update.data;
    else this.#bytes = keepsPack ? update.packed : update.packed.apart();
  }

  /** The data; a copy of them while they are packed. */
  get data(): Uint8Array {
    return this.#bytes instanceof Packed ? this.#bytes.unpack() : this.#bytes;
  }

  /** The data without a copy: valid until the next use of the room. */
  peek(room: PackRoom): Uint8Array {
    return this.#bytes instanceof Packed ? this.#bytes.peek(room) : this.#bytes;
  }

  get pubkey(): Uint8Array {
    return keyBytes(this.key);
  }

  /** Whether a complete read that lacks the account closes it. */
  get mayClose(): boolean {
    return CLOSING.has(this.kind);
  }

  /** Keeps the data without their zeros. Reading them costs some microseconds from now on. */
  pack(): this {
    if (!(this.#bytes instanceof Packed)) this.#bytes = Packed.of(this.#bytes);
    return this;
  }

  holds(update: AccountUpdate): boolean {
    return hasBytes(update, this.#bytes);
  }
}

/** The update that led to the stored state. */
export function updateOf({ since, pubkey, owner, data }: StoredAccount): AccountUpdate {
  return { kind: 'account', slot: since, writeVersion: null, pubkey, owner, data };
}

/** The stored state as an update of its newest slot. */
export function currentOf(stored: StoredAccount): AccountUpdate {
  return { ...updateOf(stored), slot: stored.slot, writeVersion: stored.writeVersion };
}

/** The same with data without a copy: valid until the next use of the room. */
export function peekedOf(stored: StoredAccount, room: PackRoom): AccountUpdate {
  const { slot, writeVersion, pubkey, owner } = stored;
  return { kind: 'account', slot, writeVersion, pubkey, owner, data: stored.peek(room) };
}

/** Compares slots, then write versions if both are known. Of two equal ones the later arrival wins. */
export function isOlder(update: Pick<AccountUpdate, 'slot' | 'writeVersion'>, stored: StoredAccount): boolean {
  if (update.slot !== stored.slot) return update.slot < stored.slot;
  if (update.writeVersion === null || stored.writeVersion === null) return false;
  return update.writeVersion < stored.writeVersion;
}
