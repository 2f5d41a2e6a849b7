// Account data without its zeros: a User account is mostly empty entries, and hundreds of thousands of them stay in memory.

/** Words in the group of one mask. */
const GROUP_WORDS = 32;
const WORD_BYTES = 4;

// Room for the packed form of no data, at least.
let plain = new Int32Array(GROUP_WORDS);
let plainBytes = Buffer.from(plain.buffer);
let dense = new Int32Array(1 + GROUP_WORDS + 1);
let denseBytes = Buffer.from(dense.buffer);

/** Makes room for data of so many words, and for its packed form. */
function reserve(words: number): void {
  const groups = Math.ceil(words / GROUP_WORDS);
  if (plain.length >= groups * GROUP_WORDS) return;
  plain = new Int32Array(groups * GROUP_WORDS);
  plainBytes = Buffer.from(plain.buffer);
  dense = new Int32Array(1 + groups * (GROUP_WORDS + 1));
  denseBytes = Buffer.from(dense.buffer);
}

/**
 * The packed form: the length of the data in bytes, then for each group of words a mask and the words that are not zero. Equal
 * data have equal forms. Valid until the next call of this module.
 */
export function packWords(data: Uint8Array): Int32Array {
  reserve(Math.ceil(data.length / WORD_BYTES));
  const end = Math.ceil(data.length / WORD_BYTES / GROUP_WORDS) * GROUP_WORDS;
  plainBytes.set(data);
  plainBytes.fill(0, data.length, end * WORD_BYTES);
  dense[0] = data.length;
  let at = 1;
  for (let from = 0; from < end; from += GROUP_WORDS) {
    const maskAt = at++;
    let mask = 0;
    for (let bit = 0; bit < GROUP_WORDS; bit++) {
      const word = plain[from + bit] as number;
      if (word === 0) continue;
      mask |= 1 << bit;
      dense[at++] = word;
    }
    dense[maskAt] = mask;
  }
  return dense.subarray(0, at);
}

/** Data in their packed form: a part of the pack that a read brought, or text of one-byte characters. Both tell the garbage collector little. */
export class Packed {
  readonly #source: Buffer | string;
  readonly #from: number;
  readonly #to: number;

  private constructor(source: Buffer | string, from: number, to: number) {
    this.#source = source;
    this.#from = from;
    this.#to = to;
  }

  static of(data: Uint8Array): Packed {
    const bytes = packWords(data).length * WORD_BYTES;
    return new Packed(denseBytes.toString('latin1', 0, bytes), 0, bytes);
  }

  /** The packed form in these bytes of a pack, which stays in memory as long as this. */
  static within(pack: Buffer, from: number, to: number): Packed {
    return new Packed(pack, from, to);
  }

  /** The same without its pack. */
  apart(): Packed {
    if (typeof this.#source === 'string') return this;
    return new Packed(this.#source.toString('latin1', this.#from, this.#to), 0, this.#to - this.#from);
  }

  /** A copy of the data. */
  unpack(): Buffer {
    this.#load();
    const length = dense[0] as number;
    const data = new Int32Array(Math.ceil(length / WORD_BYTES));
    expand(data);
    return Buffer.from(data.buffer, 0, length);
  }

  /** The data without a copy: valid until the next call of this module. */
  peek(): Buffer {
    this.#load();
    const length = dense[0] as number;
    plain.fill(0, 0, Math.ceil(length / WORD_BYTES));
    expand(plain);
    return plainBytes.subarray(0, length);
  }

  holds(data: Uint8Array): boolean {
    const held = this.peek();
    return held.length === data.length && held.compare(data) === 0;
  }

  /** Whether the other has the same data. */
  equals(other: Packed): boolean {
    const [a, b] = [this.#source, other.#source];
    if (typeof a === 'string') return typeof b === 'string' ? a === b : other.equals(this);
    const bytes = this.#to - this.#from;
    if (other.#to - other.#from !== bytes) return false;
    if (typeof b !== 'string') return a.compare(b, other.#from, other.#to, this.#from, this.#to) === 0;
    other.#load();
    return denseBytes.compare(a, this.#from, this.#to, 0, bytes) === 0;
  }

  #load(): void {
    const bytes = this.#to - this.#from;
    // The data may have many more words than their packed form.
    if (denseBytes.length < bytes) reserve(bytes / WORD_BYTES);
    if (typeof this.#source === 'string') denseBytes.write(this.#source, 'latin1');
    else this.#source.copy(denseBytes, 0, this.#from, this.#to);
    reserveKept(dense[0] as number);
  }
}

/** Like `reserve`, and keeps the packed form. */
function reserveKept(bytes: number): void {
  const kept = dense;
  reserve(Math.ceil(bytes / WORD_BYTES));
  if (kept !== dense) dense.set(kept.subarray(0, Math.min(kept.length, dense.length)));
}

/** Writes the loaded words that are not zero into words that are. */
function expand(into: Int32Array): void {
  const words = Math.ceil((dense[0] as number) / WORD_BYTES);
  let at = 1;
  for (let group = 0; group < words; group += GROUP_WORDS) {
    let mask = dense[at++] as number;
    while (mask !== 0) {
      into[group + 31 - Math.clz32(mask & -mask)] = dense[at++] as number;
      mask &= mask - 1;
    }
  }
}
