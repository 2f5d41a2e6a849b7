// Account data without its zeros: a User account is mostly empty entries, and hundreds of thousands of them stay in memory.

/** Words in the group of one mask. */
const GROUP_WORDS = 32;
const WORD_BYTES = 4;

let plain = new Int32Array(0);
let plainBytes = Buffer.alloc(0);
let dense = new Int32Array(0);
let denseBytes = Buffer.alloc(0);

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

/** The data of the packed form at an index. */
export function unpackWords(packed: Int32Array, from: number): Buffer {
  const length = packed[from] as number;
  const data = new Int32Array(Math.ceil(length / WORD_BYTES));
  expand(packed, from, data);
  return Buffer.from(data.buffer, 0, length);
}

/** The packed form as text of one-byte characters: one object, into which the garbage collector need not look. */
export function packText(data: Uint8Array): string {
  const { length } = packWords(data);
  return denseBytes.toString('latin1', 0, length * WORD_BYTES);
}

export function unpackText(text: string): Buffer {
  load(text);
  return unpackWords(dense, 0);
}

/** The data without a copy: valid until the next call of this module. */
export function peekText(text: string): Buffer {
  load(text);
  const length = dense[0] as number;
  plain.fill(0, 0, Math.ceil(length / WORD_BYTES));
  expand(dense, 0, plain);
  return plainBytes.subarray(0, length);
}

/** Whether the packed text holds these data. */
export function isPackedAs(text: string, data: Uint8Array): boolean {
  const held = peekText(text);
  return held.length === data.length && held.compare(data) === 0;
}

function load(text: string): void {
  // The data may have many more words than their packed form.
  if (denseBytes.length < text.length) reserve(text.length / WORD_BYTES);
  denseBytes.write(text, 'latin1');
  reserveKept(dense[0] as number);
}

/** Like `reserve`, and keeps the packed form. */
function reserveKept(bytes: number): void {
  const kept = dense;
  reserve(Math.ceil(bytes / WORD_BYTES));
  if (kept !== dense) dense.set(kept.subarray(0, Math.min(kept.length, dense.length)));
}

/** Writes the words that are not zero into words that are. */
function expand(packed: Int32Array, from: number, into: Int32Array): void {
  const words = Math.ceil((packed[from] as number) / WORD_BYTES);
  let at = from + 1;
  for (let group = 0; group < words; group += GROUP_WORDS) {
    let mask = packed[at++] as number;
    while (mask !== 0) {
      into[group + 31 - Math.clz32(mask & -mask)] = packed[at++] as number;
      mask &= mask - 1;
    }
  }
}
