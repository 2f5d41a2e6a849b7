// Fills columns of the Native format from Avro values, one kind for each Avro type of the events. They accept the same
// values as datum.ts.

import { ARRAY_ITEMS_MAX, type AvroType, BAD, BOUNDS, TENTH_BYTE_MAX } from './datum.ts';
import { nativeLongs, nativeText, nativeVarint } from './native.ts';

/**
 * Checks the value at index `at` and puts it into the row; returns the index after it, or BAD. The record ends at `end`;
 * a value that reaches beyond it is detected at the latest after the record's last value.
 */
type Add = (bytes: Uint8Array, at: number, row: number, end: number) => number;

export interface Column {
  readonly add: Add;
  /** Removes the newest row. */
  cut(row: number): void;
  /** Puts the value that ClickHouse stores under a null. */
  skip(row: number): void;
  /** The first `rows` values in Native format. */
  chunks(rows: number): readonly Uint8Array[];
}

/** A column with room for `rowsMax` rows. */
export type MakeColumn = (rowsMax: number) => Column;

const NULL_BRANCH = 0;
/** Index 1 of a union, zig-zag. */
const VALUE_BRANCH = 2;
const TEXT_BYTES_FIRST = 64;
const WORD = 2 ** 32;
const nothing = () => {};

/** The column of an Avro type; throws an Error for a type without one. `named` collects the schema's named types. */
export function makerOf(type: AvroType, named: Map<string, MakeColumn>): MakeColumn {
  if (typeof type === 'string') return named.get(type) ?? plain(type, undefined);
  if (Array.isArray(type)) return ofUnion(type, named);
  const { type: inner, name, size, items, logicalType } = type as Exclude<AvroType, string | readonly AvroType[]>;
  if (inner === 'array' && items !== undefined) return list(makerOf(items, named));
  const make = inner === 'fixed' ? fixed(size ?? 0) : plain(String(inner), logicalType);
  if (name !== undefined) named.set(name, make);
  return make;
}

function ofUnion([none, some, ...others]: readonly AvroType[], named: Map<string, MakeColumn>): MakeColumn {
  if (none !== 'null' || some === undefined || others.length > 0)
    throw new Error('a union has a column as null or value');
  return isVariant(some) ? dictionary(true) : nullable(makerOf(some, named));
}

function isVariant(type: AvroType): boolean {
  return typeof type === 'object' && 'logicalType' in type && type.logicalType === 'variant';
}

function plain(type: string, logicalType: string | undefined): MakeColumn {
  if (type === 'boolean') return boolean;
  if (type === 'bytes') return texts;
  if (type === 'string') return logicalType === 'variant' ? dictionary(false) : texts;
  if (type !== 'int' && type !== 'long') throw new Error(`no column of ${type}`);
  if (logicalType === 'u64' || logicalType === 'i64') return wide;
  const bounds = BOUNDS[logicalType ?? ''];
  if (!bounds) throw new Error(`no column of ${logicalType}`);
  return bounded(bounds);
}

/** Takes the halves of the integer that `readLong` reads: no bigint and no object per number. */
class Long {
  low = 0;
  high = 0;
}

/** Reads an Avro long (zig-zag, seven bits a byte). Bytes beyond the end count as zeros. */
function readLong(bytes: Uint8Array, start: number, into: Long): number {
  let at = start + 1;
  let byte = bytes[start] as number;
  let lo = byte & 0x7f;
  let hi = 0;
  // Constant shifts make this a third faster, and it is most of the cost of a record.
  if (byte >= 0x80) {
    byte = bytes[at++] as number;
    lo |= (byte & 0x7f) << 7;
    if (byte >= 0x80) {
      byte = bytes[at++] as number;
      lo |= (byte & 0x7f) << 14;
      if (byte >= 0x80) {
        byte = bytes[at++] as number;
        lo |= (byte & 0x7f) << 21;
        if (byte >= 0x80) {
          byte = bytes[at++] as number;
          lo |= byte << 28;
          hi = (byte & 0x7f) >>> 4;
          for (let shift = 3; byte >= 0x80; shift += 7) {
            byte = bytes[at++] as number;
            if (shift === 31 && byte > TENTH_BYTE_MAX) return BAD;
            hi |= (byte & 0x7f) << shift;
          }
        }
      }
    }
  }
  const sign = -(lo & 1);
  into.low = ((lo >>> 1) | (hi << 31)) ^ sign;
  into.high = (hi >>> 1) ^ sign;
  return at;
}

/** The index after a text whose length is at `at`, BAD when it ends too late; `length` takes it. */
function textEnd(bytes: Uint8Array, at: number, end: number, length: Long): number {
  const start = readLong(bytes, at, length);
  const { low, high } = length;
  return start !== BAD && high === 0 && low >= 0 && start + low <= end ? start + low : BAD;
}

