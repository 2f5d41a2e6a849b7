// Keeps replaced account states for as long as a read of the chain may be compared with them.

/** Slots for which a replaced state is kept. The stream is only some slots past a read at its comparison. */
const RETAINED_SLOTS = 64;
/** Limit of bytes in replaced states. Beyond it the oldest are dropped and not compared. */
const RETAINED_BYTES_MAX = 64 * 1024 * 1024;

interface Version {
  readonly key: string;
  readonly data: Uint8Array;
  /** First and last slot of these bytes. In both slots the account may also have had other bytes. */
  readonly from: number;
  readonly until: number;
}

export class AccountVersions {
  readonly #byKey = new Map<string, Version[]>();
  /** Oldest first. */
  readonly #all = new Set<Version>();
  #bytes = 0;

  /** Adds a state that was valid from one slot until its replacement in the other. */
  replaced(key: string, data: Uint8Array, from: number, until: number): void {
    const version: Version = { key, data, from, until };
    const known = this.#byKey.get(key);
    if (known) known.push(version);
    else this.#byKey.set(key, [version]);
    this.#all.add(version);
    this.#bytes += data.length;
    for (const oldest of this.#all) {
      if (oldest.until >= until - RETAINED_SLOTS && this.#bytes <= RETAINED_BYTES_MAX) break;
      this.#drop(oldest);
    }
  }

  /** Replaced states that were valid at some moment of a slot, oldest first. */
  during(key: string, slot: number): readonly Uint8Array[] {
    const known = this.#byKey.get(key) ?? [];
    return known.filter(({ from, until }) => from <= slot && until >= slot).map(({ data }) => data);
  }

  clear(): void {
    this.#byKey.clear();
    this.#all.clear();
    this.#bytes = 0;
  }

  forget(key: string): void {
    for (const version of [...(this.#byKey.get(key) ?? [])]) this.#drop(version);
  }

  #drop(version: Version): void {
    this.#all.delete(version);
    this.#bytes -= version.data.length;
    const left = (this.#byKey.get(version.key) ?? []).filter((one) => one !== version);
    if (left.length > 0) this.#byKey.set(version.key, left);
    else this.#byKey.delete(version.key);
  }
}
