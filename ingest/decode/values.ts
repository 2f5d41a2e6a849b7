// Offset reads for every kind of value in an account layout, compiled once per field into a closure.

import type { LayoutType, StructLayout } from '../../schemas/index.ts';
import { sizeOf } from '../../schemas/index.ts';
import type { Place } from './layout.ts';

/** Reads a value at an absolute offset of the view. */
export type Read<T> = (view: DataView, at: number) => T;

const INTEGERS: Readonly<Record<string, Read<number>>> = {
  u8: (view, at) => view.getUint8(at),
  i8: (view, at) => view.getInt8(at),
  u16: (view, at) => view.getUint16(at, true),
  i16: (view, at) => view.getInt16(at, true),
  u32: (view, at) => view.getUint32(at, true),
  i32: (view, at) => view.getInt32(at, true),
};

const WIDE: Readonly<Record<string, Read<bigint>>> = {
  u64: (view, at) => view.getBigUint64(at, true),
  i64: (view, at) => view.getBigInt64(at, true),
  u128: (view, at) => (view.getBigUint64(at + 8, true) << 64n) | view.getBigUint64(at, true),
  i128: (view, at) => (view.getBigInt64(at + 8, true) << 64n) | view.getBigUint64(at, true),
};

const KEY_BYTES = 32;

/** A copy of `length` bytes, so that a kept key does not keep the whole account alive. */
export function bytesAt(view: DataView, at: number, length: number): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset + at, length).slice();
}

/** Variant of an enum by its ordinal; an ordinal of a newer program is named `unknown(7)`. */
export function variantOf(variants: readonly string[], ordinal: number): string {
  return variants[ordinal] ?? `unknown(${ordinal})`;
}

/** Reader of one value of the type, as chain records have it: 64 bits and more are bigint, keys and bytes Uint8Array. */
export function readerOf(type: LayoutType): Read<unknown> {
  switch (type.kind) {
    case 'bool':
      return (view, at) => view.getUint8(at) !== 0;
    case 'pubkey':
      return (view, at) => bytesAt(view, at, KEY_BYTES);
    case 'bytes':
      return (view, at) => bytesAt(view, at, type.length);
    case 'enum':
      return (view, at) => variantOf(type.variants, view.getUint8(at));
    case 'struct':
      return structReader(type.layout);
    case 'array':
      return arrayReader(type.length, sizeOf(type.element), readerOf(type.element));
    default:
      return scalarReader(type.kind);
  }
}

function scalarReader(kind: string): Read<unknown> {
  const read = INTEGERS[kind] ?? WIDE[kind];
  if (!read) throw new TypeError(`no reader for ${kind}`);
  return read;
}

function arrayReader(length: number, stride: number, element: Read<unknown>): Read<unknown[]> {
  return (view, at) => {
    const list = new Array<unknown>(length);
    for (let index = 0; index < length; index++) list[index] = element(view, at + index * stride);
    return list;
  };
}

function structReader(layout: StructLayout): Read<Record<string, unknown>> {
  const fields = layout.fields.map((field) => ({
    name: field.name,
    offset: field.offset,
    read: readerOf(field.type),
  }));
  return (view, at) => {
    const value: Record<string, unknown> = {};
    for (const field of fields) value[field.name] = field.read(view, at + field.offset);
    return value;
  };
}

/** Reader of a value below 2^53: whole numbers up to 32 bits, enum ordinals, and bool as 0 or 1. */
export function numberReader(found: Place): Read<number> {
  const kind = found.type.kind === 'enum' || found.type.kind === 'bool' ? 'u8' : found.type.kind;
  const read = INTEGERS[kind];
  if (!read) throw new TypeError(`${kind} is not a small number`);
  return read;
}

/** Reader of any whole number as bigint, whatever its width in this revision. */
export function bigintReader(found: Place): Read<bigint> {
  const wide = WIDE[found.type.kind];
  if (wide) return wide;
  const narrow = numberReader(found);
  return (view, at) => BigInt(narrow(view, at));
}

/** The variants of an enum field. Throws a TypeError when the field is no enum. */
export function variantsOf(found: Place): readonly string[] {
  if (found.type.kind !== 'enum') throw new TypeError(`${found.type.kind} is not an enum`);
  return found.type.variants;
}

/** A field of the whole account bound to its offset; `fallback` when the revision lacks it. */
export type Field<T> = (view: DataView) => T;

export function numberField(found: Place | null, fallback = 0): Field<number> {
  if (!found) return () => fallback;
  const read = numberReader(found);
  return (view) => read(view, found.offset);
}

export function bigintField(found: Place | null, fallback = 0n): Field<bigint> {
  if (!found) return () => fallback;
  const read = bigintReader(found);
  return (view) => read(view, found.offset);
}

export function keyField(found: Place | null): Field<Uint8Array | null> {
  if (!found) return () => null;
  return (view) => bytesAt(view, found.offset, KEY_BYTES);
}

export function variantField(found: Place | null, fallback: string): Field<string> {
  if (!found) return () => fallback;
  const variants = variantsOf(found);
  return (view) => variantOf(variants, view.getUint8(found.offset));
}
