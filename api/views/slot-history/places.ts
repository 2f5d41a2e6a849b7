// Where in `views.book` to begin for the book of an earlier slot: the index that the book role keeps in the log.

import type { EventLog } from '../../../platform/index.ts';
import {
  SNAPSHOT_EVERY_SLOTS,
  type SnapshotIndex,
  snapshotIndexMarket,
  unpackSnapshotIndex,
} from '../../../processors/book/index.ts';
import { earliestOffset } from './replay.ts';

/** Group in whose state the book role keeps the index of each market. */
const BOOK_GROUP = 'book';
/** The index is read again at most this often. Snapshots newer than it only make a start earlier than it could be. */
const READ_AGAIN_MS = 5_000;

export class SnapshotPlaces {
  readonly #log: EventLog;
  readonly #now: () => number;
  #indexes = new Map<string, SnapshotIndex>();
  #readAtMs = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | null = null;

  /** `now` gives milliseconds. */
  constructor(log: EventLog, now: () => number) {
    this.#log = log;
    this.#now = now;
  }

  /**
   * Offset of the newest snapshot at or before a slot that is still kept. Before the first of them it is where the log
   * begins: the first change of an epoch tells a whole book too.
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
    const { state } = await this.#log.load(BOOK_GROUP);
    const indexes = new Map<string, SnapshotIndex>();
    for (const [name, value] of state) {
      const key = snapshotIndexMarket(name);
      if (key !== null) indexes.set(key, unpackSnapshotIndex(value));
    }
    this.#indexes = indexes;
    this.#readAtMs = this.#now();
  }
}
