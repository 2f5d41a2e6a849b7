// The envelope of every record in the log, and which schema version it names. Avro single-object encoding: C3 01, then the
// 8-byte CRC-64-AVRO fingerprint (little-endian), then the body. With a schema registry: 00, then the 4-byte id (big-endian).

import type { Type } from 'avsc';
import { fingerprint, readCurrentSchemas, readVersions, type SchemaFile } from './avro.ts';
import { parseSchema } from './parse-schema.ts';

type Resolver = ReturnType<Type['createResolver']>;

/** A record kind as it is written now. */
export interface Writer extends SchemaFile {
  readonly fingerprint: bigint;
  /** What goes before the body; replaced when a registry gives ids. */
  prefix: Buffer;
}

/** A schema version that may stand in the log. `resolver` turns an older one into the current record; null = current. */
export interface Reader {
  readonly writer: Writer;
  readonly resolver: Resolver | null;
}

export type SchemaErrorCode = 'not-a-record' | 'unknown-fingerprint' | 'unknown-schema-id' | 'truncated' | 'corrupt';

/** Bytes that are not a record of a known schema. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError';
  readonly code: SchemaErrorCode;

  constructor(code: SchemaErrorCode, detail: string, options?: ErrorOptions) {
    super(`${code}: ${detail}`, options);
    this.code = code;
  }
}

const MARK_0 = 0xc3;
const MARK_1 = 0x01;
const SINGLE_OBJECT_BYTES = 10;
const REGISTRY_MAGIC = 0;
const REGISTRY_BYTES = 5;
const SCRATCH_BYTES = 64 * 1024;

const writers = new Map<string, Writer>();
/** By the low, then the high half of the fingerprint, so that a lookup makes no bigint. */
const readers = new Map<number, Map<number, Reader>>();
/** By registry id; null for one that cannot be read. */
const readersById = new Map<number, Reader | null>();
let scratch = Buffer.allocUnsafe(SCRATCH_BYTES);

for (const file of readCurrentSchemas()) addWriter(file);

function addWriter(file: SchemaFile): void {
  const print = fingerprint(file.type);
  const writer: Writer = { ...file, fingerprint: print, prefix: singleObjectPrefix(print) };
  writers.set(file.name, writer);
  for (const version of readVersions(file)) {
    const versionPrint = fingerprint(version.type);
    if (versionPrint !== print) addReader(versionPrint, readerOf(writer, version.type));
  }
  addReader(print, { writer, resolver: null });
}

function singleObjectPrefix(print: bigint): Buffer {
  const prefix = Buffer.alloc(SINGLE_OBJECT_BYTES);
  prefix[0] = MARK_0;
  prefix[1] = MARK_1;
  prefix.writeBigUInt64LE(print, 2);
  return prefix;
}

function addReader(print: bigint, reader: Reader): void {
  const low = Number(BigInt.asUintN(32, print));
  const byHigh = readers.get(low) ?? new Map<number, Reader>();
  byHigh.set(Number(print >> 32n), reader);
  readers.set(low, byHigh);
}

function readerOf(writer: Writer, version: Type): Reader {
  const same = fingerprint(version) === writer.fingerprint;
  return { writer, resolver: same ? null : writer.type.createResolver(version) };
}

export function writerOf(name: string): Writer | undefined {
  return writers.get(name);
}

export function allWriters(): readonly Writer[] {
  return [...writers.values()];
}

/** Makes the id of a record kind's current schema readable. */
export function addWriterId(writer: Writer, id: number): void {
  readersById.set(id, { writer, resolver: null });
}

/** From now on records of this kind are written with a registry id. */
export function useRegistryId(writer: Writer, id: number): void {
  const prefix = Buffer.alloc(REGISTRY_BYTES);
  prefix[0] = REGISTRY_MAGIC;
  prefix.writeUInt32BE(id, 1);
  writer.prefix = prefix;
}

/** Back to single-object encoding for every kind. */
export function useFingerprints(): void {
  for (const writer of writers.values()) writer.prefix = singleObjectPrefix(writer.fingerprint);
  readersById.clear();
}

