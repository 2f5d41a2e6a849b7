// Wraps records of the log into Avro object containers, which ClickHouse reads; nothing is decoded here.

import { compileCheck } from './datum.ts';
import type { Body, RowFormat } from './row-format.ts';

const MAGIC = Buffer.from('Obj\x01', 'latin1');
const SYNC_BYTES = 16;
const VARINT_BYTES_MAX = 10;

export function containerFormat(schemaText: string, mark: bigint): RowFormat {
  // Separates blocks; constant, so that bytes are repeatable.
  const sync = Buffer.alloc(SYNC_BYTES);
  sync.writeBigUInt64LE(mark);
  sync.writeBigUInt64LE(mark, SYNC_BYTES / 2);
  const metadata = [varint(2), text('avro.schema'), text(schemaText), text('avro.codec'), text('null'), varint(0)];
  const head = Buffer.concat([MAGIC, ...metadata, sync]);
  const isValid = compileCheck(schemaText);
  return { into: 'FORMAT Avro', open: () => new Container(head, sync, isValid) };
}

/** One container with one block. */
class Container implements Body {
  readonly #head: Buffer;
  readonly #sync: Buffer;
  readonly #isValid: (bytes: Uint8Array, start: number) => boolean;
  readonly #data: Uint8Array[] = [];

  constructor(head: Buffer, sync: Buffer, isValid: (bytes: Uint8Array, start: number) => boolean) {
    this.#head = head;
    this.#sync = sync;
    this.#isValid = isValid;
  }

  add(bytes: Uint8Array, start: number, end: number): boolean {
    const datum = bytes.subarray(start, end);
    if (!this.#isValid(datum, 0)) return false;
    this.#data.push(datum);
    return true;
  }

  parts(): readonly Uint8Array[] {
    const data = Buffer.concat(this.#data);
    return [Buffer.concat([this.#head, varint(this.#data.length), varint(data.length)]), data, this.#sync];
  }
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'utf8');
  return Buffer.concat([varint(bytes.length), bytes]);
}

/** Avro long of a count: zig-zag, then seven bits a byte. */
function varint(count: number): Buffer {
  const bytes = Buffer.alloc(VARINT_BYTES_MAX);
  let rest = count * 2;
  let length = 0;
  while (rest > 0x7f) {
    bytes[length++] = (rest % 0x80) | 0x80;
    rest = Math.floor(rest / 0x80);
  }
  bytes[length++] = rest;
  return bytes.subarray(0, length);
}
