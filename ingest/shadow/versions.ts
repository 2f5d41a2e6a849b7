// What accounts were before their newest update, for as long as a read of the chain may still be compared with it.

/** Slots for which a replaced version is kept: the stream is at most some slots past a read when it is compared. */
const KEPT_SLOTS = 64;
/** Replaced versions kept, by their bytes; beyond that the oldest are forgotten and not compared. */
const KEPT_BYTES_MAX = 64 * 1024 * 1024;

interface Version {
  readonly key: string;
  readonly data: Uint8Array;
  /** Slots in which these bytes were held: both ends may also have held others. */
  readonly from: number;
  readonly until: number;
}

export class AccountVersions {
  readonly #byKey = new Map<string, Version[]>();
  /** Oldest first. */
  readonly #all = new Set<Version>();
  #bytes = 0;

  /** The account held these bytes from one slot until they were replaced in the other. */
  replaced(key: string, data: Uint8Array, from: number, until: number): void {
    const version: Version = { key, data, from, until };
    const known = this.#byKey.get(key);
    if (known) known.push(version);
    else this.#byKey.set(key, [version]);
    this.#all.add(version);
    this.#bytes += data.length;
    for (const oldest of this.#all) {
      if (oldest.until >= until - KEPT_SLOTS && this.#bytes <= KEPT_BYTES_MAX) break;
      this.#drop(oldest);
    }
  }

  /** Every version that was held at some moment of a slot and is no longer, oldest first. */
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
