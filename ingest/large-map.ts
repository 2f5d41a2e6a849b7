// A map of hundreds of thousands of accounts in many small maps. A map that grows is copied as a whole. One of 131,072 keys
// holds the loop for some 20 ms, a small one for less than a millisecond.

/** A power of two. 500,000 accounts make maps of some 4,000 keys. */
const PARTS = 128;
const ADDRESS_END = 31;

/** Keys begin with the 32 bytes of an address (`keyText`). Parts follow one another, and each is in the order of its first keys. */
export class LargeMap<V> {
  readonly #parts: readonly Map<string, V>[] = Array.from({ length: PARTS }, () => new Map<string, V>());

  get(key: string): V | undefined {
    return this.#of(key).get(key);
  }

  set(key: string, value: V): void {
    this.#of(key).set(key, value);
  }

  get size(): number {
    return this.#parts.reduce((sum, part) => sum + part.size, 0);
  }

  *values(): Generator<V> {
    for (const part of this.#parts) yield* part.values();
  }

  *[Symbol.iterator](): Generator<[string, V]> {
    for (const part of this.#parts) yield* part;
  }

  clear(): void {
    for (const part of this.#parts) part.clear();
  }

  /** By the last byte of the address: some owners choose the first ones. A short key has none, and goes to the first part. */
  #of(key: string): Map<string, V> {
    return this.#parts[key.charCodeAt(ADDRESS_END) & (PARTS - 1)] as Map<string, V>;
  }
}
