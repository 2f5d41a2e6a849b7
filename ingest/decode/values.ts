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

/** A name: UTF-8, filled up with spaces or zeros. */
export function textAt(view: DataView, at: number, length: number): string {
  return Buffer.from(bytesAt(view, at, length))
    .toString('utf8')
    .replaceAll('\0', ' ')
    .trim();
}

/** Variant of an enum by its ordinal; an ordinal of a newer program is named `unknown(7)`. */
export function variantOf(variants: readonly string[], ordinal: number): string {
  return variants[ordinal] ?? `unknown(${ordinal})`;
}

/**
 * Reader of a whole struct, as chain records have it: 64 bits and more are bigint, keys and bytes Uint8Array, enums their
 * variant. It is compiled to source, because an object literal has its shape from the start: five times as fast as adding
 * hundreds of members one by one. Names come from a definition file and enter the source only as JSON strings.
 */
export function structReader(layout: StructLayout): Read<Record<string, unknown>> {
  const functions: string[] = [];
  const variants: (readonly string[])[] = [];
  const root = writeStruct(layout, functions, variants);
  const source = `'use strict';${functions.join('\n')}\nreturn ${root};`;
  return new Function('bytesAt', 'variantOf', 'variants', source)(bytesAt, variantOf, variants) as Read<
    Record<string, unknown>
  >;
}

/** Writes the function of a struct after those of the structs in it; returns its name. */
function writeStruct(layout: StructLayout, functions: string[], variants: (readonly string[])[]): string {
  const members = layout.fields.map(
    ({ name, offset, type }) => `${JSON.stringify(name)}: ${expressionOf(type, `at + ${offset}`, functions, variants)}`,
  );
  const name = `struct${functions.length}`;
  functions.push(`function ${name}(view, at) { return { ${members.join(', ')} }; }`);
  return name;
}

const SCALARS: Readonly<Record<string, (at: string) => string>> = {
  u8: (at) => `view.getUint8(${at})`,
  i8: (at) => `view.getInt8(${at})`,
  u16: (at) => `view.getUint16(${at}, true)`,
  i16: (at) => `view.getInt16(${at}, true)`,
  u32: (at) => `view.getUint32(${at}, true)`,
  i32: (at) => `view.getInt32(${at}, true)`,
  u64: (at) => `view.getBigUint64(${at}, true)`,
  i64: (at) => `view.getBigInt64(${at}, true)`,
  u128: (at) => `((view.getBigUint64(${at} + 8, true) << 64n) | view.getBigUint64(${at}, true))`,
  i128: (at) => `((view.getBigInt64(${at} + 8, true) << 64n) | view.getBigUint64(${at}, true))`,
  bool: (at) => `view.getUint8(${at}) !== 0`,
  pubkey: (at) => `bytesAt(view, ${at}, ${KEY_BYTES})`,
};

function expressionOf(type: LayoutType, at: string, functions: string[], variants: (readonly string[])[]): string {
  switch (type.kind) {
    case 'bytes':
      return `bytesAt(view, ${at}, ${type.length})`;
    case 'enum':
      variants.push(type.variants);
      return `variantOf(variants[${variants.length - 1}], view.getUint8(${at}))`;
    case 'struct':
      return `${writeStruct(type.layout, functions, variants)}(view, ${at})`;
    case 'array': {
      const element = expressionOf(type.element, 'at', functions, variants);
      const name = `list${functions.length}`;
      functions.push(
        `function ${name}(view, at) { const list = new Array(${type.length});` +
          ` for (let i = 0; i < ${type.length}; i++, at += ${sizeOf(type.element)}) list[i] = ${element}; return list; }`,
      );
      return `${name}(view, ${at})`;
    }
    default: {
      const scalar = SCALARS[type.kind];
      if (!scalar) throw new TypeError(`no reader for ${type.kind}`);
      return scalar(at);
    }
  }
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
