// The envelope of every record: C3 01, the 8-byte CRC-64-AVRO fingerprint of its schema (little-endian), then the body.
// This is Avro single-object encoding. registry.ts translates it to and from the format of a schema registry.

import type { Type } from 'avsc';
import { asBuffer, uint32BigEndian } from '../chain/bytes.ts';
import { fingerprint, type PastSchema, readCurrentSchemas, readPastVersions, type SchemaFile } from './avro.ts';
import { readFingerprints } from './schema-history.ts';

type Resolver = ReturnType<Type['createResolver']>;

/** A record kind with its current schema, which every new record is written with. */
export interface Writer extends SchemaFile {
  readonly fingerprint: bigint;
  /** Bytes before the body. */
  readonly prefix: Buffer;
  /** The current version, then the committed past ones. */
  readonly versions: readonly SchemaVersion[];
  /** `write` fills the buffer from the given offset. It returns the end, or minus the number of missing bytes. */
  encode(write: (buffer: Buffer, at: number) => number): Buffer;
}

export interface SchemaVersion {
  readonly fingerprint: bigint;
  readonly text: string;
  readonly type: Type;
}

/** A schema version that the log may contain. */
export interface Reader {
  readonly writer: Writer;
  /** Turns a record of a past version into a current one; null for the current version. */
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
/** First byte of a record in the format of a schema registry; its 4-byte id follows (big-endian). */
export const REGISTRY_MAGIC = 0;
export const REGISTRY_BYTES = 5;
/** Size of a new writer's scratch. It doubles until a record fits. */
const SCRATCH_BYTES = 1024;

/** A version whose type is made at its first use. Throws then when the file has changed since `npm run schemas`. */
class FileVersion implements SchemaVersion {
  readonly fingerprint: bigint;
  readonly text: string;
  readonly #file: SchemaFile;
  #type: Type | null = null;

  constructor(file: SchemaFile, print: string | undefined) {
    this.#file = file;
    this.text = file.text;
    this.fingerprint = print === undefined ? fingerprint(file.type) : BigInt(`0x${print}`);
  }

  get type(): Type {
    this.#type ??= this.#checked();
    return this.#type;
  }

  #checked(): Type {
    const { type, name } = this.#file;
    if (fingerprint(type) !== this.fingerprint) throw new Error(`${name} has changed: run \`npm run schemas\``);
    return type;
  }
}

class FileWriter implements Writer {
  readonly name: string;
  readonly kind: SchemaFile['kind'];
  readonly text: string;
  readonly fingerprint: bigint;
  readonly prefix: Buffer;
  readonly versions: readonly SchemaVersion[];
  readonly #current: SchemaVersion;
  /** Carries nothing from one call to the next: a record is copied out of it. */
  #scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);

  constructor(file: SchemaFile, past: readonly PastSchema[]) {
    const current = new FileVersion(file, listed[file.name]?.at(-1));
    this.#current = current;
    this.name = file.name;
    this.kind = file.kind;
    this.text = file.text;
    this.fingerprint = current.fingerprint;
    this.prefix = singleObjectPrefix(current.fingerprint);
    this.versions = [current, ...past.map((one) => new FileVersion(one, one.print))];
  }

  get type(): Type {
    return this.#current.type;
  }

