// Filters for `getProgramAccounts`: by discriminator and by fields, never by size, because accounts grow.

import bs58 from 'bs58';
import type { AccountDefinition, FieldLayout } from '../../schemas/portable.ts';
import { fieldOf, PUBKEY_BYTES, snakeCase } from '../../schemas/portable.ts';

export interface MemcmpFilter {
  readonly memcmp: { readonly offset: number; readonly bytes: string };
}

/** Value of a field in a filter: a number, a flag, an enum variant, or a key as base58 or bytes. */
export type FilterValue = number | bigint | boolean | string | Uint8Array;

/** Widths in bytes of integers. */
const WIDTHS: Readonly<Record<string, number>> = { u8: 1, i8: 1, u16: 2, i16: 2, u32: 4, i32: 4, u64: 8, i64: 8 };

/**
 * The filters of an account kind. `fields` are paths with values, for example `{ idle: false, authority: 'Fh3…' }`.
 * Throws an Error for a path that the account lacks or a value that its type cannot have.
 */
export function filtersOf(
  { name, discriminator, layout }: AccountDefinition,
  fields: Readonly<Record<string, FilterValue>>,
): MemcmpFilter[] {
  const own = Object.entries(fields).map(([path, value]) => {
    const field = fieldOf(layout, path.split('.').map(snakeCase).join('.'));
    if (!field) throw new Error(`${name} has no field ${path}`);
    return filter(field.offset, bytesOf(field, path, value));
  });
  return [filter(0, discriminator), ...own];
}

function filter(offset: number, bytes: Uint8Array): MemcmpFilter {
  return { memcmp: { offset, bytes: bs58.encode(bytes) } };
}

function bytesOf({ type }: FieldLayout, path: string, value: FilterValue): Uint8Array {
  if (type.kind === 'bool' && typeof value === 'boolean') return Uint8Array.of(value ? 1 : 0);
  if (type.kind === 'enum' && typeof value === 'string') {
    const ordinal = type.variants.indexOf(value);
    if (ordinal >= 0) return Uint8Array.of(ordinal);
  }
  if (type.kind === 'pubkey' && typeof value === 'string') return bs58.decode(value);
  if (type.kind === 'pubkey' && value instanceof Uint8Array && value.length === PUBKEY_BYTES) return value;
  const width = WIDTHS[type.kind];
  if (width !== undefined && (typeof value === 'bigint' || Number.isInteger(value))) {
    const bytes = new DataView(new ArrayBuffer(8));
    bytes.setBigInt64(0, BigInt(value as bigint | number), true);
    return new Uint8Array(bytes.buffer, 0, width);
  }
  throw new Error(`${path} cannot be ${String(value)}`);
}
