// Compares a read with the stored accounts, in slices beside the stream: lists differing accounts, and rebuilds every market
// from the read. Accounts outside a partial read enter the rebuild as they are stored.

import { keyText } from '../../schemas/index.ts';
import type { Differ } from '../differ.ts';
import { changed, sizeOf } from '../packed-update.ts';
import type { AccountsRead, AccountUpdate } from '../source.ts';
import { Rebuild } from './rebuild.ts';
import type { AccountVersions } from './versions.ts';

/** Bytes of accounts per slice: some milliseconds before the event loop runs. */
const SLICE_BYTES = 128 * 1024;
/** Known accounts per slice of those that the read may lack. */
const SLICE_KEYS = 1_000;

/** An account whose stored state differs from the read. */
export interface Suspect {
  readonly update: AccountUpdate;
  readonly storedSlot: number | null;
  /** The stored account; null when there is none. */
  readonly stored: { readonly data: Uint8Array } | null;
  /** The stream has delivered other bytes since the read, so the current state may be right. */
  readonly isPast: boolean;
}

export interface ComparisonParts {
  readonly differ: Differ;
  readonly versions: AccountVersions;
  /** Accounts that the differ cannot read, with their bytes. The differ never stores them. */
  readonly refused: ReadonlyMap<string, Uint8Array>;
}

export class Comparison {
  readonly rebuild: Rebuild;
  readonly read: AccountsRead;
  readonly #parts: ComparisonParts;
  readonly #suspects: Suspect[] = [];
  readonly #run: Generator<void>;
  /** Accounts that changed since the comparison began. */
  #dirty = new Set<string>();
  isDone = false;

  /** `fresh` must be empty. */
  constructor(read: AccountsRead, fresh: Differ, parts: ComparisonParts) {
    this.read = read;
    this.rebuild = new Rebuild(fresh);
    this.#parts = parts;
    this.#run = this.#slices();
  }

  /** Compares the next slice. May run between any two account updates. */
  step(): void {
    if (!this.isDone && this.#run.next().done) this.isDone = true;
  }

  /** The stream has delivered another state of an account. */
  changed(key: string): void {
    this.#dirty.add(key);
  }

  /** Accounts that differ, except accounts that the stream has corrected since. */
  suspects(): Suspect[] {
    const { differ } = this.#parts;
    return this.#suspects.filter(
      ({ update, stored, isPast }) => isPast || differ.stored(keyText(update.pubkey)) === stored,
    );
  }

  /** Applies changes since the read to the rebuild, which then matches the stream's slot. */
  catchUp(): void {
    for (const key of this.#dirty) {
      const update = this.#parts.differ.lastUpdate(key);
      if (update) this.rebuild.take(update);
    }
    this.#dirty.clear();
  }

  *#slices(): Generator<void> {
    const { differ } = this.#parts;
    const { read } = this;
    const seen = new Set<string>();
    let left = SLICE_BYTES;
    for (const update of read.updates) {
      const key = keyText(update.pubkey);
      seen.add(key);
      this.#compareOne(key, update);
      left -= sizeOf(update);
      if (left > 0) continue;
      left = SLICE_BYTES;
      yield;
    }
    let keys = 0;
    for (const key of differ.keys()) {
      if (++keys % SLICE_KEYS === 0) yield;
      if (seen.has(key)) continue;
      left -= this.#takeStored(key);
      if (left > 0) continue;
      left = SLICE_BYTES;
      yield;
    }
  }

  /** Takes an account outside the read as it is stored. Returns its bytes. */
  #takeStored(key: string): number {
    const { differ } = this.#parts;
    const account = differ.lastUpdate(key);
    const stored = differ.stored(key);
    // It may have closed since the slice began.
    if (!account || !stored || account.data.length === 0) return 0;
    this.rebuild.take(account);
    const { isWhole, slot } = this.read;
    if (isWhole && stored.slot <= slot && differ.mayClose(account.pubkey)) {
      const update: AccountUpdate = { ...account, slot, data: new Uint8Array(0) };
      this.#suspects.push({ update, storedSlot: stored.slot, stored, isPast: false });
    }
    return account.data.length;
  }

  #compareOne(key: string, update: AccountUpdate): void {
    const { differ, versions, refused } = this.#parts;
    const stored = differ.stored(key);
    if (stored?.holds(update)) {
      // A read gives no slot of the last change, so the account keeps the stored `since`.
      this.rebuild.take(changed(update, { slot: stored.since }));
      return;
    }
    // A suspect enters the rebuild with its stored state until a second read confirms the difference.
    const last = differ.lastUpdate(key);
    if (last && last.data.length > 0) this.rebuild.take(last);
    const known = refused.get(key);
    if (known && Buffer.compare(known, update.data) === 0) return;
    if (stored === null || stored.since <= update.slot) {
      // A change in the slot of the read may be later than the read, so the states before it match too.
      const before = stored?.since === update.slot ? versions.during(key, update.slot) : [];
      if (before.some((data) => Buffer.compare(data, update.data) === 0)) return;
      this.#suspects.push({ update, storedSlot: stored?.slot ?? null, stored, isPast: false });
      return;
    }
    const past = versions.during(key, update.slot);
    const newest = past.at(-1);
    if (newest === undefined || past.some((data) => Buffer.compare(data, update.data) === 0)) return;
    this.#suspects.push({ update, storedSlot: stored.slot, stored: { data: newest }, isPast: true });
  }
}
