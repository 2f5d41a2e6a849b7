// Reads records in bulk. lmdb's own way makes three buffers of a record, each with memory of its own, and that was most
// of what reading cost; here the store's bytes are copied once, into chunks that many values share.

import type { RootDatabase } from 'lmdb';
import type { LogRecord } from '../port.ts';
import { asBuffer, decodeRecord, offsetOf, partitionEnd, recordKey } from './layout.ts';

/** A page ends after this many bytes even when more records were asked for. */
const PAGE_BYTES_MAX = 4 * 1024 * 1024;
/** Values in one chunk keep each other in memory, so chunks are small. */
const CHUNK_BYTES = 64 * 1024;
/** Larger values have memory of their own: they would leave much of a chunk empty. */
const SHARED_BYTES_MAX = CHUNK_BYTES / 8;

/** Reads pages of the store `records`; call inside `Environment.read`. */
export class PageReader {
  readonly #records;
  #chunk = Buffer.alloc(0);
  #used = 0;
  #partition = 0;
  #offset = 0n;

  constructor(root: RootDatabase<Uint8Array, Buffer>, store: string) {
    // lmdb hands over memory that it writes over later.
    const options = {
      name: store,
      keyEncoder: {
        writeKey: (key: Uint8Array, target: Uint8Array, start: number) => {
          target.set(key, start);
          return start + key.length;
        },
        // Asked before the value of the same record is decoded.
        readKey: (source: Uint8Array, start: number) => {
          this.#offset = offsetOf(source, start);
        },
      },
      encoder: {
        decode: (stored: Uint8Array, size: number) =>
          decodeRecord(this.#partition, this.#offset, stored, size, this.#keep),
      },
    };
    this.#records = root.openDB<LogRecord, Buffer>(options);
  }

  /** Up to `maxRecords` records at or after `from`. */
  page(topicId: number, partition: number, from: bigint, maxRecords: number): LogRecord[] {
    this.#partition = partition;
    const page: LogRecord[] = [];
    let bytes = 0;
    const range = { start: recordKey(topicId, partition, from), end: partitionEnd(topicId, partition) };
    for (const { value } of this.#records.getRange({ ...range, limit: maxRecords })) {
      page.push(value);
      bytes += value.value.length;
      if (bytes >= PAGE_BYTES_MAX) break;
    }
    return page;
  }

  readonly #keep = (bytes: Uint8Array, start: number, end: number): Uint8Array => {
    const size = end - start;
    if (size > SHARED_BYTES_MAX) return Buffer.copyBytesFrom(bytes, start, size);
    if (this.#used + size > this.#chunk.length) {
      this.#chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
      this.#used = 0;
    }
    const kept = this.#chunk.subarray(this.#used, this.#used + size);
    asBuffer(bytes).copy(kept, 0, start, end);
    this.#used += size;
    return kept;
  };
}
