// Borsh decoder of program records, compiled from the definition: fields in wire order, a missing tail is absent.

import bs58 from 'bs58';
import type { ChainDefinition, EventDefinition, NamedType, WireType } from '../../schemas/index.ts';
import { DISCRIMINATOR_BYTES, EVENT_NAMES, flattenRecord } from '../../schemas/index.ts';
import type { KnownRecords, Payload } from './logs.ts';
import { variantOf } from './values.ts';

/** The body ends inside a field, or claims more than there is. */
export class RecordError extends Error {
  override readonly name = 'RecordError';
}

interface Cursor {
  readonly view: DataView;
  readonly bytes: Uint8Array;
  at: number;
}

type ReadWire = (cursor: Cursor) => unknown;

/** Moves on by `length` bytes and returns where they begin. Throws RecordError when there are fewer. */
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

function readerOf(type: WireType): ReadWire {
  switch (type.kind) {
    case 'bytes':
      return (cursor) => takeBytes(cursor, type.length);
    case 'enum':
      return (cursor) => variantOf(type.variants, cursor.view.getUint8(take(cursor, 1)));
    case 'struct':
      return structReader(type.layout.fields);
    case 'option': {
      const element = readerOf(type.element);
      return (cursor) => (isPresent(cursor) ? element(cursor) : null);
    }
    case 'array': {
      const element = readerOf(type.element);
      return (cursor) => Array.from({ length: type.length }, () => element(cursor));
    }
    case 'vec':
      return vectorReader(type.element);
    case 'string':
      return (cursor) => Buffer.from(takeBytes(cursor, takeCount(cursor))).toString('utf8');
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

/** A u32 count; every element takes at least one byte, so a count beyond the rest is a damaged record. */
function takeCount(cursor: Cursor): number {
  const count = cursor.view.getUint32(take(cursor, 4), true);
  if (count > cursor.bytes.length - cursor.at) throw new RecordError(`list of ${count} at ${cursor.at - 4}`);
  return count;
}

function vectorReader(type: WireType): ReadWire {
  if (type.kind === 'u8') return (cursor) => takeBytes(cursor, takeCount(cursor));
  const element = readerOf(type);
  return (cursor) => Array.from({ length: takeCount(cursor) }, () => element(cursor));
}

function structReader(fields: readonly NamedType[]): (cursor: Cursor) => Record<string, unknown> {
  const readers = fields.map(({ name, type }) => ({ name, read: readerOf(type) }));
  return (cursor) => {
    const value: Record<string, unknown> = {};
    for (const { name, read } of readers) value[name] = read(cursor);
    return value;
  };
}

export interface CompiledEvent {
  readonly name: string;
  /**
   * Nested value of a record's body (after the discriminator). Fields past the end of the data are null when the data
   * ends exactly between two fields: records grow by appending. Throws RecordError when it ends inside one.
   */
  decode(body: Uint8Array): Record<string, unknown>;
}

export function compileEvent(definition: EventDefinition): CompiledEvent {
  const readers = definition.fields.map(({ name, type }) => ({ name, read: readerOf(type) }));
  return {
    name: definition.name,
    decode: (body) => {
      const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
      const cursor: Cursor = { view, bytes: body, at: 0 };
      const value: Record<string, unknown> = {};
      for (const { name, read } of readers) value[name] = cursor.at < body.length ? read(cursor) : null;
      return value;
    },
  };
}

/** A decoded record with its flat fields, or what is known of one that cannot be decoded. */
export interface DecodedRecord {
  readonly name: string;
  readonly data: Record<string, unknown>;
  /** Why the record is carried as UnknownRecord; null for a decoded one. */
  readonly problem: { readonly reason: 'unknown_record' | 'damaged_record'; readonly detail: string } | null;
}

export interface EventDecoder {
  readonly known: KnownRecords;
  decode(payload: Payload): DecodedRecord;
}

interface Known {
  readonly definition: EventDefinition;
  readonly compiled: CompiledEvent;
}

/** Decoder of all records of a chain definition's programs. */
export function compileEvents(chain: ChainDefinition): EventDecoder {
  const named = new Set(EVENT_NAMES);
  const known = new Map<string, ReadonlyMap<string, Known>>();
  for (const program of chain.programs) {
    const events = new Map<string, Known>();
    for (const [hex, definition] of program.events) {
      events.set(hex, { definition, compiled: compileEvent(definition) });
    }
    known.set(program.programId, events);
  }
  return {
    known,
    decode: (payload) => {
      const hex = payload.bytes.toString('hex', 0, DISCRIMINATOR_BYTES);
      const found = known.get(payload.program)?.get(hex);
      if (!found) return unknownRecord(payload, null, 'unknown_record', `discriminator ${hex}`);
      const { name, fields } = found.definition;
      if (payload.damaged) return unknownRecord(payload, name, 'damaged_record', `${name} line was cut`);
      if (fields.length === 0 || !named.has(name)) return unknownRecord(payload, name, 'unknown_record', name);
      try {
        const value = found.compiled.decode(payload.bytes.subarray(DISCRIMINATOR_BYTES));
        return { name, data: flattenRecord(fields, value), problem: null };
      } catch (error) {
        if (!(error instanceof RecordError)) throw error;
        return unknownRecord(payload, name, 'damaged_record', `${name}: ${error.message}`);
      }
    },
  };
}

/** The record as bytes, so that nothing of it is lost. */
export function unknownRecord(
  payload: Payload,
  recordName: string | null,
  reason: 'unknown_record' | 'damaged_record',
  detail: string,
): DecodedRecord {
  const discriminator = new Uint8Array(DISCRIMINATOR_BYTES);
  discriminator.set(payload.bytes.subarray(0, DISCRIMINATOR_BYTES));
  return {
    name: 'UnknownRecord',
    data: {
      program: bs58.decode(payload.program),
      discriminator,
      record_name: recordName,
      raw: Uint8Array.from(payload.bytes),
    },
    problem: { reason, detail },
  };
}
