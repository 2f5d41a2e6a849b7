// Layout of the embedded log in lmdb: keys that sort in log order, and a short head before each record. Small records that are
// appended together share a value, as in a record batch of Kafka, because a value costs the store more than its bytes. Big
// endian throughout, so that byte order is numeric order.

import { constants, deflateRawSync, inflateRawSync } from 'node:zlib';
import { asBuffer, uint32BigEndian } from '../../../schemas/index.ts';
import type { LogRecord, NewRecord } from '../port.ts';

/** u16 topic, u32 partition, u64 offset. */
const RECORD_KEY_BYTES = 14;
/** u16 topic, u32 partition. */
const PARTITION_KEY_BYTES = 6;
const OFFSET_BYTES = 8;
/** Marks behind the partition's key in the compaction index. */
const INDEX_END = 0;
const INDEX_ENTRY = 1;
/** u8 layout version, u48 append time in milliseconds, u16 key length. */
const HEAD_BYTES = 9;
const TIME_AT = 1;
const TIME_BYTES = 6;
const KEY_LENGTH_AT = 7;
/** Layout versions: plain value, deflated value, several records. */
const PLAIN = 1;
const PACKED = 2;
/**
 * After layout version and append time comes the u16 number of records. Each has u8 layout version, u16 key length, u32 value
 * length, key and value. The key of the store has the offset of the last one, so that a search from any of their offsets finds
 * them.
 */
const BATCH = 3;
const COUNT_AT = 7;
const ENTRY_BYTES = 7;
/** A batch fills one page of the store at most, which has 4,096 bytes with its head of 16: several would have to lie side by side. */
const BATCH_BYTES_MAX = 4_080;
/**
 * Sizes of values to deflate, from about a page of the store. Smaller values gain nothing; larger ones would block the
 * process.
 */
const PACK_MIN_BYTES = 1024;
const PACK_MAX_BYTES = 64 * 1024;
/** Stores the deflated value only when it is this much smaller, because every read inflates it. */
const PACKED_SHARE_MAX = 0.8;
const OFFSET_MAX = 0xffff_ffff_ffff_ffffn;
const SCRATCH_BYTES = 64 * 1024;
const TWO_32 = 2 ** 32;
/** UTF-8 bytes of one UTF-16 unit, at most. */
const UTF8_BYTES_MAX = 3;
const SEPARATOR = '\0';

export function recordKey(topicId: number, partition: number, offset: bigint): Buffer {
  const key = Buffer.allocUnsafe(RECORD_KEY_BYTES);
  key.writeUInt16BE(topicId, 0);
  key.writeUInt32BE(partition, 2);
  key.writeBigUInt64BE(offset, PARTITION_KEY_BYTES);
  return key;
}

/** The key after every record of the partition. */
export function partitionEnd(topicId: number, partition: number): Buffer {
  return recordKey(topicId, partition, OFFSET_MAX);
}

/** `keyAt`: start of the record's key in `bytes`. */
export function offsetOf(bytes: Uint8Array, keyAt = 0): bigint {
  const at = keyAt + PARTITION_KEY_BYTES;
  const high = uint32BigEndian(bytes, at);
  const low = uint32BigEndian(bytes, at + 4);
  return high === 0 ? BigInt(low) : (BigInt(high) << 32n) | BigInt(low);
}

export function partitionKey(topicId: number, partition: number): Buffer {
  const key = Buffer.allocUnsafe(PARTITION_KEY_BYTES);
  key.writeUInt16BE(topicId, 0);
  key.writeUInt32BE(partition, 2);
  return key;
}

/** Key of the end of a partition's compaction index. */
export function compactedKey(topicId: number, partition: number): Buffer {
  return Buffer.concat([partitionKey(topicId, partition), Buffer.of(INDEX_END)]);
}

/** Key of the newest offset of a record key in the compaction index. */
export function newestKey(topicId: number, partition: number, key: string): Buffer {
  return Buffer.concat([partitionKey(topicId, partition), Buffer.of(INDEX_ENTRY), Buffer.from(key)]);
}

export function encodeOffset(offset: bigint): Buffer {
  const bytes = Buffer.allocUnsafe(OFFSET_BYTES);
  bytes.writeBigUInt64BE(offset);
  return bytes;
}