function fixed(size: number): MakeColumn {
  return (rowsMax) => {
    const values = new Uint8Array(rowsMax * size);
    return {
      add: (bytes, at, row, end) => {
        const next = at + size;
        if (next > end) return BAD;
        for (let from = at, to = row * size; from < next; from++, to++) values[to] = bytes[from] as number;
        return next;
      },
      cut: (row) => values.fill(0, row * size, (row + 1) * size),
      skip: nothing,
      chunks: (rows) => [values.subarray(0, rows * size)],
    };
  };
}

const boolean: MakeColumn = (rowsMax) => {
  const values = new Uint8Array(rowsMax);
  return {
    add: (bytes, at, row) => {
      const byte = bytes[at] ?? BAD;
      if (byte !== 0 && byte !== 1) return BAD;
      values[row] = byte;
      return at + 1;
    },
    cut: (row) => values.fill(0, row, row + 1),
    skip: nothing,
    chunks: (rows) => [values.subarray(0, rows)],
  };
};

/** 64-bit numbers; every value is valid. */
const wide: MakeColumn = (rowsMax) => wideThrough(new Long(), rowsMax);

/** `long` takes each value. */
function wideThrough(long: Long, rowsMax: number): Column {
  const values = new Int32Array(rowsMax * 2);
  return {
    add: (bytes, at, row) => {
      const next = readLong(bytes, at, long);
      values[row * 2] = long.low;
      values[row * 2 + 1] = long.high;
      return next;
    },
    cut: (row) => values.fill(0, row * 2, row * 2 + 2),
    skip: nothing,
    chunks: (rows) => [bytesOf(values.subarray(0, rows * 2))],
  };
}

function bounded([min, max]: readonly [number, number]): MakeColumn {
  if (max - min >= WORD) return boundedWide(min, max);
  const Values = max - min > 0xffff ? Int32Array : max - min > 0xff ? Int16Array : Int8Array;
  return (rowsMax) => {
    const values = new Values(rowsMax);
    const long = new Long();
    return {
      add: (bytes, at, row) => {
        const next = readLong(bytes, at, long);
        const value = long.high * WORD + (long.low >>> 0);
        if (value < min || value > max) return BAD;
        values[row] = long.low;
        return next;
      },
      cut: (row) => values.fill(0, row, row + 1),
      skip: nothing,
      chunks: (rows) => [bytesOf(values.subarray(0, rows))],
    };
  };
}

function boundedWide(min: number, max: number): MakeColumn {
  return (rowsMax) => {
    const long = new Long();
    const column = wideThrough(long, rowsMax);
    const { add } = column;
    return {
      ...column,
      add: (bytes, at, row, end) => {
        const next = add(bytes, at, row, end);
        const value = long.high * WORD + (long.low >>> 0);
        return value >= min && value <= max ? next : BAD;
      },
    };
  };
}

function bytesOf(values: Int8Array | Int16Array | Int32Array | BigUint64Array): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}

/** Avro's union of null and a value. */
function nullable(make: MakeColumn): MakeColumn {
  return (rowsMax) => {
    const nulls = new Uint8Array(rowsMax);
    const inner = make(rowsMax);
    const { add } = inner;
    return {
      add: (bytes, at, row, end) => {
        const branch = bytes[at];
        if (branch === VALUE_BRANCH) return add(bytes, at + 1, row, end);
        if (branch !== NULL_BRANCH) return BAD;
        nulls[row] = 1;
        inner.skip(row);
        return at + 1;
      },
      cut: (row) => {
        nulls[row] = 0;
        inner.cut(row);
      },
      skip: nothing,
      chunks: (rows) => [nulls.subarray(0, rows), ...inner.chunks(rows)],
    };
  };
}

/** Texts of a column, each after its length. */
const texts: MakeColumn = (rowsMax) => {
  const ends = new Uint32Array(rowsMax);
  const size = new Long();
  let values = new Uint8Array(rowsMax * TEXT_BYTES_FIRST);
  const endBefore = (row: number) => (row === 0 ? 0 : (ends[row - 1] as number));
  const append = (row: number, part: Uint8Array) => {
    const end = (ends[row] as number) + part.length;
    if (end > values.length) {
      const larger = new Uint8Array(end * 2);
      larger.set(values);
      values = larger;
    }
    values.set(part, ends[row]);
    ends[row] = end;
  };
  const begin = (row: number, length: number) => {
    ends[row] = endBefore(row);
    append(row, nativeVarint(length));
  };
  return {
    add: (bytes, at, row, end) => {
      const next = textEnd(bytes, at, end, size);
      if (next === BAD) return BAD;
      const length = size.low;
      begin(row, length);
      append(row, bytes.subarray(next - length, next));
      return next;
    },
    cut: nothing,
    skip: (row) => begin(row, 0),
    chunks: (rows) => [values.subarray(0, endBefore(rows))],
  };
};

