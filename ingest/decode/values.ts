// Readers of fields that may stand elsewhere, have another width or be absent, depending on the revision of the program.

import {
  bytesAt,
  INTEGER_READERS,
  PUBKEY_BYTES,
  paddedText,
  type Read,
  variantOf,
  WIDE_READERS,
} from '../../schemas/index.ts';
import type { FieldOffset } from './layout.ts';

export { bytesAt, type Read };

/** A name: UTF-8, padded with spaces or zeros. */
export function textAt(view: DataView, at: number, length: number): string {
  return paddedText(bytesAt(view, at, length));
}

/** Compiles a reader of values below 2^53: integers of up to 32 bits, enum ordinals, and bool as 0 or 1. */
export function numberReader(found: FieldOffset): Read<number> {
  const kind = found.type.kind === 'enum' || found.type.kind === 'bool' ? 'u8' : found.type.kind;
  const read = INTEGER_READERS[kind];
  if (!read) throw new TypeError(`${kind} is not a number below 2^53`);
  return read;
}

/** Compiles a reader of any integer as bigint, whatever its width in this revision. */
export function bigintReader(found: FieldOffset): Read<bigint> {
  const wide = WIDE_READERS[found.type.kind];
  if (wide) return wide;
  const narrow = numberReader(found);
  return (view, at) => BigInt(narrow(view, at));
}

/** Variants of an enum field. Throws a TypeError for another type. */
export function variantsOf(found: FieldOffset): readonly string[] {
  if (found.type.kind !== 'enum') throw new TypeError(`${found.type.kind} is not an enum`);
  return found.type.variants;
}

/** Reads a field of the whole account at a fixed offset, or the fallback when the revision lacks it. */
export type Field<T> = (view: DataView) => T;

export function numberField(found: FieldOffset | null, fallback = 0): Field<number> {
  if (!found) return () => fallback;
  const read = numberReader(found);
  return (view) => read(view, found.offset);
}

export function bigintField(found: FieldOffset | null, fallback = 0n): Field<bigint> {
  if (!found) return () => fallback;
  const read = bigintReader(found);
  return (view) => read(view, found.offset);
}

export function keyField(found: FieldOffset | null): Field<Uint8Array | null> {
  if (!found) return () => null;
  return (view) => bytesAt(view, found.offset, PUBKEY_BYTES);
}

export function variantField(found: FieldOffset | null, fallback: string): Field<string> {
  if (!found) return () => fallback;
  const variants = variantsOf(found);
  return (view) => variantOf(variants, view.getUint8(found.offset));
}
