// Avro records to a block in ClickHouse's Native format: the server then reads whole columns instead of a value at a
// time, which is most of what an insert costs it. Records must have passed the check of datum.ts.

import { columnsOfSchema } from '../../schemas/index.ts';
import type { Datum } from './container.ts';

/** Turns records of one schema into the body of `INSERT INTO t (names) FORMAT Native`. */
export interface ColumnEncoder {
  readonly names: readonly string[];
  encode(data: readonly Datum[]): Buffer;
}

/** One column being filled. */
interface Builder {
  /** Reads the value at `position` for the row; returns the position after it. */
  read(bytes: Uint8Array, position: number, row: number): number;
  /** Sets the row to what stands under a null. */
  skip(row: number): void;
  /** The column's data as the server wants it. */
  chunks(): readonly Uint8Array[];
}

type MakeBuilder = (rows: number) => Builder;

const INTEGER = /^U?Int(8|16|32|64)$/;
const FIXED = /^FixedString\((\d+)\)$/;
const WRAPPED = /^(Nullable|Array|LowCardinality)\((.*)\)$/;
const INT128_BYTES = 16;
const STRING_BYTES_FIRST = 64;

/** Null for a schema with types that have no column here: ClickHouse reads the Avro itself then. */
export function compileColumns(schemaText: string): ColumnEncoder | null {
  try {
    const columns = columnsOfSchema(schemaText).map(({ name, type }) => ({ name, type, make: builderOf(type) }));
    return { names: columns.map(({ name }) => name), encode: (data) => encodeBlock(columns, data) };
  } catch {
    return null;
  }
}

function encodeBlock(
  columns: readonly { readonly name: string; readonly type: string; readonly make: MakeBuilder }[],
  data: readonly Datum[],
): Buffer {
  const builders = columns.map(({ make }) => make(data.length));
  for (let row = 0; row < data.length; row++) {
    const { bytes, start } = data[row] as Datum;
    let position = start;
    for (let index = 0; index < builders.length; index++) {
      position = (builders[index] as Builder).read(bytes, position, row);
    }
  }
  const parts: Uint8Array[] = [varint(columns.length), varint(data.length)];
  columns.forEach(({ name, type }, index) => {
    parts.push(text(name), text(type), ...(builders[index]?.chunks() ?? []));
  });
  return Buffer.concat(parts);
}

/** Throws an Error for a type without a builder. */
function builderOf(type: string): MakeBuilder {
  const [, wrapper, inner = ''] = WRAPPED.exec(type) ?? [];
  if (wrapper === 'Nullable') return nullable(builderOf(inner));
  if (wrapper === 'Array') return array(inner);
  if (wrapper === 'LowCardinality') return dictionary(inner === 'Nullable(String)');
  if (type === 'Bool') return fixed(1);
  if (type === 'String') return strings;
  if (type === 'UInt128' || type === 'Int128') return fixed(INT128_BYTES);
  const size = FIXED.exec(type)?.[1];
  if (size !== undefined) return fixed(Number(size));
  const bits = INTEGER.exec(type)?.[1];
  if (bits === undefined) throw new Error(`no column of ${type}`);
  return bits === '64' ? wide : narrow(Number(bits) as 8 | 16 | 32);
}

function fixed(size: number): MakeBuilder {
  return (rows) => {
    const values = new Uint8Array(rows * size);
    return {
      read: (bytes, position, row) => {
        const at = row * size;
        for (let index = 0; index < size; index++) values[at + index] = bytes[position + index] as number;
        return position + size;
      },
      skip: () => {},
      chunks: () => [values],
    };
  };
}

/** The two halves of the integer that `readLong` read last: no bigint, no object per number. */
let low = 0;
let high = 0;

/** Reads an Avro long (zig-zag, seven bits a byte) into `low` and `high`. */
function readLong(bytes: Uint8Array, start: number): number {
  let position = start;
  let byte = bytes[position++] as number;
  let lo = byte & 0x7f;
  let hi = 0;
  for (let shift = 7; byte >= 0x80; shift += 7) {
    byte = bytes[position++] as number;
    const part = byte & 0x7f;
    if (shift < 28) lo |= part << shift;
    else if (shift === 28) {
      lo |= part << 28;
      hi = part >>> 4;
    } else hi |= part << (shift - 32);
  }
  const sign = -(lo & 1);
  low = ((lo >>> 1) | (hi << 31)) ^ sign;
  high = (hi >>> 1) ^ sign;
  return position;
}

const wide: MakeBuilder = (rows) => {
  const values = new Int32Array(rows * 2);
  return {
    read: (bytes, position, row) => {
      const next = readLong(bytes, position);
      values[row * 2] = low;
      values[row * 2 + 1] = high;
      return next;
    },
    skip: () => {},
    chunks: () => [bytesOf(values)],
  };
};

function narrow(bits: 8 | 16 | 32): MakeBuilder {
  return (rows) => {
    const values = bits === 8 ? new Int8Array(rows) : bits === 16 ? new Int16Array(rows) : new Int32Array(rows);
    return {
      read: (bytes, position, row) => {
        const next = readLong(bytes, position);
        values[row] = low;
        return next;
      },
      skip: () => {},
      chunks: () => [bytesOf(values)],
    };
  };
}

function bytesOf(values: Int8Array | Int16Array | Int32Array | BigUint64Array): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}

