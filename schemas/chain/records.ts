// Borsh decoder of program records, compiled from the definition: fields in wire order, a missing tail reads as null. Ingest
// and the client share it.

import type { EventDefinition } from './compile.ts';
import { emptyRecord } from './empty-record.ts';
import type { NamedType, WireType } from './layout.ts';
import { DEFINITION_STYLE, type ReadStyle, variantOf } from './readers.ts';

const UTF8 = new TextDecoder();

/** The body ends inside a field, or claims more elements than it has bytes. */
export class RecordError extends Error {
  override readonly name = 'RecordError';
}

interface Cursor {
  readonly view: DataView;
  readonly bytes: Uint8Array;
  at: number;
}

type ReadWire = (cursor: Cursor) => unknown;

/** Advances by `length` bytes and returns their start. Throws RecordError when the body is shorter. */
function take(cursor: Cursor, length: number): number {
  const { at } = cursor;
  if (at + length > cursor.bytes.length) throw new RecordError(`record ends at byte ${cursor.bytes.length}`);
  cursor.at = at + length;
  return at;
}

const SCALARS: Readonly<Record<string, ReadWire>> = {
  u8: (cursor) => cursor.view.getUint8(take(cursor, 1)),
  i8: (cursor) => cursor.view.getInt8(take(cursor, 1)),
  u16: (cursor) => cursor.view.getUint16(take(cursor, 2), true),
  i16: (cursor) => cursor.view.getInt16(take(cursor, 2), true),
  u32: (cursor) => cursor.view.getUint32(take(cursor, 4), true),
  i32: (cursor) => cursor.view.getInt32(take(cursor, 4), true),
  u64: (cursor) => cursor.view.getBigUint64(take(cursor, 8), true),
  i64: (cursor) => cursor.view.getBigInt64(take(cursor, 8), true),
  u128: (cursor) => {
    const at = take(cursor, 16);
    return (cursor.view.getBigUint64(at + 8, true) << 64n) | cursor.view.getBigUint64(at, true);
  },
  i128: (cursor) => {
    const at = take(cursor, 16);
    return (cursor.view.getBigInt64(at + 8, true) << 64n) | cursor.view.getBigUint64(at, true);
  },
  bool: (cursor) => cursor.view.getUint8(take(cursor, 1)) !== 0,
  pubkey: (cursor) => takeBytes(cursor, 32),
};

function takeBytes(cursor: Cursor, length: number): Uint8Array {
  const at = take(cursor, length);
  return new Uint8Array(cursor.bytes.subarray(at, at + length));
}

function bytesReader(lengthOf: (cursor: Cursor) => number, style: ReadStyle): ReadWire {
  if (style.bytes === 'copy') return (cursor) => takeBytes(cursor, lengthOf(cursor));
  return (cursor) => Array.from(takeBytes(cursor, lengthOf(cursor)));
}

function readerOf(type: WireType, style: ReadStyle): ReadWire {
  switch (type.kind) {
    case 'bytes':
      return bytesReader(() => type.length, style);
    case 'enum':
      return (cursor) => variantOf(type.variants, cursor.view.getUint8(take(cursor, 1)));
    case 'struct':
      return structReader(type.layout.fields, style);
    case 'option': {
      const element = readerOf(type.element, style);
      return (cursor) => (isPresent(cursor) ? element(cursor) : null);
    }
    case 'array': {
      const element = readerOf(type.element, style);
      return (cursor) => Array.from({ length: type.length }, () => element(cursor));
    }
    case 'vec':
      return vectorReader(type.element, style);
    case 'string':
      return (cursor) => UTF8.decode(takeBytes(cursor, takeCount(cursor)));
    default: {
      const read = SCALARS[type.kind];
      if (!read) throw new TypeError(`no reader for ${type.kind}`);
      return read;
    }
  }
}

function isPresent(cursor: Cursor): boolean {
  const flag = cursor.view.getUint8(take(cursor, 1));
  if (flag > 1) throw new RecordError(`presence byte ${flag} at ${cursor.at - 1}`);
  return flag === 1;
}

/** Reads a u32 count. Every element takes at least one byte, so a count above the rest means a damaged record. */
function takeCount(cursor: Cursor): number {
  const count = cursor.view.getUint32(take(cursor, 4), true);
  if (count > cursor.bytes.length - cursor.at) throw new RecordError(`list of ${count} at ${cursor.at - 4}`);
  return count;
}

function vectorReader(type: WireType, style: ReadStyle): ReadWire {
  if (type.kind === 'u8') return bytesReader(takeCount, style);
  const element = readerOf(type, style);
  return (cursor) => Array.from({ length: takeCount(cursor) }, () => element(cursor));
}

function structReader(fields: readonly NamedType[], style: ReadStyle): (cursor: Cursor) => Record<string, unknown> {
  const readers = fields.map(({ name, type }) => ({ name: style.name(name), read: readerOf(type, style) }));
  const empty = emptyRecord(readers.map(({ name }) => name));
  return (cursor) => {
    const value = { ...empty };
    for (const { name, read } of readers) value[name] = read(cursor);
    return value;
  };
}

export interface CompiledEvent {
  readonly name: string;
  /**
   * Decodes a record's body (after the discriminator). Records grow by appending, so fields past the end are null when
   * the data ends exactly between two fields. Throws RecordError when the data ends inside a field.
   */
  decode(body: Uint8Array): Record<string, unknown>;
}

/** Records that changed in the middle: leftover bytes mean another revision. */
const WHOLE_RECORDS: ReadonlySet<string> = new Set(['SignedMsgOrderRecord']);

export function compileEvent(definition: EventDefinition, style = DEFINITION_STYLE): CompiledEvent {
  const isWhole = WHOLE_RECORDS.has(definition.name);
  const readers = definition.fields.map(({ name, type }) => ({ name: style.name(name), read: readerOf(type, style) }));
  const empty = emptyRecord(readers.map(({ name }) => name));
  return {
    name: definition.name,
    decode: (body) => {
      const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
      const cursor: Cursor = { view, bytes: body, at: 0 };
      const value = { ...empty };
      for (const { name, read } of readers) value[name] = isWhole || cursor.at < body.length ? read(cursor) : null;
      if (isWhole && cursor.at < body.length) throw new RecordError(`${body.length - cursor.at} leftover bytes`);
      return value;
    },
  };
}

/**
 * Compiles a reader of the fields behind the fixed part of an account. Bytes that end before or inside them leave the rest
 * empty: lists without members, absent options, text without characters.
 */
export function compileTail(
  fields: readonly NamedType[],
  style = DEFINITION_STYLE,
): (bytes: Uint8Array) => Record<string, unknown> {
  const readers = fields.map(({ name, type }) => ({
    name: style.name(name),
    read: readerOf(type, style),
    empty: type.kind === 'vec' ? () => [] : () => (type.kind === 'string' ? '' : null),
  }));
  return (bytes) => {
    const cursor: Cursor = { view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), bytes, at: 0 };
    const value: Record<string, unknown> = {};
    for (const { name, read, empty } of readers) value[name] = attempt(() => read(cursor)) ?? empty();
    return value;
  };
}

function attempt(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    if (error instanceof RecordError) return null;
    throw error;
  }
}
