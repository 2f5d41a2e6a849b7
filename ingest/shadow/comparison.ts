// One comparison of a complete read with what is held, made in slices beside the stream: which accounts differ, and every
// market rebuilt from the read.

import { keyText } from '../diff/output.ts';
import type { Differ } from '../differ.ts';
import type { AccountsRead, AccountUpdate } from '../source.ts';
import { Rebuild } from './rebuild.ts';
import type { AccountVersions } from './versions.ts';

/** Bytes of accounts looked at before the loop gets its turn: some milliseconds. */
const SLICE_BYTES = 512 * 1024;

/** An account that is not as it was read. */
export interface Suspect {
  readonly update: AccountUpdate;
  readonly heldSlot: number | null;
  /** Null when nothing was held. */
  readonly held: Uint8Array | null;
  /** The stream has brought other bytes since the read: what is held now is not known to be wrong. */
  readonly isPast: boolean;
}

export interface ComparisonParts {
  readonly differ: Differ;
  readonly versions: AccountVersions;
  /** Accounts that the differ cannot read, with their bytes: never held. */
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

  /** `fresh` must know nothing. */
  constructor(read: AccountsRead, fresh: Differ, parts: ComparisonParts) {
    this.read = read;
    this.rebuild = new Rebuild(fresh);
    this.#parts = parts;
    this.#run = this.#slices();
  }

  /** Looks at some more accounts; may be called at any moment between two account updates. */
  step(): void {
    if (!this.isDone && this.#run.next().done) this.isDone = true;
  }

  /** The stream has brought another state of an account. */
  changed(key: string): void {
    this.#dirty.add(key);
  }

  /** Accounts that differ, those left out which the stream has brought since. */
  suspects(): Suspect[] {
    const { differ } = this.#parts;
    return this.#suspects.filter(
      ({ update, held, isPast }) => isPast || (differ.held(keyText(update.pubkey))?.data ?? null) === held,
    );
  }

  /** Gives the rebuild what changed since the read: it then stands where the stream does. */
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
      this.#one(key, update);
      left -= update.data.length;
      if (left > 0) continue;
      left = SLICE_BYTES;
      yield;
    }
    for (const account of differ.accounts()) {
      const key = keyText(account.pubkey);
      if (seen.has(key)) continue;
      this.rebuild.take(account);
      const held = differ.held(key);
      if (!held || held.slot > read.slot || !differ.mayClose(account.pubkey)) continue;
      const update: AccountUpdate = { ...account, slot: read.slot, data: new Uint8Array(0) };
      this.#suspects.push({ update, heldSlot: held.slot, held: held.data, isPast: false });
    }
  }

  #one(key: string, update: AccountUpdate): void {
    const { differ, versions, refused } = this.#parts;
    const held = differ.held(key);
    if (held && Buffer.compare(held.data, update.data) === 0) {
      // A read does not say since when: an account without a time of its own is as old as the stream says.
      this.rebuild.take({ ...update, slot: held.since });
      return;
    }
    // What is suspected stands in the rebuild as it is held, until a second read confirms that it is wrong.
    const last = differ.lastUpdate(key);
    if (last && last.data.length > 0) this.rebuild.take(last);
    const known = refused.get(key);
    if (known && Buffer.compare(known, update.data) === 0) return;
    if (held === null || held.since <= update.slot) {
      // Held at the slot of the read, and in later ones; what came in that slot itself may be later than the read.
      const before = held?.since === update.slot ? versions.during(key, update.slot) : [];
      if (before.some((data) => Buffer.compare(data, update.data) === 0)) return;
      this.#suspects.push({ update, heldSlot: held?.slot ?? null, held: held?.data ?? null, isPast: false });
      return;
    }
    const past = versions.during(key, update.slot);
    const newest = past.at(-1);
    if (newest === undefined || past.some((data) => Buffer.compare(data, update.data) === 0)) return;
    this.#suspects.push({ update, heldSlot: held.slot, held: newest, isPast: true });
  }
}
