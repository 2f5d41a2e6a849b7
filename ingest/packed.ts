// Account data without its zeros: a User account is mostly empty entries, and hundreds of thousands of them stay in memory.

const WORD_BYTES = 4;
/** Bytes that share a mask: most numbers of an account have eight, and most of these are small. */
const GROUP_BYTES = 8;
const GROUP_WORDS = GROUP_BYTES / WORD_BYTES;
/** Groups that share a byte of the map. */
const MAP_GROUPS = 8;

// Room for the packed form of no data, at least.
let plain = new Int32Array(GROUP_WORDS);
let plainBytes = Buffer.from(plain.buffer);
let dense = new Int32Array(2);
let denseBytes = Buffer.from(dense.buffer);

const groupsOf = (bytes: number): number => Math.ceil(bytes / GROUP_BYTES);
const mapBytesOf = (groups: number): number => Math.ceil(groups / MAP_GROUPS);

/** Makes room for data of so many bytes, and for its packed form. */
function reserve(bytes: number): void {
  const groups = groupsOf(bytes);
  if (plain.length >= groups * GROUP_WORDS) return;
  plain = new Int32Array(groups * GROUP_WORDS);
  plainBytes = Buffer.from(plain.buffer);
  dense = new Int32Array(1 + Math.ceil((mapBytesOf(groups) + groups * (1 + GROUP_BYTES)) / WORD_BYTES));
  denseBytes = Buffer.from(dense.buffer);
}

/**
 * The packed form begins with the length of the data in bytes. A map follows, with a bit for each group of eight bytes that is
 * not all zero. Then each such group has a mask and its bytes other than zero. Zeros fill the last word. Equal data have equal
 * forms. Valid until the next call of this module.
 */
export function packWords(data: Uint8Array): Int32Array {
  reserve(data.length);
  const groups = groupsOf(data.length);
  plainBytes.set(data);
  plainBytes.fill(0, data.length, groups * GROUP_BYTES);
  dense[0] = data.length;
  let mapAt = WORD_BYTES;
  let at = mapAt + mapBytesOf(groups);
  for (let from = 0; from < groups; from += MAP_GROUPS) {
    const end = Math.min(MAP_GROUPS, groups - from);
    let map = 0;
    for (let bit = 0; bit < end; bit++) {
      const word = (from + bit) * GROUP_WORDS;
      if (((plain[word] as number) | (plain[word + 1] as number)) === 0) continue;
      map |= 1 << bit;
      at = packGroup(word * WORD_BYTES, at);
    }
    denseBytes[mapAt++] = map;
  }
  while (at % WORD_BYTES !== 0) denseBytes[at++] = 0;
  return dense.subarray(0, at / WORD_BYTES);
}

/** Writes a group's mask and bytes. Returns where they end. */
function packGroup(from: number, maskAt: number): number {
  let at = maskAt + 1;
  let mask = 0;
  for (let bit = 0; bit < GROUP_BYTES; bit++) {
    const byte = plainBytes[from + bit] as number;
    if (byte === 0) continue;
    mask |= 1 << bit;
    denseBytes[at++] = byte;
  }
  denseBytes[maskAt] = mask;
  return at;
}

/**
 * Data in their packed form: a part of the pack that a read brought, or text of one-byte characters. Both forms are single
 * objects, cheap for the garbage collector.
 */
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
    const data = Buffer.from(new ArrayBuffer(dense[0] as number));
    expand(data);
    return data;
  }

  /** The data without a copy: valid until the next call of this module. */
  peek(): Buffer {
    this.#load();
    const length = dense[0] as number;
    plainBytes.fill(0, 0, length);
    expand(plainBytes);
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
    // The data may have many more bytes than their packed form.
    if (denseBytes.length < bytes) reserve(bytes);
    if (typeof this.#source === 'string') denseBytes.write(this.#source, 'latin1');
    else this.#source.copy(denseBytes, 0, this.#from, this.#to);
    reserveKept(dense[0] as number);
  }
}

/** Like `reserve`, and keeps the packed form. */
function reserveKept(bytes: number): void {
  const kept = dense;
  reserve(bytes);
  if (kept !== dense) dense.set(kept.subarray(0, Math.min(kept.length, dense.length)));
}

/** Writes the loaded bytes that are not zero into bytes that are. */
function expand(into: Uint8Array): void {
  const groups = groupsOf(dense[0] as number);
  let mapAt = WORD_BYTES;
  let at = mapAt + mapBytesOf(groups);
  for (let group = 0; group < groups; group += MAP_GROUPS) {
    let map = denseBytes[mapAt++] as number;
    while (map !== 0) {
      const from = (group + lowestBit(map)) * GROUP_BYTES;
      let mask = denseBytes[at++] as number;
      while (mask !== 0) {
        into[from + lowestBit(mask)] = denseBytes[at++] as number;
        mask &= mask - 1;
      }
      map &= map - 1;
    }
  }
}

function lowestBit(bits: number): number {
  return 31 - Math.clz32(bits & -bits);
}