/** Bytes of the items in one counted block of a list. */
interface Span {
  readonly row: number;
  readonly bytes: Uint8Array;
  readonly at: number;
  /** End of the record. */
  readonly end: number;
  readonly count: number;
}

/** Lists: the running number of values at each row, then the values. Avro has counted blocks that end with a zero. */
function list(make: MakeColumn): MakeColumn {
  return (rowsMax) => {
    const ends = new BigUint64Array(rowsMax);
    // Only the check reveals the number of values, so they are collected until all rows are there.
    const spans: Span[] = [];
    const probe = make(1);
    const long = new Long();
    let total = 0;
    const forget = (row: number) => {
      for (let last = spans.at(-1); last?.row === row; last = spans.at(-1)) {
        total -= last.count;
        spans.pop();
      }
    };
    return {
      add: (bytes, at, row, end) => {
        let items = 0;
        let next = at;
        for (;;) {
          next = readLong(bytes, next, long);
          const { low, high } = long;
          if (next === BAD || (low === 0 && high === 0)) break;
          // A negative count is followed by the size of its items in bytes.
          const count = Math.abs(high * WORD + (low >>> 0));
          let blockEnd: number | undefined;
          if (high < 0) {
            next = readLong(bytes, next, long);
            blockEnd = next + long.high * WORD + (long.low >>> 0);
          }
          items += count;
          if (next === BAD || items > ARRAY_ITEMS_MAX) return BAD;
          spans.push({ row, bytes, at: next, end, count });
          total += count;
          for (let index = 0; index < count && next !== BAD; index++) next = probe.add(bytes, next, 0, end);
          if (blockEnd !== undefined && next !== blockEnd) return BAD;
        }
        ends[row] = BigInt(total);
        return next;
      },
      cut: forget,
      skip: nothing,
      chunks: (rows) => {
        const values = make(total);
        let row = 0;
        for (const { bytes, at, end, count } of spans) {
          let next = at;
          for (let index = 0; index < count; index++) next = values.add(bytes, next, row++, end);
        }
        return [bytesOf(ends.subarray(0, rows)), ...values.chunks(total)];
      },
    };
  };
}

/** SharedDictionariesWithAdditionalKeys, and 32-bit indexes into keys of this block (SerializationLowCardinality.cpp). */
const DICTIONARY_VERSION = 1n;
const DICTIONARY_FLAGS = 2n | (1n << 9n) | (1n << 10n);
/** A longer list of words is searched by a map. */
const SCANNED_WORDS = 16;

/** A column with few distinct texts: each text once, and an index for each row. With nulls, index 0 is null. */
function dictionary(hasNulls: boolean): MakeColumn {
  return (rowsMax) => {
    const indexes = new Int32Array(rowsMax);
    const words = new Words(hasNulls);
    const length = new Long();
    return {
      add: (bytes, start, row, end) => {
        let at = start;
        if (hasNulls) {
          const branch = bytes[at++];
          if (branch === NULL_BRANCH) {
            indexes[row] = 0;
            return at;
          }
          if (branch !== VALUE_BRANCH) return BAD;
        }
        const next = textEnd(bytes, at, end, length);
        if (next !== BAD) indexes[row] = words.numberOf(bytes, next - length.low, next);
        return next;
      },
      cut: (row) => indexes.fill(0, row, row + 1),
      skip: nothing,
      chunks: (rows) => [
        nativeLongs(DICTIONARY_VERSION, DICTIONARY_FLAGS, BigInt(words.list.length)),
        ...words.list.map(nativeText),
        nativeLongs(BigInt(rows)),
        bytesOf(indexes.subarray(0, rows)),
      ],
    };
  };
}

/** The distinct texts of a dictionary, by index. */
class Words {
  readonly list: Uint8Array[];
  readonly #first: number;
  readonly #numbers = new Map<string, number>();
  #last: number;

  constructor(hasNulls: boolean) {
    this.list = hasNulls ? [new Uint8Array(0)] : [];
    this.#first = this.list.length;
    this.#last = this.#first;
  }

  numberOf(bytes: Uint8Array, start: number, end: number): number {
    if (!this.#is(this.#last, bytes, start, end)) this.#last = this.#find(bytes, start, end);
    return this.#last;
  }

  #find(bytes: Uint8Array, start: number, end: number): number {
    for (let index = this.#first; index < SCANNED_WORDS; index++) if (this.#is(index, bytes, start, end)) return index;
    const word = bytes.slice(start, end);
    const key = Buffer.from(word).toString('latin1');
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    this.#numbers.set(key, this.list.length);
    return this.list.push(word) - 1;
  }

  #is(index: number, bytes: Uint8Array, start: number, end: number): boolean {
    const word = this.list[index];
    if (word === undefined || word.length !== end - start) return false;
    for (let at = 0; at < word.length; at++) if (word[at] !== bytes[start + at]) return false;
    return true;
  }
}
