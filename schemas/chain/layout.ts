// Byte layouts of accounts and wire shapes of events. Compiled from an IDL once, so that decoders read by offset.

import { PUBKEY_BYTES } from './keys.ts';

export type ScalarKind =
  | 'u8'
  | 'i8'
  | 'u16'
  | 'i16'
  | 'u32'
  | 'i32'
  | 'u64'
  | 'i64'
  | 'u128'
  | 'i128'
  | 'bool'
  | 'pubkey';

/** Variants in lower camel case; the index is the ordinal. One byte on the wire. */
export interface EnumType {
  readonly kind: 'enum';
  readonly name: string;
  readonly variants: readonly string[];
}

/** A type of fixed size. `bytes` is an array of u8. */
export type LayoutType =
  | { readonly kind: ScalarKind }
  | { readonly kind: 'bytes'; readonly length: number }
  | EnumType
  | { readonly kind: 'struct'; readonly layout: StructLayout }
  | { readonly kind: 'array'; readonly length: number; readonly element: LayoutType };

/** A field of a zero-copy struct. `offset` counts from the start of its struct, in accounts from the first byte. */
export interface FieldLayout {
  readonly name: string;
  readonly offset: number;
  readonly size: number;
  readonly type: LayoutType;
}

/** The size of an account includes its 8-byte discriminator. */
export interface StructLayout {
  readonly name: string;
  readonly size: number;
  readonly fields: readonly FieldLayout[];
}

/** A borsh type: fixed size, or a size that depends on the value. */
export type WireType =
  | { readonly kind: ScalarKind }
  | { readonly kind: 'bytes'; readonly length: number }
  | EnumType
  | { readonly kind: 'struct'; readonly layout: RecordShape }
  | { readonly kind: 'array'; readonly length: number; readonly element: WireType }
  | { readonly kind: 'option'; readonly element: WireType }
  | { readonly kind: 'vec'; readonly element: WireType }
  | { readonly kind: 'string' };

export interface NamedType {
  readonly name: string;
  readonly type: WireType;
}

/** Fields in wire order. */
export interface RecordShape {
  readonly name: string;
  readonly fields: readonly NamedType[];
}

export const DISCRIMINATOR_BYTES = 8;

const SCALAR_BYTES: Readonly<Record<ScalarKind, number>> = {
  u8: 1,
  i8: 1,
  bool: 1,
  u16: 2,
  i16: 2,
  u32: 4,
  i32: 4,
  u64: 8,
  i64: 8,
  u128: 16,
  i128: 16,
  pubkey: PUBKEY_BYTES,
};

export function isScalarKind(text: string): text is ScalarKind {
  return Object.hasOwn(SCALAR_BYTES, text);
}

/** Size in bytes. */
export function sizeOf(type: LayoutType): number {
  if (type.kind === 'bytes') return type.length;
  if (type.kind === 'enum') return 1;
  if (type.kind === 'struct') return type.layout.size;
  if (type.kind === 'array') return type.length * sizeOf(type.element);
  return SCALAR_BYTES[type.kind];
}

/**
 * Fixed layout of a shape from offset `start`. Zero-copy structs declare their padding, so the offsets follow from the sizes.
 * Stops before the first field of variable size: an account that ends in a list gets the layout of its fixed prefix.
 */
export function fixedLayout(shape: RecordShape, start = 0): StructLayout {
  const fields: FieldLayout[] = [];
  let offset = start;
  for (const field of shape.fields) {
    const type = fixedType(field.type);
    if (type === null) break;
    const size = sizeOf(type);
    fields.push({ name: field.name, offset, size, type });
    offset += size;
  }
  return { name: shape.name, size: offset, fields };
}

/** The type as one of fixed size; null when the size depends on the value. */
export function fixedType(type: WireType): LayoutType | null {
  switch (type.kind) {
    case 'option':
    case 'vec':
    case 'string':
      return null;
    case 'array': {
      const element = fixedType(type.element);
      return element && { kind: 'array', length: type.length, element };
    }
    case 'struct': {
      const layout = fixedLayout(type.layout);
      return layout.fields.length === type.layout.fields.length ? { kind: 'struct', layout } : null;
    }
    default:
      return type;
  }
}

/**
 * The field at a path such as `market_stats.mm_oracle_price` or `orders.3.price`. Its offset counts from the start of
 * `layout`. Null when the definition has no such field.
 */
export function fieldOf(layout: StructLayout, path: string): FieldLayout | null {
  let at: Pick<FieldLayout, 'offset' | 'type'> = { offset: 0, type: { kind: 'struct', layout } };
  let found: FieldLayout | null = null;
  for (const name of path.split('.')) {
    const next = step(at.type, name);
    if (!next) return null;
    found = { ...next, offset: at.offset + next.offset };
    at = found;
  }
  return found;
}

function step(type: LayoutType, name: string): FieldLayout | null {
  if (type.kind === 'struct') return type.layout.fields.find((field) => field.name === name) ?? null;
  if (type.kind !== 'array' || !/^\d+$/.test(name)) return null;
  const index = Number(name);
  const size = sizeOf(type.element);
  return index < type.length ? { name, offset: index * size, size, type: type.element } : null;
}
