// Where the snapshots of a market stand in `views.book`, by slot: what finds the book of an earlier slot without a search.
// The book role keeps one per market in the state of its group; readers go on with what they see go by.

const ENTRY_BYTES = 16;
const STATE_PREFIX = 'snapshots:';

export interface SnapshotPlace {
  readonly slot: number;
  readonly offset: bigint;
}

export class SnapshotIndex {
  private places: SnapshotPlace[] = [];

  /** Takes the next snapshot; one that lies before the newest is ignored. */
  add(place: SnapshotPlace): void {
    const last = this.places.at(-1);
    if (last && place.offset <= last.offset) return;
    this.places.push(place);
  }

  /** Forgets what the log no longer has: snapshots before `earliest`, the oldest offset kept. Retention alone bounds the index. */
  trim(earliest: bigint): void {
    if ((this.places[0]?.offset ?? earliest) >= earliest) return;
    this.places = this.places.filter(({ offset }) => offset >= earliest);
  }

  /** Last snapshot at or before the slot, not before `earliest` (an offset); null when none is known. */
  at(slot: number, earliest: bigint): SnapshotPlace | null {
    // From the end: slots rise with offsets, but for records repeated after a crash, where the last one is the right one.
    const found = this.places.findLast((place) => place.slot <= slot);
    return found && found.offset >= earliest ? found : null;
  }

  list(): readonly SnapshotPlace[] {
    return this.places;
  }
}

/** Key of a market's index in the state of group `book`. */
export function snapshotIndexState(marketKey: string): string {
  return STATE_PREFIX + marketKey;
}

/** Market of such a key; null for any other key. */
export function snapshotIndexMarket(stateKey: string): string | null {
  return stateKey.startsWith(STATE_PREFIX) ? stateKey.slice(STATE_PREFIX.length) : null;
}

export function packSnapshotIndex(index: SnapshotIndex): Uint8Array {
  const places = index.list();
  const bytes = Buffer.alloc(places.length * ENTRY_BYTES);
  for (const [at, { slot, offset }] of places.entries()) {
    bytes.writeBigUInt64LE(BigInt(slot), at * ENTRY_BYTES);
    bytes.writeBigUInt64LE(offset, at * ENTRY_BYTES + ENTRY_BYTES / 2);
  }
  return bytes;
}

/** Inverse of `packSnapshotIndex`; what is left of a cut entry is ignored. */
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
