// Avro object containers around records as they lie in the log: ClickHouse reads them, so nothing is decoded here.

const MAGIC = Buffer.from('Obj\x01', 'latin1');
const SYNC_BYTES = 16;
const VARINT_BYTES_MAX = 10;

/** A record's bytes and where its datum starts behind the wire header. */
export interface Datum {
  readonly bytes: Uint8Array;
  readonly start: number;
}

/** Everything of a container before its first block. `sync` separates blocks; the same for all, to be repeatable. */
export interface ContainerHead {
  readonly bytes: Buffer;
  readonly sync: Buffer;
}

export function containerHead(schemaText: string, fingerprint: bigint): ContainerHead {
  const sync = Buffer.alloc(SYNC_BYTES);
  sync.writeBigUInt64LE(fingerprint);
  sync.writeBigUInt64LE(fingerprint, SYNC_BYTES / 2);
  const metadata = [varint(2), text('avro.schema'), text(schemaText), text('avro.codec'), text('null'), varint(0)];
  return { bytes: Buffer.concat([MAGIC, ...metadata, sync]), sync };
}

/** One container with one block. */
export function container(head: ContainerHead, data: readonly Datum[]): Buffer {
  let size = 0;
  for (const { bytes, start } of data) size += bytes.length - start;
  const prefix = Buffer.concat([head.bytes, varint(data.length), varint(size)]);
  const whole = Buffer.allocUnsafe(prefix.length + size + SYNC_BYTES);
  let position = prefix.copy(whole);
  for (const { bytes, start } of data) {
    whole.set(start === 0 ? bytes : bytes.subarray(start), position);
    position += bytes.length - start;
  }
  head.sync.copy(whole, position);
  return whole;
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
