// An account update whose data stay packed until asked for. Most accounts of a complete read are stored with the same bytes
// already, and tens of thousands of live updates may wait.

import { Packed, type PackRoom } from './packed.ts';
import type { AccountUpdate } from './source.ts';

/** Smaller data take as much memory packed. */
const PACKED_MIN_BYTES = 1_024;

type Head = Omit<AccountUpdate, 'kind' | 'data'>;

/** `data` is no member of its own: a copy by spreading has none. `changed` makes copies. */
export class PackedUpdate implements AccountUpdate {
  readonly kind = 'account';
  readonly slot: number;
  readonly writeVersion: bigint | null;
  readonly pubkey: Uint8Array;
  readonly owner: Uint8Array;
  readonly packed: Packed;
  /** Bytes of the data. */
  readonly size: number;
  declare readonly signature?: Uint8Array;
  declare readonly blockIndex?: number;

  constructor({ slot, writeVersion, pubkey, owner, signature, blockIndex }: Head, packed: Packed, size: number) {
    this.slot = slot;
    this.writeVersion = writeVersion;
    this.pubkey = pubkey;
    this.owner = owner;
    this.packed = packed;
    this.size = size;
    if (signature !== undefined) this.signature = signature;
    if (blockIndex !== undefined) this.blockIndex = blockIndex;
  }

  /** A copy at each access. */
  get data(): Uint8Array {
    return this.packed.unpack();
  }
}

/** The update with its data packed, unless they are small. Nothing of it keeps the message in memory that brought it. */
export function packed(update: AccountUpdate): AccountUpdate {
  if (update instanceof PackedUpdate || update.data.length < PACKED_MIN_BYTES) return update;
  const { pubkey, owner, signature } = update;
  const own = { pubkey: owned(pubkey), owner: owned(owner), ...(signature && { signature: owned(signature) }) };
  return new PackedUpdate({ ...update, ...own }, Packed.of(update.data), update.data.length);
}

/** The bytes in memory of their own: those of a gRPC message are a part of it. */
export function owned(bytes: Uint8Array): Uint8Array {
  return bytes.buffer.byteLength === bytes.length ? bytes : new Uint8Array(bytes);
}

/** Bytes of an update's data. */
export function sizeOf(update: AccountUpdate): number {
  return update instanceof PackedUpdate ? update.size : update.data.length;
}

/** An update's data without a copy: valid until the next use of the room. */
export function peekData(update: AccountUpdate, room: PackRoom): Uint8Array {
  return update instanceof PackedUpdate ? update.packed.peek(room) : update.data;
}

/** The update with its data as a member. */
export function unpacked(update: AccountUpdate): AccountUpdate {
  return update instanceof PackedUpdate ? { ...update, data: update.data } : update;
}

/** The same state, with other members beside its data. */
export function changed(update: AccountUpdate, by: Partial<Omit<Head, 'pubkey' | 'owner'>>): AccountUpdate {
  return update instanceof PackedUpdate
    ? new PackedUpdate({ ...update, ...by }, update.packed, update.size)
    : { ...update, ...by };
}

/** Whether stored bytes, which may be packed, are those of the update. */
export function hasBytes(update: AccountUpdate, bytes: Uint8Array | Packed): boolean {
  if (bytes instanceof Uint8Array) {
    if (update instanceof PackedUpdate) return update.packed.holds(bytes);
    return bytes.length === update.data.length && Buffer.compare(bytes, update.data) === 0;
  }
  return update instanceof PackedUpdate ? bytes.equals(update.packed) : bytes.holds(update.data);
}
