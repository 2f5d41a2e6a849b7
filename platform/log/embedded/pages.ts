// Reads many records at once. lmdb's own API makes three buffers per record, which would be most of the cost; here many
// values share one copy of the store's bytes.

import type { RootDatabase } from 'lmdb';
import { asBuffer } from '../../../schemas/index.ts';
import type { LogPage, LogRecord } from '../port.ts';
import { decodeRecord, eachRecord, keepValue, offsetOf, partitionEnd, recordKey, type Visit } from './layout.ts';

/** A page ends after this many bytes, even with fewer records than requested. */
const PAGE_BYTES_MAX = 4 * 1024 * 1024;
/** The values of a chunk keep each other in memory, so chunks are small. */
const CHUNK_BYTES = 64 * 1024;
/** Larger values get their own memory, because they would leave much of a chunk empty. */
const SHARED_BYTES_MAX = CHUNK_BYTES / 8;

/** Start and limit of a page. */
export interface PageRange {
  readonly topicId: number;
  readonly partition: number;
  /** The page begins at this offset, or at the next stored one. */
  readonly from: bigint;
  readonly maxRecords: number;
}

/** Reads pages of the store `records`; call inside `Environment.read`. */
export class PageReader {
  readonly #records;
  readonly #chunk = new Chunk();
  readonly #scratch = new Scratch();
  #take: Visit = () => {};
  /** Offset in the key that was read last. */
  #offset = 0n;
  /** Room left in the page: first offset, and number of records. */
  #from = 0n;
  #left = 0;

  constructor(root: RootDatabase<Uint8Array, Buffer>, store: string) {
    // lmdb overwrites the memory that it returns.
    const options = {
      name: store,
      keyEncoder: {
        writeKey: (key: Uint8Array, target: Uint8Array, start: number) => {
          target.set(key, start);
          return start + key.length;
        },
        // lmdb reads the key before it decodes the value of the same record.
        readKey: (source: Uint8Array, start: number) => {
          this.#offset = offsetOf(source, start);
        },
      },
      encoder: {
        decode: (stored: Uint8Array, size: number) => {
          eachRecord(stored, size, this.#offset, this.#visit);
          return size;
        },
      },
    };
    this.#records = root.openDB<number, Buffer>(options);
  }

  readonly #visit: Visit = (stored, place) => {
    if (place.offset < this.#from || this.#left === 0) return;
    this.#left -= 1;
    this.#take(stored, place);
  };

  records(range: PageRange): LogRecord[] {
    const records: LogRecord[] = [];
    const { keep } = this.#chunk;
    this.#read(range, (stored, place) => records.push(decodeRecord(range.partition, stored, place, keep)));
    return records;
  }

  /** `end`: the partition's end. */
  page(range: PageRange, end: bigint): LogPage {
    const scratch = this.#scratch;
    scratch.clear();
    this.#read(range, (stored, place) => {
      keepValue(stored, place, scratch.keep);
      scratch.close(place.offset);
    });
    return scratch.page(range.partition, end);
  }

  #read({ topicId, partition, from, maxRecords }: PageRange, take: Visit): void {
    this.#take = take;
    this.#from = from;
    this.#left = maxRecords;
    let bytes = 0;
    const range = { start: recordKey(topicId, partition, from), end: partitionEnd(topicId, partition) };
    for (const { value: size } of this.#records.getRange({ ...range, limit: maxRecords })) {
      bytes += size;
      if (bytes >= PAGE_BYTES_MAX || this.#left === 0) break;
    }
  }
}

/** Memory that small values share. */
class Chunk {
  #bytes = Buffer.alloc(0);
  #used = 0;

  readonly keep = (bytes: Uint8Array, start: number, end: number): Uint8Array => {
    const size = end - start;
    if (size > SHARED_BYTES_MAX) return Buffer.copyBytesFrom(bytes, start, size);
    if (this.#used + size > this.#bytes.length) {
      this.#bytes = Buffer.allocUnsafeSlow(CHUNK_BYTES);
      this.#used = 0;
    }
    const kept = this.#bytes.subarray(this.#used, this.#used + size);
    asBuffer(bytes).copy(kept, 0, start, end);
    this.#used += size;
    return kept;
  };
}

/** Buffers in which a page is assembled. */
class Scratch {
  #bytes = Buffer.alloc(CHUNK_BYTES);
  #ends = new Uint32Array(1);
  #offsets = new BigUint64Array(1);
  #used = 0;
  #count = 0;

  clear(): void {
    this.#used = 0;
    this.#count = 0;
  }

  readonly keep = (bytes: Uint8Array, start: number, end: number): void => {
    const used = this.#used + end - start;
    if (used > this.#bytes.length) {
      const larger = Buffer.alloc(used * 2);
      this.#bytes.copy(larger, 0, 0, this.#used);
      this.#bytes = larger;
    }
    asBuffer(bytes).copy(this.#bytes, this.#used, start, end);
    this.#used = used;
  };

  /** Ends the record of the last kept value. */
  close(offset: bigint): void {
    if (this.#count === this.#ends.length) {
      const [ends, offsets] = [this.#ends, this.#offsets];
      this.#ends = new Uint32Array(this.#count * 2);
      this.#ends.set(ends);
      this.#offsets = new BigUint64Array(this.#count * 2);
      this.#offsets.set(offsets);
    }
    this.#ends[this.#count] = this.#used;
    this.#offsets[this.#count] = offset;
    this.#count += 1;
  }

  page(partition: number, end: bigint): LogPage {
    const ends = this.#ends.slice(0, this.#count);
    const offsets = this.#offsets.slice(0, this.#count);
    return { partition, bytes: Buffer.copyBytesFrom(this.#bytes, 0, this.#used), ends, offsets, end };
  }
}