  encode(write: (buffer: Buffer, at: number) => number): Buffer {
    const { prefix } = this;
    let end = write(this.#scratch, prefix.length);
    while (end < 0) {
      this.#scratch = Buffer.allocUnsafeSlow((this.#scratch.length - end) * 2);
      end = write(this.#scratch, prefix.length);
    }
    this.#scratch.set(prefix, 0);
    const record = Buffer.allocUnsafe(end);
    record.set(this.#scratch.subarray(0, end));
    return record;
  }
}

class VersionReader implements Reader {
  readonly writer: Writer;
  /** Null for the current version. */
  readonly #past: SchemaVersion | null;
  #resolver: Resolver | null = null;

  constructor(writer: Writer, past: SchemaVersion | null) {
    this.writer = writer;
    this.#past = past;
  }

  get resolver(): Resolver | null {
    if (this.#past === null) return null;
    this.#resolver ??= this.writer.type.createResolver(this.#past.type);
    return this.#resolver;
  }
}

/** Which version is the current one, without parsing the schemas. */
const listed = readFingerprints();
/** The tables follow from the committed schema files alone, also where a type is parsed at its first use. */
const writers: ReadonlyMap<string, Writer> = new Map(
  readCurrentSchemas().map((file) => [file.name, new FileWriter(file, readPastVersions(file))]),
);
/** By the low, then the high half of the fingerprint, so that a lookup makes no bigint. */
const readers: ReadonlyMap<number, ReadonlyMap<number, Reader>> = readerTable();

function readerTable(): Map<number, Map<number, Reader>> {
  const table = new Map<number, Map<number, Reader>>();
  const add = (print: bigint, reader: Reader): void => {
    const low = Number(BigInt.asUintN(32, print));
    const byHigh = table.get(low) ?? new Map<number, Reader>();
    table.set(low, byHigh.set(Number(print >> 32n), reader));
  };
  for (const writer of writers.values()) {
    for (const [index, version] of writer.versions.entries()) {
      add(version.fingerprint, new VersionReader(writer, index === 0 ? null : version));
    }
  }
  return table;
}

/** Envelope of a record whose schema has this fingerprint. */
export function singleObjectPrefix(print: bigint): Buffer {
  const prefix = Buffer.alloc(SINGLE_OBJECT_BYTES);
  prefix[0] = MARK_0;
  prefix[1] = MARK_1;
  prefix.writeBigUInt64LE(print, 2);
  return prefix;
}

export function writerOf(name: string): Writer | undefined {
  return writers.get(name);
}

export function allWriters(): readonly Writer[] {
  return [...writers.values()];
}

/** Every committed version of a record's schema, the current one first; none for an unknown record. */
export function schemaVersions(name: string): readonly SchemaVersion[] {
  return writers.get(name)?.versions ?? [];
}

export interface Opened {
  readonly reader: Reader;
  readonly buffer: Buffer;
  /** Offset of the body. */
  readonly at: number;
}

function readerAt(record: Buffer): Reader | undefined {
  return readers.get(record.readUInt32LE(2))?.get(record.readUInt32LE(6));
}

/** The registry id of the record from `start` to `end`; null for a record of another envelope. */
export function registryIdOf(bytes: Uint8Array, start: number, end: number): number | null {
  if (bytes[start] !== REGISTRY_MAGIC || end - start < REGISTRY_BYTES) return null;
  return uint32BigEndian(bytes, start + 1);
}

/** The kind of a record that carries the fingerprint of a current schema; null for any other bytes. */
export function currentWriterOf(buffer: Buffer): Writer | null {
  if (buffer.length < SINGLE_OBJECT_BYTES || buffer[0] !== MARK_0 || buffer[1] !== MARK_1) return null;
  const reader = readerAt(buffer);
  return reader?.resolver === null ? reader.writer : null;
}

/** Reads the envelope. Throws SchemaError for bytes without one, or when the schema is not known. */
export function openRecord(bytes: Uint8Array): Opened {
  const buffer = asBuffer(bytes);
  if (buffer[0] === MARK_0 && buffer[1] === MARK_1 && buffer.length >= SINGLE_OBJECT_BYTES) {
    const reader = readerAt(buffer);
    if (!reader) throw new SchemaError('unknown-fingerprint', buffer.readBigUInt64LE(2).toString(16));
    return { reader, buffer, at: SINGLE_OBJECT_BYTES };
  }
  const id = registryIdOf(buffer, 0, buffer.length);
  // registry.ts has translated every record whose id it can resolve.
  if (id !== null) throw new SchemaError('unknown-schema-id', String(id));
  throw new SchemaError('not-a-record', `${buffer.length} bytes, first ${buffer.subarray(0, 2).toString('hex')}`);
}

/** Decodes with one avsc type. Throws SchemaError when the bytes end too soon or are no such record. */
export function decodeBody(type: Type, opened: Opened): { readonly value: unknown; readonly offset: number } {
  const { buffer, at, reader } = opened;
  try {
    const result = type.decode(buffer, at, reader.resolver ?? undefined);
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

/** Names the field whose value avsc rejects. */
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
