// Encodes records with Anchor's event layouts for the log line, and as plain values that tests compare with. Both follow
// the types of the IDL.

import type { Idl } from '@coral-xyz/anchor';
import anchor from '@coral-xyz/anchor';
import { variantName } from '../../schemas/index.ts';
import { chainDefinition } from './accounts.ts';
import { publicKeyOf } from './keys.ts';

/** A record's fields under the program's names: bigint for 64 and 128 bits, base58 keys, camelCase variants, null for none. */
export type RecordData = Record<string, unknown>;

type Converter = (value: unknown) => unknown;

interface RecordCodec {
  readonly discriminator: Uint8Array;
  readonly layout: { encode(value: unknown, buffer: Buffer): number };
  readonly toAnchor: Converter;
  readonly toTruth: Converter;
}

/** Larger than any record of the definition. The runtime would truncate a longer line. */
const RECORD_BYTES_MAX = 8192;
const scratch = Buffer.alloc(RECORD_BYTES_MAX);
let codecs: Map<string, RecordCodec> | undefined;

/** Discriminator and borsh body in base64, for a log line. Throws for an unknown record. */
export function encodeRecord(name: string, data: RecordData): string {
  const codec = codecOf(name);
  scratch.set(codec.discriminator, 0);
  const length = codec.layout.encode(codec.toAnchor(data), scratch.subarray(8));
  return scratch.toString('base64', 0, 8 + length);
}

/** The record as plain JSON values: 64- and 128-bit integers as decimal strings. */
export function truthOf(name: string, data: RecordData): Record<string, unknown> {
  return codecOf(name).toTruth(data) as Record<string, unknown>;
}

function codecOf(name: string): RecordCodec {
  codecs ??= loadCodecs();
  const codec = codecs.get(name);
  if (!codec) throw new Error(`the chain definition has no record ${name}`);
  return codec;
}

function loadCodecs(): Map<string, RecordCodec> {
  const all = new Map<string, RecordCodec>();
  for (const program of chainDefinition().programs) {
    // Anchor's coder only decodes; encoding needs its private layouts.
    const { layouts } = new anchor.BorshEventCoder(program.idl as Idl) as unknown as {
      layouts: Map<string, { discriminator: number[]; layout: RecordCodec['layout'] }>;
    };
    for (const [name, { discriminator, layout }] of layouts) {
      all.set(name, {
        discriminator: Uint8Array.from(discriminator),
        layout,
        toAnchor: converter(program.idl as Idl, { defined: { name } }, anchorLeaf),
        toTruth: converter(program.idl as Idl, { defined: { name } }, truthLeaf),
      });
    }
  }
  return all;
}

type Leaf = (type: string, value: unknown) => unknown;

function anchorLeaf(type: string, value: unknown): unknown {
  if (type === 'pubkey') return publicKeyOf(value as string);
  if (typeof value === 'bigint') return bigNumber(value);
  return value;
}

/** Most amounts are small, and parsing their text takes longer than writing the record. */
function bigNumber(value: bigint): anchor.BN {
  const small = Number(value);
  return new anchor.BN(Number.isSafeInteger(small) ? small : value.toString());
}

function truthLeaf(_type: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}

/** Walks a value by its IDL type. A missing struct field becomes zero, so that models can leave out padding. */
function converter(idl: Idl, type: unknown, leaf: Leaf): Converter {
  if (typeof type === 'string') {
    const zero = zeroOf(type);
    return (value) => leaf(type, value ?? zero);
  }
  const shape = type as {
    option?: unknown;
    vec?: unknown;
    array?: [unknown, number];
    defined?: { name: string };
  };
  if (shape.option !== undefined) {
    const inner = converter(idl, shape.option, leaf);
    return (value) => (value === null || value === undefined ? null : inner(value));
  }
  if (shape.vec !== undefined) {
    const inner = converter(idl, shape.vec, leaf);
    return (value) => ((value ?? []) as unknown[]).map(inner);
  }
  if (shape.array !== undefined) {
    const [element, length] = shape.array;
    const inner = converter(idl, element, leaf);
    return (value) => Array.from({ length }, (_, index) => inner((value as unknown[] | undefined)?.[index]));
  }
  return definedConverter(idl, shape.defined?.name ?? '', leaf);
}

function definedConverter(idl: Idl, name: string, leaf: Leaf): Converter {
  const typeDef = (idl.types ?? []).find((candidate) => candidate.name === name);
  if (!typeDef) throw new Error(`the IDL lacks type ${name}`);
  if (typeDef.type.kind === 'enum') return enumConverter(typeDef.type.variants, leaf);
  if (typeDef.type.kind !== 'struct') throw new Error(`type ${name} is neither struct nor enum`);
  const fields = ((typeDef.type.fields ?? []) as { name: string; type: unknown }[]).map((field) => ({
    name: field.name,
    convert: converter(idl, field.type, leaf),
  }));
  return (value) => {
    const model = (value ?? {}) as Record<string, unknown>;
    const result: Record<string, unknown> = {};
    for (const { name: field, convert } of fields) result[field] = convert(model[field]);
    return result;
  };
}

/** Our variants have camelCase names. Anchor expects an object keyed by the IDL's spelling. */
function enumConverter(variants: readonly { name: string }[], leaf: Leaf): Converter {
  const spelling = new Map(variants.map(({ name }) => [variantName(name), name]));
  const zero = variantName(variants[0]?.name ?? '');
  return (value) => {
    const variant = (value ?? zero) as string;
    const spelled = spelling.get(variant);
    if (spelled === undefined) throw new RangeError(`no such variant: ${variant}`);
    return leaf === anchorLeaf ? { [spelled]: {} } : variant;
  };
}

function zeroOf(type: string): unknown {
  if (/^[ui](64|128)$/.test(type)) return 0n;
  if (type === 'bool') return false;
  if (type === 'pubkey') return '11111111111111111111111111111111';
  return type === 'string' ? '' : 0;
}
