// Public keys of makers, each stored once: orders name a maker by a small number, and outputs share one key object.

import { PUBKEY_BYTES } from '../../schemas/index.ts';

const START = 64;

/** Open orders refer to makers by number; the last order of a maker removes it. */
export class MakerTable {
  #keys: Uint8Array[] = [];
  #references = new Int32Array(START);
  #hashes = new Int32Array(START);
  #chain = new Int32Array(START);
  #heads = new Int32Array(START * 2).fill(-1);
  #free: number[] = [];

  /** Number of a maker, -1 when it has no order. */
  find(key: Uint8Array): number {
    const hash = hashKey(key);
    let at = this.#heads[hash & (this.#heads.length - 1)] as number;
    while (at >= 0) {
      if (this.#hashes[at] === hash && sameKey(this.#keys[at] as Uint8Array, key)) return at;
      at = this.#chain[at] as number;
    }
    return -1;
  }

  /** Number of a maker with this key's hash, -1 without one: nearly always right, for a fraction of `find`'s cost. */
  guess(key: Uint8Array): number {
    const hash = hashKey(key);
    let at = this.#heads[hash & (this.#heads.length - 1)] as number;
    while (at >= 0 && this.#hashes[at] !== hash) at = this.#chain[at] as number;
    return at;
  }

  /** Adds an order to a maker and returns its number; copies the key of a new maker. */
  take(key: Uint8Array): number {
    const known = this.find(key);
    if (known >= 0) {
      this.#references[known] = (this.#references[known] as number) + 1;
      return known;
    }
    const at = this.#free.pop() ?? this.#keys.length;
    if (at >= this.#references.length) this.#grow();
    const hash = hashKey(key);
    this.#keys[at] = Uint8Array.prototype.slice.call(key, 0, PUBKEY_BYTES);
    this.#references[at] = 1;
    this.#hashes[at] = hash;
    this.#enter(at);
    return at;
  }

  /** Removes an order from a maker. */
  drop(at: number): void {
    const left = (this.#references[at] as number) - 1;
    this.#references[at] = left;
    if (left > 0) return;
    const bucket = (this.#hashes[at] as number) & (this.#heads.length - 1);
    let before = -1;
    let here = this.#heads[bucket] as number;
    while (here !== at) {
      before = here;
      here = this.#chain[here] as number;
    }
    if (before < 0) this.#heads[bucket] = this.#chain[at] as number;
    else this.#chain[before] = this.#chain[at] as number;
    this.#free.push(at);
  }

  /** A read-only copy with the same numbers. */
  freeze(): MakerTable {
    const frozen = new MakerTable();
    frozen.#keys = this.#keys.slice();
    return frozen;
  }

  key(at: number): Uint8Array {
    return this.#keys[at] as Uint8Array;
  }

  #enter(at: number): void {
    const bucket = (this.#hashes[at] as number) & (this.#heads.length - 1);
    this.#chain[at] = this.#heads[bucket] as number;
    this.#heads[bucket] = at;
  }

  #grow(): void {
    const size = this.#references.length * 2;
    this.#references = widen(this.#references, size);
    this.#hashes = widen(this.#hashes, size);
    this.#chain = widen(this.#chain, size);
    this.#heads = new Int32Array(size * 2).fill(-1);
    // All numbers are in use here, so each is entered again.
    for (let at = 0; at < this.#keys.length; at++) this.#enter(at);
  }
}

function widen(from: Int32Array, size: number): Int32Array<ArrayBuffer> {
  const to = new Int32Array(size);
  to.set(from);
  return to;
}

// Keys are curve points or hashes, so any eight bytes are evenly distributed.
function hashKey(key: Uint8Array): number {
  const first =
    (key[0] as number) | ((key[1] as number) << 8) | ((key[2] as number) << 16) | ((key[3] as number) << 24);
  const second =
    (key[12] as number) | ((key[13] as number) << 8) | ((key[14] as number) << 16) | ((key[15] as number) << 24);
  const mixed = Math.imul(first ^ Math.imul(second, 0x9e3779b1), 0x85ebca6b);
  return mixed ^ (mixed >>> 15);
}

export function sameKey(left: Uint8Array, right: Uint8Array): boolean {
  for (let i = 0; i < PUBKEY_BYTES; i++) if (left[i] !== right[i]) return false;
  return true;
}
