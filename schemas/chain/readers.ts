// Readers at fixed offsets for every type in an account layout, each compiled once. Ingest and the client share them.

import { PUBKEY_BYTES } from './keys.ts';
import type { LayoutType, StructLayout } from './layout.ts';
import { sizeOf } from './layout.ts';

/** Reads a value at an absolute offset of the view. */
export type Read<T> = (view: DataView, at: number) => T;

export const INTEGER_READERS: Readonly<Record<string, Read<number>>> = {
  u8: (view, at) => view.getUint8(at),
  i8: (view, at) => view.getInt8(at),
  u16: (view, at) => view.getUint16(at, true),
  i16: (view, at) => view.getInt16(at, true),
  u32: (view, at) => view.getUint32(at, true),
  i32: (view, at) => view.getInt32(at, true),
};

export const WIDE_READERS: Readonly<Record<string, Read<bigint>>> = {
  u64: (view, at) => view.getBigUint64(at, true),
  i64: (view, at) => view.getBigInt64(at, true),
  u128: (view, at) => (view.getBigUint64(at + 8, true) << 64n) | view.getBigUint64(at, true),
  i128: (view, at) => (view.getBigInt64(at + 8, true) << 64n) | view.getBigUint64(at, true),
};

/** Copies `length` bytes. A view would keep the whole account in memory. */
export function bytesAt(view: DataView, at: number, length: number): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset + at, length).slice();
}

const UTF8 = new TextDecoder();

/** Text of UTF-8 bytes that are padded with spaces or zeros, as names are. */
export function paddedText(bytes: Uint8Array): string {
  return UTF8.decode(bytes).replaceAll('\0', ' ').trim();
}

/** `length` bytes as an array of numbers. */
function numbersAt(view: DataView, at: number, length: number): number[] {
  const list: number[] = new Array(length);
  for (let index = 0; index < length; index += 1) list[index] = view.getUint8(at + index);
  return list;
}

/** Enum variant of an ordinal. An ordinal that the definition does not know reads as `unknown(7)`. */
export function variantOf(variants: readonly string[], ordinal: number): string {
  return variants[ordinal] ?? `unknown(${ordinal})`;
}

/** How a decoded struct looks. */
export interface ReadStyle {
  /** Name of a member, from the snake case of the definition. */
  name(field: string): string;
  /** Arrays of bytes as copies, or as arrays of numbers. */
  readonly bytes: 'copy' | 'numbers';
}

/** Names of the definition, byte arrays as copies. */
export const DEFINITION_STYLE: ReadStyle = { name: (field) => field, bytes: 'copy' };

/**
 * Compiles a reader of a whole struct: 64 bits and more read as bigint, keys and bytes as Uint8Array, enums as variants.
 * Generated source makes one object literal, five times as fast as adding members one by one. Names from a definition
 * enter the source only as JSON strings.
 */
export function structReader(layout: StructLayout, style = DEFINITION_STYLE): Read<Record<string, unknown>> {
  const written: Written = { functions: [], variants: [], style };
  const root = writeStruct(layout, written);
  const source = `'use strict';${written.functions.join('\n')}\nreturn ${root};`;
  try {
    const compile = new Function('bytesAt', 'numbersAt', 'variantOf', 'variants', source);
    return compile(bytesAt, numbersAt, variantOf, written.variants) as Read<Record<string, unknown>>;
  } catch (error) {
    // Pages with a content security policy may forbid generated code.
    if (error instanceof EvalError)
      return plainReader({ kind: 'struct', layout }, style) as Read<Record<string, unknown>>;
    throw error;
  }
}

interface Written {
  readonly functions: string[];
  readonly variants: (readonly string[])[];
  readonly style: ReadStyle;
}

/** Writes the struct's function after the functions of its nested structs. Returns its name. */
function writeStruct(layout: StructLayout, written: Written): string {
  const { functions, style } = written;
  const members = layout.fields.map(
    ({ name, offset, type }) => `${JSON.stringify(style.name(name))}: ${expressionOf(type, `at + ${offset}`, written)}`,
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
  pubkey: (at) => `bytesAt(view, ${at}, ${PUBKEY_BYTES})`,
};

function expressionOf(type: LayoutType, at: string, written: Written): string {
  const { functions, variants, style } = written;
  switch (type.kind) {
    case 'bytes':
      return `${style.bytes === 'copy' ? 'bytesAt' : 'numbersAt'}(view, ${at}, ${type.length})`;
    case 'enum':
      variants.push(type.variants);
      return `variantOf(variants[${variants.length - 1}], view.getUint8(${at}))`;
    case 'struct':
      return `${writeStruct(type.layout, written)}(view, ${at})`;
    case 'array': {
      const element = expressionOf(type.element, 'at', written);
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

/** Reads any type without generated code, a tenth as fast. */
export function plainReader(type: LayoutType, style = DEFINITION_STYLE): Read<unknown> {
  switch (type.kind) {
    case 'bytes':
      return (view, at) => (style.bytes === 'copy' ? bytesAt : numbersAt)(view, at, type.length);
    case 'pubkey':
      return (view, at) => bytesAt(view, at, PUBKEY_BYTES);
    case 'bool':
      return (view, at) => view.getUint8(at) !== 0;
    case 'enum':
      return (view, at) => variantOf(type.variants, view.getUint8(at));
    case 'array': {
      const read = plainReader(type.element, style);
      const size = sizeOf(type.element);
      return (view, at) => Array.from({ length: type.length }, (_, index) => read(view, at + index * size));
    }
    case 'struct': {
      const fields = type.layout.fields.map((field) => ({ ...field, read: plainReader(field.type, style) }));
      return (view, at) =>
        Object.fromEntries(fields.map(({ name, offset, read }) => [style.name(name), read(view, at + offset)]));
    }
    default: {
      const read = INTEGER_READERS[type.kind] ?? WIDE_READERS[type.kind];
      if (!read) throw new TypeError(`no reader for ${type.kind}`);
      return read;
    }
  }
}