/** 0 for a missing value. */
export function decodeOffset(bytes: Uint8Array | undefined): bigint {
  return bytes === undefined ? 0n : asBuffer(bytes).readBigUInt64BE();
}

/** A record in stored form. */
export interface StoredRecord extends NewRecord {
  readonly isPacked?: boolean;
}

/** Deflates a value when that is worthwhile. Slow, so call it before the transaction. */
export function packed(record: NewRecord): StoredRecord {
  const { value } = record;
  if (value.length < PACK_MIN_BYTES || value.length > PACK_MAX_BYTES) return record;
  const bytes = deflateRawSync(value, { level: constants.Z_BEST_SPEED });
  return bytes.length > value.length * PACKED_SHARE_MAX ? record : { ...record, value: bytes, isPacked: true };
}

/** A value of the store, and how many records it has. */
interface StoredValue {
  readonly count: number;
  readonly bytes: Buffer;
}

/** Encodes records in memory of its own, which each call overwrites: the store copies a record when it takes it. */
export class RecordEncoder {
  readonly #key = Buffer.alloc(RECORD_KEY_BYTES);
  readonly #bytes = Buffer.alloc(SCRATCH_BYTES);

  /** As `recordKey`. */
  key(topicId: number, partition: number, offset: number): Buffer {
    const key = this.#key;
    key.writeUInt16BE(topicId, 0);
    key.writeUInt32BE(partition, 2);
    key.writeUInt32BE(Math.floor(offset / TWO_32), PARTITION_KEY_BYTES);
    key.writeUInt32BE(offset % TWO_32, PARTITION_KEY_BYTES + 4);
    return key;
  }

  /** The value of the store for the records from index `from` on: as many as fit into a batch, or one. */
  next(records: readonly StoredRecord[], from: number, appendedMs: number, isAlone: boolean): StoredValue {
    const first = records[from] as StoredRecord;
    if (isAlone || from + 1 === records.length) return { count: 1, bytes: this.record(first, appendedMs) };
    const bytes = this.#bytes;
    let at = HEAD_BYTES;
    let next = from;
    for (let record = records[next]; record !== undefined; record = records[++next]) {
      const end = this.#entry(record, at);
      if (end === null) break;
      at = end;
    }
    const count = next - from;
    if (count < 2) return { count: 1, bytes: this.record(first, appendedMs) };
    bytes[0] = BATCH;
    bytes.writeUIntBE(appendedMs, TIME_AT, TIME_BYTES);
    bytes.writeUInt16BE(count, COUNT_AT);
    return { count, bytes: bytes.subarray(0, at) };
  }

  /** Writes a record of a batch. Returns where it ends; null when it does not fit. */
  #entry({ key, value, isPacked }: StoredRecord, at: number): number | null {
    const bytes = this.#bytes;
    const keyBytes = Buffer.byteLength(key);
    const valueAt = at + ENTRY_BYTES + keyBytes;
    if (valueAt + value.length > BATCH_BYTES_MAX) return null;
    bytes[at] = isPacked ? PACKED : PLAIN;
    bytes.writeUInt16BE(keyBytes, at + 1);
    bytes.writeUInt32BE(value.length, at + 3);
    bytes.write(key, at + ENTRY_BYTES);
    bytes.set(value, valueAt);
    return valueAt + value.length;
  }

  /** One record alone. */
  record({ key, value, isPacked }: StoredRecord, appendedMs: number): Buffer {
    const needed = HEAD_BYTES + key.length * UTF8_BYTES_MAX + value.length;
    const bytes = needed > SCRATCH_BYTES ? Buffer.allocUnsafe(needed) : this.#bytes;
    bytes[0] = isPacked ? PACKED : PLAIN;
    bytes.writeUIntBE(appendedMs, TIME_AT, TIME_BYTES);
    const keyBytes = bytes.write(key, HEAD_BYTES);
    bytes.writeUInt16BE(keyBytes, KEY_LENGTH_AT);
    bytes.set(value, HEAD_BYTES + keyBytes);
    return bytes.subarray(0, HEAD_BYTES + keyBytes + value.length);
  }
}

/** Copies a part of bytes that the caller overwrites later. */
export type Keep<T> = (bytes: Uint8Array, start: number, end: number) => T;

