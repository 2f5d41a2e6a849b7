// Rows of whole numbers as bytes: column by column, as differences between neighbours, in as few bytes as possible.

const SIGN = 0x40;
const MORE = 0x80;
const FIRST_BITS = 64;
const NEXT_BITS = 128;
/** A difference of two numbers below 2^53 has 54 bits: 6 in the first byte, 7 in each further one. */
const NUMBER_BYTES_MAX = 8;

/** Packs `count` rows of `width` safe integers. */
export function packRows(rows: Float64Array, count: number, width: number): Uint8Array {
  const bytes = new Uint8Array(count * width * NUMBER_BYTES_MAX);
  let end = 0;
  for (let column = 0; column < width; column++) {
    let before = 0;
    for (let row = 0; row < count; row++) {
      const value = rows[row * width + column] ?? 0;
      end = write(bytes, end, value - before);
      before = value;
    }
  }
  return bytes.slice(0, end);
}

/** Inverse of `packRows`: fills `rows`, which must be large enough, and returns the number of rows. */
export function unpackRows(bytes: Uint8Array, width: number, rows: Float64Array): number {
  const count = rowCount(bytes, width);
  let at = 0;
  for (let column = 0; column < width; column++) {
    let value = 0;
    for (let row = 0; row < count; row++) {
      let byte = bytes[at++] ?? 0;
      const negative = (byte & SIGN) !== 0;
      let size = byte & (SIGN - 1);
      for (let unit = FIRST_BITS; byte >= MORE; unit *= NEXT_BITS) {
        byte = bytes[at++] ?? 0;
        size += (byte & (MORE - 1)) * unit;
      }
      value += negative ? -size : size;
      rows[row * width + column] = value;
    }
  }
  return count;
}

/** Number of packed rows: every number ends with one byte without the continuation bit. */
export function rowCount(bytes: Uint8Array, width: number): number {
  let numbers = 0;
  for (const byte of bytes) if (byte < MORE) numbers++;
  return numbers / width;
}

function write(bytes: Uint8Array, start: number, difference: number): number {
  let at = start;
  let size = Math.abs(difference);
  let byte = (difference < 0 ? SIGN : 0) | (size % FIRST_BITS);
  size = Math.floor(size / FIRST_BITS);
  while (size > 0) {
    bytes[at++] = byte | MORE;
    byte = size % NEXT_BITS;
    size = Math.floor(size / NEXT_BITS);
  }
  bytes[at++] = byte;
  return at;
}
