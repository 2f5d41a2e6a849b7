// Older Anchor IDL files (publicKey, camelCase, no discriminators) turned into the current format, so that the rest of
// the house knows only one. Drift's published IDL is of the older kind.

import { createHash } from 'node:crypto';
import type { Idl } from '@coral-xyz/anchor';
import { snakeCase } from './names.ts';

type Types = NonNullable<Idl['types']>;
type TypeDefinition = Types[number];
type Field = { name: string; docs?: string[]; type: FieldType };
type FieldType = Extract<TypeDefinition['type'], { kind: 'type' }>['alias'];

export type OldType =
  | string
  | { defined: string }
  | { option: OldType }
  | { coption: OldType }
  | { vec: OldType }
  | { array: [OldType, number] };
export interface OldField {
  name: string;
  docs?: string[];
  type: OldType;
}
export type OldBody =
  | { kind: 'struct'; fields: OldField[] }
  | { kind: 'enum'; variants: { name: string; fields?: OldField[] | OldType[] }[] };
export interface OldIdl {
  name: string;
  version: string;
  metadata?: { address?: string };
  accounts?: { name: string; type: OldBody }[];
  types?: { name: string; type: OldBody }[];
  events?: { name: string; fields: OldField[] }[];
}

/** Program ids for old files that do not carry one, by IDL name. */
const KNOWN_PROGRAM_IDS: Readonly<Record<string, string>> = {
  drift: 'dRiftyHA39MWEi3m9aunc5MzRF1JYuBsbn6VPcn33UH',
};

/** First 8 bytes of SHA-256 over `account:Name` or `event:Name`. */
export function discriminatorOf(space: 'account' | 'event', name: string): number[] {
  return [...createHash('sha256').update(`${space}:${name}`).digest().subarray(0, 8)];
}

/**
 * The same IDL in the current format, instructions left out. Throws an Error when the file names no program and the
 * program is not a known one.
 */
export function convertOldIdl(old: OldIdl): Idl {
  const address = old.metadata?.address ?? KNOWN_PROGRAM_IDS[old.name];
  if (!address) throw new Error(`IDL ${old.name} has no program address (metadata.address)`);
  const accounts = old.accounts ?? [];
  const events = old.events ?? [];
  const named = [
    ...accounts,
    ...(old.types ?? []),
    ...events.map(({ name, fields }) => ({ name, type: { kind: 'struct' as const, fields } })),
  ];
  return {
    address,
    metadata: { name: old.name, version: old.version, spec: '0.1.0' },
    instructions: [],
    accounts: accounts.map(({ name }) => ({ name, discriminator: discriminatorOf('account', name) })),
    events: events.map(({ name }) => ({ name, discriminator: discriminatorOf('event', name) })),
    types: named.map(({ name, type }) => ({ name, type: convertBody(type) })),
  };
}

function convertBody(body: OldBody): TypeDefinition['type'] {
  if (body.kind === 'struct') return { kind: 'struct', fields: body.fields.map(convertField) };
  return {
    kind: 'enum',
    variants: body.variants.map(({ name, fields }) =>
      fields?.length ? { name, fields: convertVariantFields(fields) } : { name },
    ),
  };
}

function convertVariantFields(fields: OldField[] | OldType[]): Field[] | FieldType[] {
  return isNamed(fields) ? fields.map(convertField) : fields.map(convertType);
}

function isNamed(fields: OldField[] | OldType[]): fields is OldField[] {
  const first = fields[0];
  return typeof first === 'object' && 'name' in first;
}

function convertField(field: OldField): Field {
  const converted: Field = { name: snakeCase(field.name), type: convertType(field.type) };
  if (field.docs) converted.docs = field.docs;
  return converted;
}

function convertType(type: OldType): FieldType {
  if (typeof type === 'string') return (type === 'publicKey' ? 'pubkey' : type) as FieldType;
  if ('defined' in type) return { defined: { name: type.defined } };
  if ('option' in type) return { option: convertType(type.option) };
  if ('coption' in type) return { coption: convertType(type.coption) };
  if ('vec' in type) return { vec: convertType(type.vec) };
  return { array: [convertType(type.array[0]), type.array[1]] };
}
