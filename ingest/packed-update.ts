// An account of a complete read. Most of them are stored with the same bytes already, so their data stay packed until asked for.

import type { Packed } from './packed.ts';
import type { AccountUpdate } from './source.ts';

/** `data` is no member of its own: a copy by spreading has none. */
export class PackedUpdate implements AccountUpdate {
  readonly kind = 'account';
  readonly slot: number;
  readonly writeVersion = null;
  readonly pubkey: Uint8Array;
  readonly owner: Uint8Array;
  readonly packed: Packed;
  /** Bytes of the data. */
  readonly size: number;

  constructor(slot: number, { pubkey, owner }: Pick<AccountUpdate, 'pubkey' | 'owner'>, packed: Packed, size: number) {
    this.slot = slot;
    this.pubkey = pubkey;
    this.owner = owner;
    this.packed = packed;
    this.size = size;
  }

  /** A copy at each access. */
  get data(): Uint8Array {
    return this.packed.unpack();
  }
}

/** Bytes of an update's data. */
export function sizeOf(update: AccountUpdate): number {
  return update instanceof PackedUpdate ? update.size : update.data.length;
}

/** An update's data, to look at at once: valid until packed data are looked at again. */
export function peekData(update: AccountUpdate): Uint8Array {
  return update instanceof PackedUpdate ? update.packed.peek() : update.data;
}

/** The update with its data as a member. */
export function unpacked(update: AccountUpdate): AccountUpdate {
  return update instanceof PackedUpdate ? { ...update, data: update.data } : update;
}

/** The same state in another slot. */
export function movedTo(slot: number, update: AccountUpdate): AccountUpdate {
  return update instanceof PackedUpdate
    ? new PackedUpdate(slot, update, update.packed, update.size)
    : { ...update, slot };
}

/** Whether stored bytes, which may be packed, are those of the update. */
export function hasBytes(update: AccountUpdate, bytes: Uint8Array | Packed): boolean {
  if (bytes instanceof Uint8Array) {
    if (update instanceof PackedUpdate) return update.packed.holds(bytes);
    return bytes.length === update.data.length && Buffer.compare(bytes, update.data) === 0;
  }
  return update instanceof PackedUpdate ? bytes.equals(update.packed) : bytes.holds(update.data);
}
