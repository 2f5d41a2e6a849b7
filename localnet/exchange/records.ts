// Encodes records as Anchor does for the log line, and as plain values that tests compare with. Both follow the types of the IDL.
// Each type is compiled once into a list of writes: Anchor's coder takes ten times as long. Tests check that both give the same bytes.

import type { Idl } from '@coral-xyz/anchor';
import { variantName } from '../../schemas/index.ts';
import { chainDefinition, fixedSizeOf, fixedWriter, isFixed } from './accounts.ts';
import { NO_KEY } from './keys.ts';

/** A record's fields under the program's names: bigint for 64 and 128 bits, base58 keys, camelCase variants, null for none. */
export type RecordData = Record<string, unknown>;

/** Where the next value is written. */
interface Output {
  readonly view: DataView;
  at: number;
}

/** Of one IDL type: how its values are written as borsh, and how tests see them. */
interface TypeCodec {
  readonly write: (value: unknown, output: Output) => void;
  readonly toTruth: (value: unknown) => unknown;
}

interface RecordCodec extends TypeCodec {
  readonly discriminator: Uint8Array;
}

/** Larger than any record of the definition. The runtime would truncate a longer line. */
const RECORD_BYTES_MAX = 8192;
const scratch = Buffer.alloc(RECORD_BYTES_MAX);
const scratchView = new DataView(scratch.buffer, scratch.byteOffset, RECORD_BYTES_MAX);
let codecs: Map<string, RecordCodec> | undefined;

/** Discriminator and borsh body in base64, for a log line. Throws for an unknown record. */
export function encodeRecord(name: string, data: RecordData): string {
  const codec = codecOf(name);
  scratch.set(codec.discriminator, 0);
  const output: Output = { view: scratchView, at: codec.discriminator.length };
  codec.write(data, output);
  return scratch.toString('base64', 0, output.at);
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
  for (const { idl } of chainDefinition().programs) {
    for (const { name, discriminator } of (idl as Idl).events ?? []) {
      all.set(name, { discriminator: Uint8Array.from(discriminator), ...definedCodec(idl as Idl, name) });
    }
  }
  return all;
}

/** A missing struct field becomes zero, so that models can leave out padding. */
function codecOfType(idl: Idl, type: unknown): TypeCodec {
  if (typeof type === 'string') return leafCodec(type);
  const shape = type as {
    option?: unknown;
    vec?: unknown;
    array?: [unknown, number];
    defined?: { name: string };
  };
  if (shape.option !== undefined) return optionCodec(codecOfType(idl, shape.option));
  if (shape.vec !== undefined) return vecCodec(codecOfType(idl, shape.vec));
  if (shape.array !== undefined) return arrayCodec(codecOfType(idl, shape.array[0]), shape.array[1]);
  return definedCodec(idl, shape.defined?.name ?? '');
}

function leafCodec(type: string): TypeCodec {
  if (type === 'string') return STRING;
  if (!isFixed(type)) throw new Error(`no record has a field of type ${type}`);
  const zero = zeroOf(type);
  const put = fixedWriter(type);
  const size = fixedSizeOf(type);
  const limits = limitsOf(type, size);
  return {
    write: (value, output) => {
      const amount = value ?? zero;
      if (limits && !((amount as bigint) >= limits.min && (amount as bigint) <= limits.max)) {
        throw new RangeError(`${String(amount)} is no ${type}`);
      }
      put(amount, output.view, output.at);
      output.at += size;
    },
    toTruth: (value) => (typeof value === 'bigint' ? value.toString() : (value ?? truthOfZero(zero))),
  };
}

/** UTF-8 after its length in bytes. */
const STRING: TypeCodec = {
  write: (value, output) => {
    const text = Buffer.from((value ?? '') as string);
    output.view.setUint32(output.at, text.length, true);
    new Uint8Array(output.view.buffer, output.view.byteOffset + output.at + 4, text.length).set(text);
    output.at += 4 + text.length;
  },
  toTruth: (value) => value ?? '',
};

function optionCodec({ write, toTruth }: TypeCodec): TypeCodec {
  const isNone = (value: unknown) => value === null || value === undefined;
  return {
    write: (value, output) => {
      output.view.setUint8(output.at++, isNone(value) ? 0 : 1);
      if (!isNone(value)) write(value, output);
    },
    toTruth: (value) => (isNone(value) ? null : toTruth(value)),
  };
}

function vecCodec({ write, toTruth }: TypeCodec): TypeCodec {
  const listOf = (value: unknown) => (value ?? []) as readonly unknown[];
  return {
    write: (value, output) => {
      const list = listOf(value);
      output.view.setUint32(output.at, list.length, true);
      output.at += 4;
      for (const element of list) write(element, output);
    },
    toTruth: (value) => listOf(value).map(toTruth),
  };
}

function arrayCodec({ write, toTruth }: TypeCodec, length: number): TypeCodec {
  const elementsOf = (value: unknown) =>
    Array.from({ length }, (_, index) => (value as readonly unknown[] | undefined)?.[index]);
  return {
    write: (value, output) => {
      for (const element of elementsOf(value)) write(element, output);
    },
    toTruth: (value) => elementsOf(value).map(toTruth),
  };
}

function definedCodec(idl: Idl, name: string): TypeCodec {
  const typeDef = (idl.types ?? []).find((candidate) => candidate.name === name);
  if (!typeDef) throw new Error(`the IDL lacks type ${name}`);
  if (typeDef.type.kind === 'enum') return enumCodec(typeDef.type.variants);
  if (typeDef.type.kind !== 'struct') throw new Error(`type ${name} is neither struct nor enum`);
  const fields = ((typeDef.type.fields ?? []) as { name: string; type: unknown }[]).map((field) => ({
    name: field.name,
    ...codecOfType(idl, field.type),
  }));
  const modelOf = (value: unknown) => (value ?? {}) as Record<string, unknown>;
  return {
    write: (value, output) => {
      const model = modelOf(value);
      for (const field of fields) field.write(model[field.name], output);
    },
    toTruth: (value) => {
      const model = modelOf(value);
      const result: Record<string, unknown> = {};
      for (const { name: field, toTruth } of fields) result[field] = toTruth(model[field]);
      return result;
    },
  };
}

/** Our variants have camelCase names. */
function enumCodec(variants: readonly { name: string }[]): TypeCodec {
  const names = variants.map(({ name }) => variantName(name));
  const ordinals = new Map(names.map((name, ordinal) => [name, ordinal]));
  const [zero = ''] = names;
  const ordinalOf = (variant: string): number => {
    const ordinal = ordinals.get(variant);
    if (ordinal === undefined) throw new RangeError(`no such variant: ${variant}`);
    return ordinal;
  };
  return {
    write: (value, output) => output.view.setUint8(output.at++, ordinalOf((value ?? zero) as string)),
    toTruth: (value) => names[ordinalOf((value ?? zero) as string)],
  };
}

/** Range of an integer type; null for other types. Numbers and bigints compare with each other. */
function limitsOf(type: string, size: number): { readonly min: bigint; readonly max: bigint } | null {
  if (!/^[ui]\d/.test(type)) return null;
  const values = 2n ** BigInt(8 * size);
  const min = type.startsWith('i') ? -(values / 2n) : 0n;
  return { min, max: min + values - 1n };
}

function zeroOf(type: string): unknown {
  if (/^[ui](64|128)$/.test(type)) return 0n;
  if (type === 'bool') return false;
  return type === 'pubkey' ? NO_KEY : 0;
}

const truthOfZero = (zero: unknown): unknown => (typeof zero === 'bigint' ? zero.toString() : zero);
