// Encodes account models as bytes. Each layout is compiled once into a flat list of writes, because Anchor's coder takes
// far longer per account; tests check that both give the same bytes.

import type { ChainDefinition, LayoutType, StructLayout } from '../../schemas/index.ts';
import { loadDefinition } from '../../schemas/index.ts';
import { keyBytes } from './keys.ts';
import type { Stored } from './model.ts';

/** Writes a model at an offset. Fields that the model lacks keep their bytes. */
export type Writer = (value: unknown, view: DataView, at: number) => void;

interface CompiledAccount {
  readonly size: number;
  readonly discriminator: Uint8Array;
  readonly write: Writer;
}

let definition: ChainDefinition | undefined;
const compiled = new Map<string, CompiledAccount>();
const compiledStructs = new Map<string, Writer>();

/** The chain definition of the simulated exchange. */
export function chainDefinition(): ChainDefinition {
  definition ??= loadDefinition('velocity');
  return definition;
}

/** Bytes of an account, with its zero tail. Throws when the definition lacks the account's type. */
export function encodeAccount(stored: Stored): Uint8Array {
  const account = compiledAccount(stored.type);
  const bytes = new Uint8Array(account.size + stored.grown);
  bytes.set(account.discriminator, 0);
  account.write(stored.account, new DataView(bytes.buffer), 0);
  return bytes;
}

/** Writer of a struct outside an account's top level, such as a node of an order account. */
export function structWriter(name: string): Writer {
  const known = compiledStructs.get(name);
  if (known) return known;
  for (const program of chainDefinition().programs) {
    const layout = program.types.get(name);
    if (!layout) continue;
    const made = compileStruct(layout);
    compiledStructs.set(name, made);
    return made;
  }
  throw new Error(`the chain definition has no struct ${name}`);
}

function compiledAccount(type: string): CompiledAccount {
  const known = compiled.get(type);
  if (known) return known;
  for (const program of chainDefinition().programs) {
    const account = program.accounts.get(type);
    if (!account) continue;
    const made = {
      size: account.layout.size,
      discriminator: account.discriminator,
      write: compileStruct(account.layout),
    };
    compiled.set(type, made);
    return made;
  }
  throw new Error(`the chain definition has no account ${type}`);
}

function compileStruct(layout: StructLayout): Writer {
  const fields = layout.fields.map((field) => ({
    name: field.name,
    offset: field.offset,
    write: compileType(field.type),
  }));
  return (value, view, at) => {
    if (value === null || value === undefined) return;
    const model = value as Record<string, unknown>;
    for (const field of fields) {
      const part = model[field.name];
      if (part !== undefined) field.write(part, view, at + field.offset);
    }
  };
}

const FIXED = ['u8', 'i8', 'u16', 'i16', 'u32', 'i32', 'u64', 'i64', 'u128', 'i128', 'bool', 'pubkey'] as const;
type Fixed = (typeof FIXED)[number];

/** Whether it is a type without parts, always of the same size. */
export function isFixed(type: string): type is Fixed {
  return (FIXED as readonly string[]).includes(type);
}

export const fixedWriter = (kind: Fixed): Writer => compileType({ kind });
/** Bytes. */
export const fixedSizeOf = (kind: Fixed): number => sizeOf({ kind });

function compileType(type: LayoutType): Writer {
  switch (type.kind) {
    case 'u8':
      return (value, view, at) => view.setUint8(at, value as number);
    case 'i8':
      return (value, view, at) => view.setInt8(at, value as number);
    case 'u16':
      return (value, view, at) => view.setUint16(at, value as number, true);
    case 'i16':
      return (value, view, at) => view.setInt16(at, value as number, true);
    case 'u32':
      return (value, view, at) => view.setUint32(at, value as number, true);
    case 'i32':
      return (value, view, at) => view.setInt32(at, value as number, true);
    case 'u64':
      return (value, view, at) => view.setBigUint64(at, value as bigint, true);
    case 'i64':
      return (value, view, at) => view.setBigInt64(at, value as bigint, true);
    case 'u128':
    case 'i128':
      return (value, view, at) => {
        view.setBigUint64(at, BigInt.asUintN(64, value as bigint), true);
        view.setBigInt64(at + 8, (value as bigint) >> 64n, true);
      };
    case 'bool':
      return (value, view, at) => view.setUint8(at, value === true ? 1 : 0);
    case 'pubkey':
      return (value, view, at) => bytesAt(view, at, 32).set(keyBytes(value as string));
    case 'bytes':
      return (value, view, at) => bytesAt(view, at, type.length).set(value as ArrayLike<number>);
    case 'enum':
      return enumWriter(type.variants);
    case 'struct':
      return compileStruct(type.layout);
    case 'array':
      return arrayWriter(type.element, type.length);
    default:
      throw new Error(`no account field is written as ${(type as LayoutType).kind}`);
  }
}

function bytesAt(view: DataView, at: number, length: number): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset + at, length);
}

function enumWriter(variants: readonly string[]): Writer {
  const ordinals = new Map(variants.map((variant, ordinal) => [variant, ordinal]));
  return (value, view, at) => {
    const ordinal = ordinals.get(value as string);
    if (ordinal === undefined) throw new RangeError(`no such variant: ${String(value)}`);
    view.setUint8(at, ordinal);
  };
}

function arrayWriter(element: LayoutType, length: number): Writer {
  const write = compileType(element);
  const size = sizeOf(element);
  return (value, view, at) => {
    const list = value as readonly unknown[];
    if (list.length > length) throw new RangeError(`${list.length} elements in an array of ${length}`);
    for (let index = 0; index < list.length; index++) write(list[index], view, at + index * size);
  };
}

function sizeOf(type: LayoutType): number {
  switch (type.kind) {
    case 'struct':
      return type.layout.size;
    case 'array':
      return sizeOf(type.element) * type.length;
    case 'bytes':
      return type.length;
    case 'pubkey':
      return 32;
    case 'u128':
    case 'i128':
      return 16;
    case 'u64':
    case 'i64':
      return 8;
    case 'u32':
    case 'i32':
      return 4;
    case 'u16':
    case 'i16':
      return 2;
    default:
      return 1;
  }
}
