// An account of a complete read. Most of them are stored with the same bytes already, so their data stay packed until asked for.

import { isPackedAs, peekText, unpackText } from './packed.ts';
import type { AccountUpdate } from './source.ts';

/** `data` is no member of its own: a copy by spreading has none. */
export class PackedUpdate implements AccountUpdate {
  readonly kind = 'account';
  readonly slot: number;
  readonly writeVersion = null;
  readonly pubkey: Uint8Array;
  readonly owner: Uint8Array;
  /** See `packText`. */
  readonly text: string;
  /** Bytes of the data. */
  readonly size: number;

  constructor(slot: number, { pubkey, owner }: Pick<AccountUpdate, 'pubkey' | 'owner'>, text: string, size: number) {
    this.slot = slot;
    this.pubkey = pubkey;
    this.owner = owner;
    this.text = text;
    this.size = size;
  }

  /** A copy at each access. */
  get data(): Uint8Array {
    return unpackText(this.text);
  }
}

/** Bytes of an update's data. */
export function sizeOf(update: AccountUpdate): number {
  return update instanceof PackedUpdate ? update.size : update.data.length;
}

/** An update's data, to look at at once: valid until the next call of this kind. */
export function peekData(update: AccountUpdate): Uint8Array {
  return update instanceof PackedUpdate ? peekText(update.text) : update.data;
}

/** The update with its data as a member. */
export function unpacked(update: AccountUpdate): AccountUpdate {
  return update instanceof PackedUpdate ? { ...update, data: update.data } : update;
}

/** The same state in another slot. */
export function movedTo(slot: number, update: AccountUpdate): AccountUpdate {
  return update instanceof PackedUpdate
    ? new PackedUpdate(slot, update, update.text, update.size)
    : { ...update, slot };
}

/** Whether stored bytes, which may be packed, are those of the update. */
export function hasBytes(update: AccountUpdate, bytes: Uint8Array | string): boolean {
  if (!(update instanceof PackedUpdate)) return isSame(update.data, bytes);
  return typeof bytes === 'string' ? bytes === update.text : isPackedAs(update.text, bytes);
}

function isSame(data: Uint8Array, bytes: Uint8Array | string): boolean {
  if (typeof bytes === 'string') return isPackedAs(bytes, data);
  return bytes.length === data.length && Buffer.compare(bytes, data) === 0;
}
