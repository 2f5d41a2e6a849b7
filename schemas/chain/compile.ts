// Compiles IDL files of either Anchor format to account layouts and event shapes. Runs in browsers too: the client uses it.

import type { CurrentIdl, Discriminated, IdlType, IdlTypeDefinition } from './idl-types.ts';
import {
  DISCRIMINATOR_BYTES,
  fixedLayout,
  isScalarKind,
  type NamedType,
  type RecordShape,
  type StructLayout,
  type WireType,
} from './layout.ts';
import { snakeCase, variantName } from './names.ts';
import { convertOldIdl, type OldIdl } from './old-idl.ts';

export interface AccountDefinition {
  readonly name: string;
  readonly discriminator: Uint8Array;
  /** The whole account, or its fixed prefix when it ends in a list. */
  readonly layout: StructLayout;
  /** The fields behind the fixed prefix, in wire order. */
  readonly tail: readonly NamedType[];
}

export interface EventDefinition {
  readonly name: string;
  readonly discriminator: Uint8Array;
  /** In wire order. Empty when the body is not published: such a record becomes an UnknownRecord. */
  readonly fields: readonly NamedType[];
}

export interface CompiledProgram {
  /** base58 */
  readonly programId: string;
  readonly accounts: ReadonlyMap<string, AccountDefinition>;
  /** By the discriminator's 8 bytes in lower-case hex. */
  readonly events: ReadonlyMap<string, EventDefinition>;
  /** Structs of fixed size that are not accounts, such as the nodes behind ClobHeaderV0. Offsets count from their start. */
  readonly types: ReadonlyMap<string, StructLayout>;
}

type TypeTable = ReadonlyMap<string, IdlTypeDefinition>;

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** The first `length` bytes in lower-case hex. */
export function hexOf(bytes: Uint8Array, length = bytes.length): string {
  let text = '';
  for (let index = 0; index < length; index += 1) text += HEX[bytes[index] ?? 0];
  return text;
}

/** The IDL in the current format. Throws an Error when an older one names no program. */
export function currentIdl(source: CurrentIdl | OldIdl): CurrentIdl {
  return 'address' in source ? source : convertOldIdl(source);
}

/** Compiles an IDL. Throws an Error for an unknown type. */
export function compileIdl(idl: CurrentIdl): CompiledProgram {
  const types: TypeTable = new Map((idl.types ?? []).map((type) => [type.name, type]));
  return {
    programId: idl.address,
    accounts: new Map((idl.accounts ?? []).map((account) => [account.name, compileAccount(account, types)])),
    events: new Map(
      (idl.events ?? []).map((event) => [
        hexOf(Uint8Array.from(event.discriminator)),
        {
          name: event.name,
          discriminator: Uint8Array.from(event.discriminator),
          fields: shapeOf(event.name, types).fields,
        },
      ]),
    ),
    types: compileTypes(idl, types),
  };
}

function compileAccount({ name, discriminator }: Discriminated, types: TypeTable): AccountDefinition {
  const shape = shapeOf(name, types);
  const layout = fixedLayout(shape, DISCRIMINATOR_BYTES);
  const tail = shape.fields.slice(layout.fields.length);
  return { name, discriminator: Uint8Array.from(discriminator), layout, tail };
}

function compileTypes(idl: CurrentIdl, types: TypeTable): ReadonlyMap<string, StructLayout> {
  const taken = new Set([...(idl.accounts ?? []), ...(idl.events ?? [])].map(({ name }) => name));
  const layouts = new Map<string, StructLayout>();
  for (const { name, type } of types.values()) {
    if (taken.has(name) || type.kind !== 'struct' || !isReadable(type.fields, types)) continue;
    const shape = shapeOf(name, types);
    const layout = fixedLayout(shape);
    if (layout.fields.length === shape.fields.length) layouts.set(name, layout);
  }
  return layouts;
}

/** Skips types that only instruction arguments use, such as enums that carry values. */
function isReadable(fields: unknown, types: TypeTable): boolean {
  if (!Array.isArray(fields)) return false;
  return fields.every((field: { name?: string; type?: IdlType }) => {
    if (field.name === undefined || field.type === undefined) return false;
    try {
      wireType(field.type, types);
      return true;
    } catch {
      return false;
    }
  });
}

function shapeOf(name: string, types: TypeTable): RecordShape {
  const definition = types.get(name);
  if (definition?.type.kind !== 'struct') throw new Error(`${name} is not a struct of the IDL`);
  const fields = definition.type.fields ?? [];
  return {
    name,
    fields: fields.map((field) => {
      if (typeof field === 'string' || !('name' in field)) throw new Error(`${name} has unnamed fields`);
      return { name: snakeCase(field.name), type: wireType(field.type, types) };
    }),
  };
}

function wireType(type: IdlType, types: TypeTable): WireType {
  if (typeof type === 'string') {
    if (isScalarKind(type)) return { kind: type };
    if (type === 'string') return { kind: 'string' };
    if (type === 'bytes') return { kind: 'vec', element: { kind: 'u8' } };
    throw new Error(`type ${type} is not supported`);
  }
  if ('option' in type) return { kind: 'option', element: wireType(type.option, types) };
  if ('vec' in type) return { kind: 'vec', element: wireType(type.vec, types) };
  if ('array' in type) {
    const [element, length] = type.array;
    if (typeof length !== 'number') throw new Error('generic array lengths are not supported');
    return element === 'u8' ? { kind: 'bytes', length } : { kind: 'array', length, element: wireType(element, types) };
  }
  if ('defined' in type) return definedType(type.defined.name, types);
  throw new Error(`type ${JSON.stringify(type)} is not supported`);
}

function definedType(name: string, types: TypeTable): WireType {
  const definition = types.get(name);
  if (!definition) throw new Error(`type ${name} is not defined`);
  const body = definition.type;
  if (body.kind === 'type') return wireType(body.alias, types);
  if (body.kind === 'struct') return { kind: 'struct', layout: shapeOf(name, types) };
  const withFields = body.variants.find((variant) => (variant.fields?.length ?? 0) > 0);
  if (withFields) throw new Error(`enum ${name} carries values in ${withFields.name}`);
  return { kind: 'enum', name, variants: body.variants.map((variant) => variantName(variant.name)) };
}
