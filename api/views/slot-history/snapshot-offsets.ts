// Finds the offset in `views.book` at which to start the replay of an earlier slot, from the book role's index in the log.

import type { EventLog } from '../../../platform/index.ts';
import {
  BOOK_GROUP,
  SNAPSHOT_EVERY_SLOTS,
  type SnapshotIndex,
  snapshotIndexMarket,
  unpackSnapshotIndex,
} from '../../../processors/book/index.ts';
import { earliestOffset } from './replay.ts';

/** Shortest time between two reads of the index. Snapshots that it lacks only make a replay longer. */
const READ_AGAIN_MS = 5_000;

export class SnapshotOffsets {
  readonly #log: EventLog;
  readonly #now: () => number;
  #indexes = new Map<string, SnapshotIndex>();
  #readAtMs = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | null = null;

  /** `now` returns milliseconds. */
  constructor(log: EventLog, now: () => number) {
    this.#log = log;
    this.#now = now;
  }

  /**
   * Offset of the newest snapshot at or before a slot. Before the first snapshot, the beginning of the log: the first change
   * of an epoch contains a whole book too.
   */
  async at(key: string, slot: number): Promise<bigint> {
    const earliest = await earliestOffset(this.#log, key);
    let found = this.#indexes.get(key)?.at(slot, earliest) ?? null;
    if (!found || found.slot < slot - SNAPSHOT_EVERY_SLOTS) {
      await this.#readAgain();
      found = this.#indexes.get(key)?.at(slot, earliest) ?? null;
    }
    return found?.offset ?? earliest;
  }

  async #readAgain(): Promise<void> {
    if (this.#now() - this.#readAtMs < READ_AGAIN_MS) return;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = null;
    });
    await this.#reading;
  }

  async #read(): Promise<void> {
    const { state } = await this.#log.load(BOOK_GROUP, 'reader');
    const indexes = new Map<string, SnapshotIndex>();
    for (const [name, value] of state) {
      const key = snapshotIndexMarket(name);
      if (key !== null) indexes.set(key, unpackSnapshotIndex(value));
    }
    this.#indexes = indexes;
    this.#readAtMs = this.#now();
  }
}