/** Avro's union of null and a value. */
function nullable(make: MakeBuilder): MakeBuilder {
  return (rows) => {
    const nulls = new Uint8Array(rows);
    const inner = make(rows);
    return {
      read: (bytes, position, row) => {
        if (bytes[position] !== 0) return inner.read(bytes, position + 1, row);
        nulls[row] = 1;
        inner.skip(row);
        return position + 1;
      },
      skip: () => {},
      chunks: () => [nulls, ...inner.chunks()],
    };
  };
}

/** Texts of a column one after the other, each behind its length. */
const strings: MakeBuilder = (rows) => {
  let values = new Uint8Array(rows * STRING_BYTES_FIRST + STRING_BYTES_FIRST);
  let end = 0;
  const reserve = (size: number) => {
    if (end + size <= values.length) return;
    const larger = new Uint8Array((end + size) * 2);
    larger.set(values.subarray(0, end));
    values = larger;
  };
  return {
    read: (bytes, position) => {
      const start = readLong(bytes, position);
      const length = low;
      const head = varint(length);
      reserve(head.length + length);
      values.set(head, end);
      values.set(bytes.subarray(start, start + length), end + head.length);
      end += head.length + length;
      return start + length;
    },
    skip: () => {
      reserve(1);
      values[end++] = 0;
    },
    chunks: () => [values.subarray(0, end)],
  };
};

/** Lists: how many values there are up to each row, then the values. Avro has them in counted blocks, ended by a zero. */
function array(type: string): MakeBuilder {
  const make = builderOf(type);
  return (rows) => {
    const ends = new BigUint64Array(rows);
    // The number of values is not known before they are read: they are read when all rows are there.
    const spans: { bytes: Uint8Array; position: number; count: number }[] = [];
    const skipper = make(1);
    let total = 0;
    return {
      read: (bytes, position, row) => {
        let next = position;
        for (;;) {
          next = readLong(bytes, next);
          if (low === 0) break;
          const count = Math.abs(low);
          if (low < 0) next = readLong(bytes, next);
          spans.push({ bytes, position: next, count });
          total += count;
          for (let index = 0; index < count; index++) next = skipper.read(bytes, next, 0);
        }
        ends[row] = BigInt(total);
        return next;
      },
      skip: () => {},
      chunks: () => {
        const values = make(total);
        let row = 0;
        for (const { bytes, position, count } of spans) {
          let next = position;
          for (let index = 0; index < count; index++) next = values.read(bytes, next, row++);
        }
        return [bytesOf(ends), ...values.chunks()];
      },
    };
  };
}

/** SharedDictionariesWithAdditionalKeys, and index of 32 bits with keys of this block (SerializationLowCardinality.cpp). */
const DICTIONARY_VERSION = 1n;
const DICTIONARY_FLAGS = 2n | (1n << 9n) | (1n << 10n);

/** Few different texts: each once, and its number for each row. With nulls, number 0 stands for null. */
function dictionary(hasNulls: boolean): MakeBuilder {
  return (rows) => {
    const indexes = new Int32Array(rows);
    const words: Uint8Array[] = hasNulls ? [new Uint8Array(0)] : [];
    const numbers = new Map<string, number>();
    let last = -1;
    const numberOf = (bytes: Uint8Array, start: number, length: number): number => {
      if (last >= 0 && isSame(words[last] as Uint8Array, bytes, start, length)) return last;
      for (let index = hasNulls ? 1 : 0; index < words.length && index < SCANNED_WORDS; index++) {
        if (isSame(words[index] as Uint8Array, bytes, start, length)) return index;
      }
      const word = bytes.slice(start, start + length);
      const key = Buffer.from(word).toString('latin1');
      const known = numbers.get(key);
      if (known !== undefined) return known;
      numbers.set(key, words.length);
      return words.push(word) - 1;
    };
    return {
      read: (bytes, position, row) => {
        let at = position;
        if (hasNulls && bytes[at++] === 0) {
          indexes[row] = 0;
          return at;
        }
        const start = readLong(bytes, at);
        const length = low;
        last = numberOf(bytes, start, length);
        indexes[row] = last;
        return start + length;
      },
      skip: () => {},
      chunks: () => [
        longs(DICTIONARY_VERSION, DICTIONARY_FLAGS, BigInt(words.length)),
        ...words.map(text),
        longs(BigInt(rows)),
        bytesOf(indexes),
      ],
    };
  };
}

/** A longer list is asked by a map. */
const SCANNED_WORDS = 16;

function isSame(word: Uint8Array, bytes: Uint8Array, start: number, length: number): boolean {
  if (word.length !== length) return false;
  for (let index = 0; index < length; index++) if (word[index] !== bytes[start + index]) return false;
  return true;
}

function longs(...values: readonly bigint[]): Buffer {
  const bytes = Buffer.alloc(values.length * 8);
  values.forEach((value, index) => {
    bytes.writeBigUInt64LE(value, index * 8);
  });
  return bytes;
}

function text(value: string | Uint8Array): Buffer {
  const bytes = typeof value === 'string' ? Buffer.from(value, 'utf8') : value;
  return Buffer.concat([varint(bytes.length), bytes]);
}

/** ClickHouse's unsigned varint: seven bits a byte, the lowest first. */
function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  bytes.push(rest);
  return Uint8Array.from(bytes);
}
