// Where a market's snapshots are in `views.book`, in the state of the book role's group: the offset of the newest one, and an
// index by slot, which finds the book of an earlier slot without a search. Readers extend theirs while they follow.

/** Group of the book role; readers load its state. */
export const BOOK_GROUP = 'book';
const ENTRY_BYTES = 16;
const INDEX_STATE = 'snapshots:';
const NEWEST_STATE = 'snapshot:';

export interface SnapshotOffset {
  readonly slot: number;
  readonly offset: bigint;
}

export class SnapshotIndex {
  #snapshots: SnapshotOffset[] = [];

  /** Adds the next snapshot; ignores one before the newest. */
  add(place: SnapshotOffset): void {
    const last = this.#snapshots.at(-1);
    if (last && place.offset <= last.offset) return;
    this.#snapshots.push(place);
  }

  /** Removes snapshots before `earliest`, the log's oldest offset. Retention alone bounds the index. */
  trim(earliest: bigint): void {
    if ((this.#snapshots[0]?.offset ?? earliest) >= earliest) return;
    this.#snapshots = this.#snapshots.filter(({ offset }) => offset >= earliest);
  }

  /** Last snapshot at or before the slot and not before the offset `earliest`; null when none is known. */
  at(slot: number, earliest: bigint): SnapshotOffset | null {
    // Backwards: slots rise with offsets except for records repeated after a crash, where the last one counts.
    const found = this.#snapshots.findLast((place) => place.slot <= slot);
    return found && found.offset >= earliest ? found : null;
  }

  list(): readonly SnapshotOffset[] {
    return this.#snapshots;
  }
}

/** Key of a market's newest snapshot in the state of the group. */
export function newestSnapshotState(marketKey: string): string {
  return NEWEST_STATE + marketKey;
}

export function packSnapshotOffset(offset: bigint): Uint8Array {
  return Buffer.from(String(offset), 'utf8');
}

/** Offset in `views.book` of each market's newest snapshot, by market key, from the state of the group. */
export function newestSnapshots(state: ReadonlyMap<string, Uint8Array>): Map<string, bigint> {
  const offsets = new Map<string, bigint>();
  for (const [name, value] of state) {
    if (!name.startsWith(NEWEST_STATE)) continue;
    offsets.set(name.slice(NEWEST_STATE.length), BigInt(Buffer.from(value).toString('utf8')));
  }
  return offsets;
}

/** Key of a market's index in the state of the group. */
export function snapshotIndexState(marketKey: string): string {
  return INDEX_STATE + marketKey;
}

/** Market of such a key; null for any other key. */
export function snapshotIndexMarket(stateKey: string): string | null {
  return stateKey.startsWith(INDEX_STATE) ? stateKey.slice(INDEX_STATE.length) : null;
}

export function packSnapshotIndex(index: SnapshotIndex): Uint8Array {
  const entries = index.list();
  const bytes = Buffer.alloc(entries.length * ENTRY_BYTES);
  for (const [at, { slot, offset }] of entries.entries()) {
    bytes.writeBigUInt64LE(BigInt(slot), at * ENTRY_BYTES);
    bytes.writeBigUInt64LE(offset, at * ENTRY_BYTES + ENTRY_BYTES / 2);
  }
  return bytes;
}

/** Inverse of `packSnapshotIndex`; ignores a truncated last entry. */
export function unpackSnapshotIndex(value: Uint8Array): SnapshotIndex {
  const bytes = Buffer.from(value);
  const index = new SnapshotIndex();
  for (let at = 0; at + ENTRY_BYTES <= bytes.length; at += ENTRY_BYTES) {
    index.add({
      slot: Number(bytes.readBigUInt64LE(at)),
      offset: bytes.readBigUInt64LE(at + ENTRY_BYTES / 2),
    });
  }
  return index;
}
