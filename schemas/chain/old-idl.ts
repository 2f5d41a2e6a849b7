// Converts older Anchor IDL files (publicKey, camelCase, no discriminators) to the current format. Drift publishes its IDL
// in the older format.

import { sha256 } from '@noble/hashes/sha2.js';
import type { CurrentIdl, IdlBody, IdlField, IdlInstruction, IdlType } from './idl-types.ts';
import { snakeCase } from './names.ts';

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
  instructions?: OldInstruction[];
  errors?: { code: number; name: string; msg?: string }[];
}
export interface OldInstruction {
  name: string;
  accounts: { name: string; isMut: boolean; isSigner: boolean }[];
  args: OldField[];
}

/** Program ids by IDL name, for old files that carry none. */
const KNOWN_PROGRAM_IDS: Readonly<Record<string, string>> = {
  drift: 'dRiftyHA39MWEi3m9aunc5MzRF1JYuBsbn6VPcn33UH',
};

/** First 8 bytes of SHA-256 over `account:Name`, `event:Name` or `global:instruction_name`. */
function discriminatorOf(space: 'account' | 'event' | 'global', name: string): number[] {
  return [...sha256(`${space}:${name}`).subarray(0, 8)];
}

/**
 * The same IDL in the current format. Throws an Error when neither the file nor the table of known
 * programs has a program id.
 */
export function convertOldIdl(old: OldIdl): CurrentIdl & { readonly instructions: readonly IdlInstruction[] } {
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
    instructions: (old.instructions ?? []).flatMap(convertInstruction),
    accounts: accounts.map(({ name }) => ({ name, discriminator: discriminatorOf('account', name) })),
    events: events.map(({ name }) => ({ name, discriminator: discriminatorOf('event', name) })),
    types: named.map(({ name, type }) => ({ name, type: convertBody(type) })),
    errors: old.errors ?? [],
  };
}

/** None for an instruction with groups of accounts, which no reader here needs. */
function convertInstruction({ name, accounts, args }: OldInstruction): readonly IdlInstruction[] {
  if (accounts.some(({ isMut }) => isMut === undefined)) return [];
  const instruction = snakeCase(name);
  return [
    {
      name: instruction,
      discriminator: discriminatorOf('global', instruction),
      accounts: accounts.map((account) => ({
        name: snakeCase(account.name),
        ...(account.isMut ? { writable: true } : {}),
        ...(account.isSigner ? { signer: true } : {}),
      })),
      args: args.map(convertField),
    },
  ];
}

function convertBody(body: OldBody): IdlBody {
  if (body.kind === 'struct') return { kind: 'struct', fields: body.fields.map(convertField) };
  return {
    kind: 'enum',
    variants: body.variants.map(({ name, fields }) =>
      fields?.length ? { name, fields: convertVariantFields(fields) } : { name },
    ),
  };
}

function convertVariantFields(fields: OldField[] | OldType[]): IdlField[] | IdlType[] {
  return isNamed(fields) ? fields.map(convertField) : fields.map(convertType);
}

function isNamed(fields: OldField[] | OldType[]): fields is OldField[] {
  const first = fields[0];
  return typeof first === 'object' && 'name' in first;
}

function convertField(field: OldField): IdlField {
  const converted = { name: snakeCase(field.name), type: convertType(field.type) };
  return field.docs ? { ...converted, docs: field.docs } : converted;
}

function convertType(type: OldType): IdlType {
  if (typeof type === 'string') return type === 'publicKey' ? 'pubkey' : type;
  if ('defined' in type) return { defined: { name: type.defined } };
  if ('option' in type) return { option: convertType(type.option) };
  if ('coption' in type) return { coption: convertType(type.coption) } as unknown as IdlType;
  if ('vec' in type) return { vec: convertType(type.vec) };
  return { array: [convertType(type.array[0]), type.array[1]] };
}