export function knowsRegistryId(id: number): boolean {
  return readersById.has(id);
}

/** Makes a registry id readable. Throws an Error when no current record can read the schema. */
export function addRegistryId(id: number, schema: unknown): void {
  const type = parseSchema(schema);
  const writer = writers.get(type.name?.split('.').at(-1) ?? '');
  if (!writer) throw new Error(`schema ${id} is of ${type.name}, which is not a record of this house`);
  readersById.set(id, readerOf(writer, type));
}

/** From now on records with this id are known to be unreadable. */
export function refuseRegistryId(id: number): void {
  readersById.set(id, null);
}

/** The registry id of the record from `start` to `end`, when nobody has asked yet what it stands for; else null. */
export function unknownRegistryId(bytes: Uint8Array, start: number, end: number): number | null {
  if (bytes[start] !== REGISTRY_MAGIC || end - start < REGISTRY_BYTES) return null;
  const id = asBuffer(bytes).readUInt32BE(start + 1);
  return readersById.has(id) ? null : id;
}

/** Calls `write` with a buffer and the position after the prefix; it returns the end, or minus the bytes that lack. */
export function encodeRecord(writer: Writer, write: (buffer: Buffer, position: number) => number): Buffer {
  const { prefix } = writer;
  let end = write(scratch, prefix.length);
  while (end < 0) {
    scratch = Buffer.allocUnsafe((scratch.length - end) * 2);
    end = write(scratch, prefix.length);
  }
  scratch.set(prefix, 0);
  const record = Buffer.allocUnsafe(end);
  record.set(scratch.subarray(0, end));
  return record;
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

export interface Opened {
  readonly reader: Reader;
  readonly buffer: Buffer;
  /** Where the body begins. */
  readonly position: number;
}

/** Reads the envelope. Throws SchemaError for bytes without one, or when the schema is not known. */
export function openRecord(bytes: Uint8Array): Opened {
  const buffer = asBuffer(bytes);
  if (buffer[0] === MARK_0 && buffer[1] === MARK_1 && buffer.length >= SINGLE_OBJECT_BYTES) {
    const reader = readers.get(buffer.readUInt32LE(2))?.get(buffer.readUInt32LE(6));
    if (!reader) throw new SchemaError('unknown-fingerprint', buffer.readBigUInt64LE(2).toString(16));
    return { reader, buffer, position: SINGLE_OBJECT_BYTES };
  }
  if (buffer[0] === REGISTRY_MAGIC && buffer.length >= REGISTRY_BYTES) {
    const id = buffer.readUInt32BE(1);
    const reader = readersById.get(id);
    if (!reader) throw new SchemaError('unknown-schema-id', String(id));
    return { reader, buffer, position: REGISTRY_BYTES };
  }
  throw new SchemaError('not-a-record', `${buffer.length} bytes, first ${buffer.subarray(0, 2).toString('hex')}`);
}

/** Decodes with one avsc type. Throws SchemaError when the bytes end too soon or hold no such record. */
export function decodeBody(type: Type, opened: Opened): { readonly value: unknown; readonly offset: number } {
  const { buffer, position, reader } = opened;
  try {
    const result = type.decode(buffer, position, reader.resolver ?? undefined);
    if (result.offset >= 0) return result;
  } catch (cause) {
    throw new SchemaError('corrupt', `${describe(opened)}: ${cause instanceof Error ? cause.message : cause}`, {
      cause,
    });
  }
  throw new SchemaError('truncated', describe(opened));
}

function describe({ reader, buffer }: Opened): string {
  return `${reader.writer.name} of ${buffer.length} bytes`;
}

/** Names the field that made avsc refuse a value. */
export function explainInvalid(name: string, fields: readonly { name: string; type: Type }[], value: object): string {
  for (const field of fields) {
    const member = (value as Record<string, unknown>)[field.name];
    try {
      field.type.toBuffer(member);
    } catch (error) {
      return `${name}.${field.name}: ${error instanceof Error ? error.message : String(error)}`;
    }
  }
  return `${name} cannot be encoded`;
}