/** Where a record is in the bytes of a stored value, and its offset. The next record overwrites it. */
export interface Place {
  offset: bigint;
  keyAt: number;
  valueAt: number;
  end: number;
  isPacked: boolean;
}

/** Receives a record; the caller overwrites both afterwards. */
export type Visit = (stored: Buffer, place: Place) => void;

/** Visits the records in the first `size` bytes of `stored`, whose key of the store has the offset `last`. */
export function eachRecord(stored: Uint8Array, size: number, last: bigint, visit: Visit): void {
  const bytes = checked(stored);
  const place = { offset: last, keyAt: HEAD_BYTES, valueAt: 0, end: size, isPacked: bytes[0] === PACKED };
  if (bytes[0] !== BATCH) {
    place.valueAt = HEAD_BYTES + bytes.readUInt16BE(KEY_LENGTH_AT);
    visit(bytes, place);
    return;
  }
  const count = bytes.readUInt16BE(COUNT_AT);
  let at = HEAD_BYTES;
  for (let index = 1; index <= count; index++) {
    place.offset = last - BigInt(count - index);
    place.isPacked = bytes[at] === PACKED;
    place.keyAt = at + ENTRY_BYTES;
    place.valueAt = place.keyAt + bytes.readUInt16BE(at + 1);
    place.end = place.valueAt + bytes.readUInt32BE(at + 3);
    at = place.end;
    visit(bytes, place);
  }
}

export function decodeRecord(partition: number, stored: Buffer, place: Place, keep: Keep<Uint8Array>): LogRecord {
  const key = stored.toString('utf8', place.keyAt, place.valueAt);
  return { partition, offset: place.offset, key, value: keepValue(stored, place, keep) };
}

/** Applies `keep` to the value of a record. */
export function keepValue<T>(stored: Buffer, { valueAt, end, isPacked }: Place, keep: Keep<T>): T {
  if (!isPacked) return keep(stored, valueAt, end);
  const value = inflateRawSync(stored.subarray(valueAt, end), { maxOutputLength: PACK_MAX_BYTES });
  return keep(value, 0, value.length);
}

/** Number of records in a stored value. */
export function countOf(stored: Uint8Array): number {
  const bytes = checked(stored);
  return bytes[0] === BATCH ? bytes.readUInt16BE(COUNT_AT) : 1;
}

/** Key of a record that is stored alone; null of several. */
export function recordKeyOf(stored: Uint8Array): string | null {
  const bytes = checked(stored);
  if (bytes[0] === BATCH) return null;
  return bytes.toString('utf8', HEAD_BYTES, HEAD_BYTES + bytes.readUInt16BE(KEY_LENGTH_AT));
}

/** Wall-clock milliseconds of the append. */
export function appendedMsOf(stored: Uint8Array): number {
  return checked(stored).readUIntBE(TIME_AT, TIME_BYTES);
}

function checked(stored: Uint8Array): Buffer {
  const [layout = 0] = stored;
  if (layout < PLAIN || layout > BATCH) throw new Error(`event log: record layout ${layout} is not known`);
  return asBuffer(stored);
}

export type GroupEntry = 'offset' | 'state';
const ENTRY_MARK = { offset: 'p', state: 's' } as const;

export function groupKey(group: string, entry: GroupEntry, name: string): Buffer {
  return Buffer.from(`${group}${SEPARATOR}${ENTRY_MARK[entry]}${name}`);
}

/** Key of the newest epoch of a role in the group. Outside the group's range, because no group name is empty. */
export function fenceKey(group: string, role: string): Buffer {
  return Buffer.from(`${SEPARATOR}${group}${SEPARATOR}${role}`);
}

/** First key of the group, and the first one after it. */
export function groupRange(group: string): { start: Buffer; end: Buffer } {
  return { start: Buffer.from(`${group}${SEPARATOR}`), end: Buffer.from(`${group}\x01`) };
}

export function parseGroupKey(key: Uint8Array): { entry: GroupEntry; name: string } {
  const text = asBuffer(key).toString();
  const at = text.indexOf(SEPARATOR) + 1;
  return { entry: text[at] === ENTRY_MARK.offset ? 'offset' : 'state', name: text.slice(at + 1) };
}
