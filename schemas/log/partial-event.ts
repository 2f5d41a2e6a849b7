// Decodes selected members of selected event kinds, for reducers that follow all events. Other kinds end at their envelope;
// the decoder skips other members.

import type { AvroRecord, AvroSchema } from '../chain/event-schemas.ts';
import { parseSchema } from './parse-schema.ts';
import { decodeBody, openRecord, SchemaError, writerOf } from './wire.ts';
import type { Tap, WireType } from './wire-types.ts';

export interface PartialEvent {
  readonly name: string;
  /**
   * The selected members with the values of `decodeEvent`, head members (`slot`, `event_index`, ...) included. A 64-bit
   * integer may be a number when that is exact.
   */
  readonly data: Readonly<Record<string, unknown>>;
}

/** Reads the selected members; null for other kinds. Throws SchemaError for bytes that are no record. */
export type PartialEventDecoder = (bytes: Uint8Array) => PartialEvent | null;

/** `wanted`: member names by event kind. Throws a RangeError for a kind or a member without a schema. */
export function partialEventDecoder(wanted: Readonly<Record<string, readonly string[]>>): PartialEventDecoder {
  const kinds = new Map(Object.entries(wanted).map(([name, members]) => [name, stepsOf(name, members)]));
  return (bytes) => {
    const opened = openRecord(bytes);
    const { writer, resolver } = opened.reader;
    const { name } = writer;
    const steps = kinds.get(name);
    if (steps === undefined) return null;
    // A past version is rare, so it is decoded as a whole.
    if (resolver !== null) return { name, data: decodeBody(writer.type, opened).value as PartialEvent['data'] };
    return { name, data: walk(name, steps, { buf: opened.buffer, pos: opened.at }) };
  };
}

interface Step {
  readonly name: string;
  readonly nullable: boolean;
  readonly shape: Shape;
  /** Null: skip the member. */
  readonly read: ((tap: Tap) => unknown) | null;
}

/** How to skip a type: a fixed number of bytes, a varint, or a length prefix. */
type Shape = number | 'integer' | 'counted';

function walk(name: string, steps: readonly Step[], tap: Tap): Record<string, unknown> {
  const data: Record<string, unknown> = {};
  const { buf } = tap;
  for (const { nullable, shape, read, name: member } of steps) {
    if (nullable && buf[tap.pos++] === 0) {
      if (read !== null) data[member] = null;
    } else if (read !== null) data[member] = read(tap);
    else if (shape === 'integer') while ((buf[tap.pos++] ?? 0) >= 0x80);
    else {
      const length = shape === 'counted' ? readLength(tap) : shape;
      tap.pos += length;
    }
  }
  if (tap.pos > buf.length) throw new SchemaError('truncated', `${name} of ${buf.length} bytes`);
  return data;
}

/** Decoding stops after the last selected member. */
function stepsOf(name: string, members: readonly string[]): readonly Step[] {
  const writer = writerOf(name);
  if (writer?.kind !== 'event') throw new RangeError(`no event ${name}`);
  const { fields } = JSON.parse(writer.text) as AvroRecord;
  const unknown = members.find((member) => !fields.some((field) => field.name === member));
  if (unknown !== undefined) throw new RangeError(`${name} has no member ${unknown}`);
  const named = new Map<string, AvroSchema>();
  const last = fields.findLastIndex((field) => members.includes(field.name));
  return fields.slice(0, last + 1).map((field): Step => {
    const nullable = Array.isArray(field.type);
    const type = resolved(nullable ? (field.type as readonly AvroSchema[])[1] : field.type, named);
    const isWanted = members.includes(field.name);
    return { name: field.name, nullable, shape: isWanted ? 0 : shapeOf(type), read: isWanted ? readerOf(type) : null };
  });
}

type Plain = Readonly<Record<string, unknown>>;

function resolved(type: AvroSchema | undefined, named: Map<string, AvroSchema>): Plain {
  const found = typeof type === 'string' ? (named.get(type) ?? { type }) : type;
  const plain = found as Plain;
  if (typeof plain.name === 'string') named.set(plain.name, plain);
  return plain;
}

function shapeOf({ type, size }: Plain): Shape {
  if (type === 'fixed' && typeof size === 'number') return size;
  if (type === 'long' || type === 'int') return 'integer';
  if (type === 'string' || type === 'bytes') return 'counted';
  if (type === 'boolean') return 1;
  throw new RangeError(`cannot skip members of type ${String(type)}`);
}

function readerOf(type: Plain): (tap: Tap) => unknown {
  const whole = parseSchema(type) as unknown as WireType;
  if (type.logicalType === 'i64') return (tap) => shortInteger(tap) ?? whole._read(tap);
  // A u64 of 2^63 or more is negative on the wire.
  if (type.logicalType === 'u64') return (tap) => shortInteger(tap, 0) ?? whole._read(tap);
  // The library reads it with a method of its own tap, which this plain one does not have.
  if (type.type === 'boolean') return (tap) => tap.buf[tap.pos++] === 1;
  return (tap) => whole._read(tap);
}

const SHORT_BYTES = 7;

/** A varint of up to seven bytes (49 bits) as a number. Null, without advancing, when it is longer or below `least`. */
function shortInteger(tap: Tap, least = Number.NEGATIVE_INFINITY): number | null {
  const { buf, pos } = tap;
  let value = 0;
  let unit = 1;
  for (let index = 0; index < SHORT_BYTES; index++) {
    const byte = buf[pos + index] ?? 0;
    value += (byte & 0x7f) * unit;
    if (byte < 0x80) {
      const signed = value % 2 === 0 ? value / 2 : -(value + 1) / 2;
      if (signed < least) return null;
      tap.pos = pos + index + 1;
      return signed;
    }
    unit *= 128;
  }
  return null;
}

function readLength(tap: Tap): number {
  const length = shortInteger(tap, 0);
  if (length === null) throw new SchemaError('corrupt', 'a negative or too large length');
  return length;
}
