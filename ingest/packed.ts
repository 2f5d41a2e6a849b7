// Account data without its zeros: a User account is mostly empty entries, and hundreds of thousands of them stay in memory.

const WORD_BYTES = 4;
/** Bytes that share a mask: most numbers of an account have eight, and most of these are small. */
const GROUP_BYTES = 8;
const GROUP_WORDS = GROUP_BYTES / WORD_BYTES;
/** Groups that share a byte of the map. */
const MAP_GROUPS = 8;

const groupsOf = (bytes: number): number => Math.ceil(bytes / GROUP_BYTES);
const mapBytesOf = (groups: number): number => Math.ceil(groups / MAP_GROUPS);

/** Words of a packed form without zeros. */
const wordsFor = (groups: number): number =>
  1 + Math.ceil((mapBytesOf(groups) + groups * (1 + GROUP_BYTES)) / WORD_BYTES);

/** Room for one packed form and its data. It grows. What it returns without a copy is valid until the next use of this room. */
export class PackRoom {
  #plain = new Int32Array(GROUP_WORDS);
  #plainBytes = Buffer.from(this.#plain.buffer);
  #dense = new Int32Array(wordsFor(1));
  #denseBytes = Buffer.from(this.#dense.buffer);

  /**
   * The packed form, without a copy. It begins with the length of the data in bytes. A map follows, with a bit for each group of
   * eight bytes that is not all zero. Then each such group has a mask and its bytes other than zero. Zeros fill the last word.
   * Equal data have equal forms.
   */
  pack(data: Uint8Array): Int32Array {
    const bytes = this.#pack(data);
    return this.#dense.subarray(0, bytes / WORD_BYTES);
  }

  /** The packed form as text of one-byte characters. */
  packText(data: Uint8Array): string {
    const bytes = this.#pack(data);
    return this.#denseBytes.toString('latin1', 0, bytes);
  }

  /** The data of a packed form, without a copy. */
  unpack(source: Buffer | string, from: number, to: number): Buffer {
    this.#load(source, from, to);
    const length = this.#dense[0] as number;
    const plain = this.#plainBytes;
    plain.fill(0, 0, length);
    expand(this.#denseBytes, length, plain);
    return plain.subarray(0, length);
  }

  /** A copy of the data of a packed form. */
  unpackCopy(source: Buffer | string, from: number, to: number): Buffer {
    this.#load(source, from, to);
    const length = this.#dense[0] as number;
    const data = Buffer.from(new ArrayBuffer(length));
    expand(this.#denseBytes, length, data);
    return data;
  }

  /** Whether a packed form as text equals one in a part of a buffer. */
  isEqual(text: string, bytes: Buffer, from: number, to: number): boolean {
    this.#load(text, 0, text.length);
    return this.#denseBytes.compare(bytes, from, to, 0, text.length) === 0;
  }

  /** Returns the bytes of the packed form. */
  #pack(data: Uint8Array): number {
    this.#reserve(data.length);
    const [plain, plainBytes, denseBytes] = [this.#plain, this.#plainBytes, this.#denseBytes];
    const groups = groupsOf(data.length);
    plainBytes.set(data);
    plainBytes.fill(0, data.length, groups * GROUP_BYTES);
    this.#dense[0] = data.length;
    let mapAt = WORD_BYTES;
    let at = mapAt + mapBytesOf(groups);
    for (let from = 0; from < groups; from += MAP_GROUPS) {
      const end = Math.min(MAP_GROUPS, groups - from);
      let map = 0;
      for (let bit = 0; bit < end; bit++) {
        const word = (from + bit) * GROUP_WORDS;
        if (((plain[word] as number) | (plain[word + 1] as number)) === 0) continue;
        map |= 1 << bit;
        at = packGroup(plainBytes, word * WORD_BYTES, denseBytes, at);
      }
      denseBytes[mapAt++] = map;
    }
    while (at % WORD_BYTES !== 0) denseBytes[at++] = 0;
    return at;
  }

  #load(source: Buffer | string, from: number, to: number): void {
    const bytes = to - from;
    // The data may have many more bytes than their packed form.
    if (this.#denseBytes.length < bytes) this.#reserve(bytes);
    if (typeof source === 'string') this.#denseBytes.write(source, 'latin1');
    else source.copy(this.#denseBytes, 0, from, to);
    const loaded = this.#dense;
    this.#reserve(loaded[0] as number);
    if (loaded !== this.#dense) this.#dense.set(loaded.subarray(0, Math.min(loaded.length, this.#dense.length)));
  }

  /** Makes room for data of so many bytes, and for its packed form. */
  #reserve(bytes: number): void {
    const groups = groupsOf(bytes);
    if (this.#plain.length >= groups * GROUP_WORDS) return;
    this.#plain = new Int32Array(groups * GROUP_WORDS);
    this.#plainBytes = Buffer.from(this.#plain.buffer);
    this.#dense = new Int32Array(wordsFor(groups));
    this.#denseBytes = Buffer.from(this.#dense.buffer);
  }
}

/** One for all: no view of it leaves this file, and each use begins anew. */
const OWN_ROOM = new PackRoom();

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
    const text = OWN_ROOM.packText(data);
    return new Packed(text, 0, text.length);
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
    return OWN_ROOM.unpackCopy(this.#source, this.#from, this.#to);
  }

  /** The data without a copy: valid until the next use of the room. */
  peek(room: PackRoom): Buffer {
    return room.unpack(this.#source, this.#from, this.#to);
  }

  holds(data: Uint8Array): boolean {
    const held = this.peek(OWN_ROOM);
    return held.length === data.length && held.compare(data) === 0;
  }

  /** Whether the other has the same data. */
  equals(other: Packed): boolean {
    const [a, b] = [this.#source, other.#source];
    if (typeof a === 'string') return typeof b === 'string' ? a === b : other.equals(this);
    if (other.#to - other.#from !== this.#to - this.#from) return false;
    if (typeof b === 'string') return OWN_ROOM.isEqual(b, a, this.#from, this.#to);
    return a.compare(b, other.#from, other.#to, this.#from, this.#to) === 0;
  }
}

/** Writes a group's mask and bytes at `maskAt`. Returns where they end. */
function packGroup(plainBytes: Uint8Array, from: number, denseBytes: Uint8Array, maskAt: number): number {
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

/** Writes the bytes of a packed form that are not zero into bytes that are. */
function expand(denseBytes: Uint8Array, length: number, into: Uint8Array): void {
  const groups = groupsOf(length);
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
