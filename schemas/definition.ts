// The chain definition: which programs to read, their account layouts and event shapes, as compiled from IDL files.

import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Idl } from '@coral-xyz/anchor';
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
}

export interface EventDefinition {
  readonly name: string;
  readonly discriminator: Uint8Array;
  /** In wire order. Empty when the body is not published: such a record travels as UnknownRecord. */
  readonly fields: readonly NamedType[];
}

export interface ProgramDefinition {
  /** base58 */
  readonly programId: string;
  readonly idl: Idl;
  readonly accounts: ReadonlyMap<string, AccountDefinition>;
  /** By the discriminator's 8 bytes in lower-case hex. */
  readonly events: ReadonlyMap<string, EventDefinition>;
  /** Structs of fixed size that are not accounts, such as the nodes behind ClobHeaderV0. Offsets from their start. */
  readonly types: ReadonlyMap<string, StructLayout>;
}

export interface ChainDefinition {
  readonly name: string;
  readonly programs: ProgramDefinition[];
}

type IdlTypes = NonNullable<Idl['types']>;
type IdlFieldType = Extract<IdlTypes[number]['type'], { kind: 'type' }>['alias'];
type TypeTable = ReadonlyMap<string, IdlTypes[number]>;

const BUILT_IN: Readonly<Record<string, readonly string[]>> = {
  velocity: ['velocity.json', 'clob.json', 'vaults.json'].map((file) =>
    fileURLToPath(new URL(`./idl/${file}`, import.meta.url)),
  ),
};

/**
 * Reads a chain definition: `velocity` (built in) or the paths of Anchor IDL files separated by commas, in the current or
 * the older format. Throws an Error that names the file when one cannot be read or compiled.
 */
export function loadDefinition(spec: string): ChainDefinition {
  const builtIn = BUILT_IN[spec];
  const paths = builtIn ?? spec.split(',').map((path) => path.trim());
  const name = builtIn ? spec : paths.map((path) => basename(path, '.json')).join('+');
  return { name, programs: paths.map(loadProgram) };
}

/** Account that tells the vault program from the others. */
const VAULT_ACCOUNT = 'Vault';

/**
 * The definition with the vault program under the id that a deployment gives it, base58; empty: without it. The id in the
 * IDL is that of the program's first deployment, whose vaults trade on another exchange.
 */
export function withVaultProgram(definition: ChainDefinition, programId: string): ChainDefinition {
  const programs = definition.programs.flatMap((program) => {
    if (!program.accounts.has(VAULT_ACCOUNT)) return [program];
    return programId === '' ? [] : [{ ...program, programId, idl: { ...program.idl, address: programId } }];
  });
  return { ...definition, programs };
}

function loadProgram(path: string): ProgramDefinition {
  try {
    return compileProgram(JSON.parse(readFileSync(path, 'utf8')) as Idl | OldIdl);
  } catch (cause) {
    const text = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`chain definition ${path}: ${text}`, { cause });
  }
}

/** Compiles one IDL of either format. Throws an Error for a type it does not know. */
export function compileProgram(source: Idl | OldIdl): ProgramDefinition {
  const idl = 'address' in source ? source : convertOldIdl(source);
  const types: TypeTable = new Map((idl.types ?? []).map((type) => [type.name, type]));
  return {
    programId: idl.address,
    idl,
    accounts: new Map((idl.accounts ?? []).map((account) => [account.name, compileAccount(account, types)])),
    events: new Map(
      (idl.events ?? []).map((event) => [
        Buffer.from(event.discriminator).toString('hex'),
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

function compileAccount(account: { name: string; discriminator: number[] }, types: TypeTable): AccountDefinition {
  return {
    name: account.name,
    discriminator: Uint8Array.from(account.discriminator),
    layout: fixedLayout(shapeOf(account.name, types), DISCRIMINATOR_BYTES),
  };
}

function compileTypes(idl: Idl, types: TypeTable): ReadonlyMap<string, StructLayout> {
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

/** Instruction arguments may use enums that carry values; those types are of no use here. */
function isReadable(fields: unknown, types: TypeTable): boolean {
  if (!Array.isArray(fields)) return false;
  return fields.every((field: { name?: string; type?: IdlFieldType }) => {
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

function wireType(type: IdlFieldType, types: TypeTable): WireType {
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
