// Keeps replaced account states for as long as a read of the chain may be compared with them.

/** Slots for which a replaced state is kept. The stream is only some slots past a read at its comparison. */
const RETAINED_SLOTS = 64;
/** Limit of bytes in replaced states. Beyond it the oldest are dropped and not compared. */
const RETAINED_BYTES_MAX = 64 * 1024 * 1024;

/** Dropped states in the list before it is shortened. */
const DROPPED_MAX = 4096;

const NOTHING = new Uint8Array(0);

interface Version {
  readonly key: string;
  /** Empty once dropped, because the list may still have it. */
  data: Uint8Array;
  /** First and last slot of these bytes. In both slots the account may also have had other bytes. */
  readonly from: number;
  readonly until: number;
  isDropped: boolean;
}

export class AccountVersions {
  readonly #byKey = new Map<string, Version[]>();
  /** Oldest first, from `#first` on. At each look, a set would step over all that has left its front. */
  #all: Version[] = [];
  #first = 0;
  #bytes = 0;

  /** Adds a state that was valid from one slot until its replacement in the other. */
  replaced(key: string, data: Uint8Array, from: number, until: number): void {
    const version: Version = { key, data, from, until, isDropped: false };
    const known = this.#byKey.get(key);
    if (known) known.push(version);
    else this.#byKey.set(key, [version]);
    this.#all.push(version);
    this.#bytes += data.length;
    for (let oldest = this.#all[this.#first]; oldest; oldest = this.#all[this.#first]) {
      const isKept = oldest.until >= until - RETAINED_SLOTS && this.#bytes <= RETAINED_BYTES_MAX;
      if (isKept && !oldest.isDropped) break;
      this.#drop(oldest);
      this.#first += 1;
    }
    if (this.#first < DROPPED_MAX) return;
    this.#all = this.#all.slice(this.#first);
    this.#first = 0;
  }

  /** Replaced states that were valid at some moment of a slot, oldest first. */
  during(key: string, slot: number): readonly Uint8Array[] {
    const known = this.#byKey.get(key) ?? [];
    return known.filter(({ from, until }) => from <= slot && until >= slot).map(({ data }) => data);
  }

  clear(): void {
    this.#byKey.clear();
    this.#all = [];
    this.#first = 0;
    this.#bytes = 0;
  }

  forget(key: string): void {
    for (const version of [...(this.#byKey.get(key) ?? [])]) this.#drop(version);
  }

  #drop(version: Version): void {
    if (version.isDropped) return;
    version.isDropped = true;
    this.#bytes -= version.data.length;
    version.data = NOTHING;
    const known = this.#byKey.get(version.key);
    const at = known?.indexOf(version) ?? -1;
    if (!known || at < 0) return;
    // Nearly always the first one. A copy of the others would cost the more, the busier the account is.
    known.splice(at, 1);
    if (known.length === 0) this.#byKey.delete(version.key);
  }
}
